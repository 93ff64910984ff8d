// What a pod may refer to that the super cluster cannot be asked for: objects that are not copied, whose names would there mean
// nothing, or something of somebody else's. Everything else that pods name is translated (mutators/), copied under its name, or
// the super cluster's to know (nodes, schedulers, drivers): docs/guides/real-super-cluster.md has the table.

import type { Pod, PodSpec } from "../../../apimachinery/object.ts"

/** As of v1.36; what the types do not have is behind feature gates that are off as a server comes. */
type Spec = PodSpec & { schedulingGroup?: object }
type Source = NonNullable<NonNullable<NonNullable<PodSpec["volumes"]>[number]["projected"]>["sources"]>[number] & {
  podCertificate?: object
}

/** undefined: nothing. In words for the tenant: the field, and what to do. */
export function unsupportedInPod({ spec }: Pod): string | undefined {
  const { resourceClaims = [], schedulingGroup, volumes = [] }: Spec = spec ?? { containers: [] }
  if (resourceClaims.length > 0) {
    return "spec.resourceClaims: ResourceClaims are not in the super cluster, which allocates the devices of its nodes; ask for devices as extended resources in a container's resources.limits"
  }
  if (schedulingGroup !== undefined) {
    return "spec.schedulingGroup: groups of pods are not in the super cluster, which schedules each pod by itself; leave it out"
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
