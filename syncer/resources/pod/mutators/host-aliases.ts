// Host aliases that make the names of the tenant's API server, and a pod's own FQDN, resolve in every pod, with or without DNS.
//
// A kubelet writes the FQDN with the pod's address to /etc/hosts, but with the super name of the namespace. If there is a Service for
// the subdomain, the tenant's DNS resolves the name. Otherwise nothing does, and the address is not known before the pod runs, so the
// name is mapped to the unspecified address: it listens on all of the pod's addresses and connects to the pod itself.

import type { Pod, PodSpec } from "../../../../apimachinery/object.ts"
import { withSpec, type PodContext, type PodMutator } from "../context.ts"

type HostAlias = NonNullable<PodSpec["hostAliases"]>[number]

const maxHostnameLength = 63

const kubernetesNames = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"]

export const hostAliases: PodMutator = (pod, context) => {
  const added: HostAlias[] = []
  const { kubernetes } = context
  if (kubernetes !== undefined) added.push({ ip: kubernetes.clusterIP, hostnames: [...kubernetesNames] })
  const ownName = unresolvableName(pod, context)
  const ipv6 = kubernetes?.clusterIP.includes(":") === true
  if (ownName !== undefined) added.push({ ip: ipv6 ? "::" : "0.0.0.0", hostnames: [ownName] })
  if (added.length === 0) return pod
  return withSpec(pod, (spec) => ({ ...spec, hostAliases: [...(spec.hostAliases ?? []), ...added] }))
}

/** The pod's FQDN, if it has one that no DNS server resolves. A hostname that overrides all others is in no domain. */
function unresolvableName({ metadata, spec }: Pod, context: PodContext): string | undefined {
  const { subdomain = "", hostname = metadata.name ?? "", hostNetwork, hostnameOverride } = spec ?? ({} as PodSpec)
  const { namespace, tenant } = context
  if (subdomain === "" || hostNetwork === true || hostnameOverride !== undefined) return undefined
  if (tenant.clusterDomain === "" || context.hasService(subdomain)) return undefined
  return `${truncated(hostname)}.${subdomain}.${namespace}.svc.${tenant.clusterDomain}`
}

/** The part of a long name that a kubelet uses as hostname. */
function truncated(hostname: string): string {
  if (hostname.length <= maxHostnameLength) return hostname
  let end = maxHostnameLength
  while (end > 0 && "-.".includes(hostname.charAt(end - 1))) end--
  return hostname.slice(0, end)
}
