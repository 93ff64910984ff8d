// The names of the tenant's API server resolve in every pod, with or without DNS.

import { withSpec, type PodMutator } from "../context.ts"

const kubernetesNames = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"]

export const hostAliases: PodMutator = {
  name: "hostAliases",
  mutate: (pod, { kubernetes }) =>
    kubernetes === undefined
      ? pod
      : withSpec(pod, (spec) => ({
          ...spec,
          hostAliases: [...(spec.hostAliases ?? []), { ip: kubernetes.clusterIP, hostnames: [...kubernetesNames] }],
        })),
}
