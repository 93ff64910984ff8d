// References in a pod that the super cluster cannot resolve: to objects that are not copied, whose names mean nothing there or
// name another object. All other names in pods are translated (mutators/), copied unchanged, or belong to the super cluster (nodes,
// schedulers, drivers): docs/guides/real-super-cluster.md has the table.

import type { Pod, PodSpec } from "../../../apimachinery/object.ts"
import { tokenSources } from "./mutators/service-account-token.ts"

/** They are in one Secret, of which a server accepts 1 MiB, and each is issued and renewed on its own. */
const maxTokens = 256

/** As of v1.36; fields that the types lack are behind feature gates that are off by default. */
type Spec = PodSpec & { schedulingGroup?: object }
type Source = NonNullable<NonNullable<NonNullable<PodSpec["volumes"]>[number]["projected"]>["sources"]>[number] & {
  podCertificate?: object
}

/** The message for the tenant, with the field and what to do; undefined if the pod is supported. */
export function unsupportedInPod(pod: Pod): string | undefined {
  const { spec } = pod
  const { resourceClaims = [], schedulingGroup, volumes = [] }: Spec = spec ?? { containers: [] }
  if (resourceClaims.length > 0) {
    return "spec.resourceClaims: ResourceClaims are not in the super cluster, which allocates the devices of its nodes; ask for devices as extended resources in a container's resources.limits"
  }
  if (schedulingGroup !== undefined) {
    return "spec.schedulingGroup: groups of pods are not in the super cluster, which schedules each pod by itself; leave it out"
  }
  if (tokenSources(pod).length > maxTokens) {
    return `spec.volumes: more than ${maxTokens} projected service account tokens do not fit into a Secret of the super cluster; leave some out`
  }
  for (const [index, { projected }] of volumes.entries()) {
    for (const [at, source] of (projected?.sources ?? []).entries()) {
      const message = unsupportedSource(source)
      if (message !== undefined) return `spec.volumes[${index}].projected.sources[${at}].${message}`
    }
  }
  return undefined
}

function unsupportedSource({ clusterTrustBundle, podCertificate }: Source): string | undefined {
  if (clusterTrustBundle !== undefined) {
    return "clusterTrustBundle: the super cluster would give one of its own bundles; keep the certificates in a ConfigMap"
  }
  if (podCertificate !== undefined) {
    return "podCertificate: the super cluster would sign for a pod of its own; request a certificate by a CertificateSigningRequest, and keep it in a Secret"
  }
  return undefined
}
