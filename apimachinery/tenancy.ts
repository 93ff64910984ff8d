// How a tenant's things are named and marked in the super cluster. Pure; used by syncer, vn-agent, operator and gateway.
// Names and keys are those of the ancestor (VirtualCluster), so that its objects and tools are understood.

import { createHash } from "node:crypto"

export const tenancyGroup = "tenancy.x-k8s.io"
export const tenancyVersion = "v1alpha1"

/** Keys under these prefixes belong to us: tenants can neither set nor see them (the second: see, but not set). */
export const tenancyPrefix = "tenancy.x-k8s.io"
export const transparentPrefix = "transparency.tenancy.x-k8s.io"

const key = (name: string): string => `${tenancyPrefix}/${name}`

// On super objects and super namespaces.
export const clusterAnnotation = key("cluster")
/** Also a label on super pods and namespaces: what pod affinity is confined by. */
export const clusterLabel = clusterAnnotation
/** The uid of the counterpart: the ownership check of every write. */
export const uidAnnotation = key("uid")
export const namespaceAnnotation = key("namespace")
/** The tenant's ownerReferences as JSON: informative, the references themselves would mean nothing in super. */
export const ownerReferencesAnnotation = key("ownerReferences")
export const virtualClusterNameKey = key("vcname")
export const virtualClusterNamespaceKey = key("vcnamespace")
/** On super namespaces and the root namespace. */
/** On a VirtualCluster: the uid of the one of its name that is gone, whose tenant is to be its own from now on. */
export const adoptAnnotation = "tenancy.x-k8s.io/adopt"
export const virtualClusterUIDAnnotation = key("vcuid")
export const rootNamespaceAnnotation = key("vcrootns")
/** Which label and annotation keys were copied from the tenant: what may be removed again (syncer/conversion/metadata.ts). */
export const copiedKeysAnnotation = key("copied-keys")
/** Label "true" on everything the syncer makes in super: what its informers select. */
export const controlledLabel = key("controlled")

// Service addresses.
export const clusterIPAnnotation = key("clusterIP")
/**
 * On a super Service changed ahead of its tenant's: "VERSION TIME", the resourceVersion that the tenant's Service had before the
 * write under way, and when that was.
 */
export const claimedAfterAnnotation = key("claimed-after")
/** Copied up to the tenant's Service when its own address is not the one that works. */
export const transparentClusterIPAnnotation = `${transparentPrefix}/clusterIP`

// Service-account tokens of pods: on the Secret in super that holds them.
/** Uid of the tenant pod the tokens are bound to. */
export const tokenPodUIDAnnotation = key("token.pod-uid")
/** Name of that pod, also as a label value would be too long. */
export const tokenPodNameAnnotation = key("token.pod-name")
/** RFC 3339: when the tokens are to be issued anew. */
export const tokenRefreshAnnotation = key("token.refresh-at")

/** The pod's labels (annotations) as a downward API file shows them to the tenant. */
export const tenantLabelsAnnotation = key("labels")
export const tenantAnnotationsAnnotation = key("annotations")

/** On a super pod: where it may go as the tenant's own view of its nodes has it; absent when that is super's view. */
export const placementAnnotation = key("placement")

// On objects in the tenant.
export const virtualNodeLabel = key("virtualnode")
/** On a virtual node: what of it came from super. Everything else on it is the tenant's own (syncer/resources/virtual-node.ts). */
export const publishedAnnotation = key("published")
/** On a claim: super has bound it, to a volume of its own. */
export const boundInSuperAnnotation = key("bound-in-super")
/** Label "true" on a pod: never synced. */
export const ignoreSyncLabel = key("ignore-sync")
/** Label "true" on a pod: its DNS fields are left as they are. */
export const disableDNSPolicyMutationLabel = key("disable.dnsPolicyMutation")

// On super objects that every tenant gets to see (StorageClass, PriorityClass).
export const publicLabel = key("super.public")

// On VirtualClusters.
export const adminKubeconfigSecret = "admin-kubeconfig"

/** The ConfigMap with a control plane's CA that each namespace has, and its name in super, where the first is taken. */
export const rootCAConfigMap = "kube-root-ca.crt"
export const superRootCAConfigMap = "tenant-kube-root-ca.crt"

/** Bytes in a namespace's name and in a label's value. */
const maxLabelLength = 63
const hashedPrefixLength = 57

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Prefix of all super namespaces of a tenant and name of its root namespace. Not truncated: the CRD bounds its parts. */
export function clusterKey(virtualCluster: { namespace: string; name: string; uid: string }): string {
  return `${virtualCluster.namespace}-${sha256(virtualCluster.uid).slice(0, 6)}-${virtualCluster.name}`
}

/** The super namespace of a tenant's namespace. Never parsed back: annotations say whose a namespace is. */
export function superNamespace(clusterKey: string, namespace: string): string {
  const full = `${clusterKey}-${namespace}`
  if (full.length <= maxLabelLength) return full
  return `${full.slice(0, hashedPrefixLength)}-${sha256(full).slice(0, 5)}`
}

/** "tenancy.x-k8s.io", "tenancy.x-k8s.io/uid", "transparency.tenancy.x-k8s.io/clusterIP". */
export function isTenancyKey(key: string): boolean {
  return key.startsWith(tenancyPrefix) || key.startsWith(transparentPrefix)
}
