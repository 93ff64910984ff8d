// Fields that the super cluster sets itself: the values that the tenant's admission computed would conflict with its own.

import { withSpec, type PodMutator } from "../context.ts"

export const superFields: PodMutator = (pod, context) =>
  withSpec(pod, (spec) => {
    const {
      // Computed from the classes' names; super computes them again.
      priority: _priority,
      preemptionPolicy: _preemption,
      overhead: _overhead,
      // Deprecated alias of serviceAccountName.
      serviceAccount: _serviceAccount,
      // Can be added only through their subresource, once the pod exists.
      ephemeralContainers: _ephemeral,
      priorityClassName,
      runtimeClassName,
      ...rest
    } = spec
    return {
      ...rest,
      // The tenant's token is mounted by service-account-token.ts, and its service links are set by service-env.ts.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(runtimeClassName === undefined ? {} : { runtimeClassName: context.runtimeClass(runtimeClassName) }),
      ...(priorityClassName !== undefined && context.hasPriorityClass(priorityClassName) ? { priorityClassName } : {}),
    }
  })
