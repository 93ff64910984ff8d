// The names of the tenant's API server resolve in every pod, with or without DNS; and so does a pod's own full name.
//
// A kubelet writes that one into /etc/hosts with the pod's address, but under super's name of the namespace. With a Service for
// the subdomain the tenant's DNS has it. Without one nobody has, and the address is not known before the pod runs: the name then
// stands for the pod itself, the unspecified address, which means all of its own when listened on and itself when connected to.

import type { Pod, PodSpec } from "../../../../apimachinery/object.ts"
import { withSpec, type PodContext, type PodMutator } from "../context.ts"

type HostAlias = NonNullable<PodSpec["hostAliases"]>[number]

const kubernetesNames = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"]

export const hostAliases: PodMutator = {
  name: "hostAliases",
  mutate: (pod, context) => {
    const added: HostAlias[] = []
    const { kubernetes } = context
    if (kubernetes !== undefined) added.push({ ip: kubernetes.clusterIP, hostnames: [...kubernetesNames] })
    const ownName = nobodysName(pod, context)
    const ipv6 = kubernetes?.clusterIP.includes(":") === true
    if (ownName !== undefined) added.push({ ip: ipv6 ? "::" : "0.0.0.0", hostnames: [ownName] })
    if (added.length === 0) return pod
    return withSpec(pod, (spec) => ({ ...spec, hostAliases: [...(spec.hostAliases ?? []), ...added] }))
  },
}

/** The pod's full name, where it has one that no DNS knows. */
function nobodysName({ metadata, spec }: Pod, context: PodContext): string | undefined {
  const { subdomain = "", hostname = metadata.name ?? "", hostNetwork } = spec ?? {}
  const { namespace, tenant } = context
  if (subdomain === "" || hostNetwork === true || tenant.clusterDomain === "") return undefined
  if (context.hasService(subdomain)) return undefined
  return `${hostname}.${subdomain}.${namespace}.svc.${tenant.clusterDomain}`
}
