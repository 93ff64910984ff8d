// DNS: pods use their tenant's kube-dns. Without one they use the node's resolver, because super's DNS would resolve services of
// other namespaces of the super cluster.

import type { PodSpec } from "../../../../apimachinery/object.ts"
import { disableDNSPolicyMutationLabel } from "../../../../apimachinery/tenancy.ts"
import { withSpec, type PodContext, type PodMutator } from "../context.ts"

type DNSConfig = NonNullable<PodSpec["dnsConfig"]>

/** What an API server accepts in a dnsConfig. */
const maxNameServers = 3
const maxSearches = 32
const maxSearchCharacters = 2048

export const dns: PodMutator = (pod, context) => {
  if (pod.metadata.labels?.[disableDNSPolicyMutationLabel] === "true") return pod
  return withSpec(pod, (spec) => {
    const policy = spec.dnsPolicy ?? "ClusterFirst"
    if (policy === "None" || policy === "Default") return spec
    if (policy === "ClusterFirst" && spec.hostNetwork === true) return spec
    const { nameServer } = context
    if (nameServer === undefined) return { ...spec, dnsPolicy: "Default" }
    return { ...spec, dnsPolicy: "None", dnsConfig: tenantDNS(nameServer, context, spec.dnsConfig) }
  })
}

/**
 * The tenant's servers, searches and options, followed by the pod's own; an option of the pod replaces ours of the same name. The
 * last ones are left out if there are too many, as a kubelet does when it adds the cluster's to the pod's own.
 */
function tenantDNS(nameServer: string, { tenant, namespace, dnsOptions }: PodContext, own?: DNSConfig): DNSConfig {
  const domain = tenant.clusterDomain
  const searches = domain === "" ? [] : [`${namespace}.svc.${domain}`, `svc.${domain}`, domain]
  const options = new Map(dnsOptions.map((option) => [option.name, { ...option }]))
  for (const option of own?.options ?? []) {
    if (option.name !== undefined) options.set(option.name, { ...option, name: option.name })
  }
  return {
    nameservers: unique([nameServer, ...(own?.nameservers ?? [])]).slice(0, maxNameServers),
    searches: fitting(unique([...searches, ...(own?.searches ?? [])])),
    options: [...options.values()],
  }
}

/** The first searches that fit into one line. */
function fitting(searches: readonly string[]): string[] {
  const kept = searches.slice(0, maxSearches)
  while (kept.join(" ").length > maxSearchCharacters) kept.pop()
  return kept
}

const unique = (items: readonly string[]): string[] => [...new Set(items)]
