// Fields that the super cluster decides by itself: what the tenant's admission resolved would contradict its own.

import { withSpec, type PodMutator } from "../context.ts"

export const superFields: PodMutator = {
  name: "superFields",
  mutate: (pod, context) =>
    withSpec(pod, (spec) => {
      const {
        // Resolved from the classes' names, which super does again.
        priority: _priority,
        preemptionPolicy: _preemption,
        overhead: _overhead,
        // The old name of serviceAccountName.
        serviceAccount: _serviceAccount,
        // Only through their subresource, once the pod exists.
        ephemeralContainers: _ephemeral,
        priorityClassName,
        runtimeClassName,
        ...rest
      } = spec
      return {
        ...rest,
        // The tenant's token is mounted (service-account-token.ts), and its links are set as env (service-env.ts).
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        ...(runtimeClassName === undefined ? {} : { runtimeClassName: context.runtimeClass(runtimeClassName) }),
        ...(priorityClassName !== undefined && context.hasPriorityClass(priorityClassName)
          ? { priorityClassName }
          : {}),
      }
    }),
}
