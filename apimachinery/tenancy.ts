// Names and keys of a tenant's objects in the super cluster. Pure; used by syncer, vn-agent, operator and gateway. They are those
// of the predecessor (VirtualCluster), so that existing objects and tools remain compatible.

import { createHash } from "node:crypto"
import type { KubeObject } from "./object.ts"

export const tenancyGroup = "tenancy.x-k8s.io"
export const tenancyVersion = "v1alpha1"

/** Keys with these prefixes are reserved: tenants can neither set nor see them (the second: see, but not set). */
export const tenancyPrefix = "tenancy.x-k8s.io"
export const transparentPrefix = "transparency.tenancy.x-k8s.io"

const key = (name: string): string => `${tenancyPrefix}/${name}`

// On super objects and super namespaces.
export const clusterAnnotation = key("cluster")
/** Also a label on super pods and namespaces, to which pod affinity is restricted. */
export const clusterLabel = clusterAnnotation
/** The uid of the counterpart, which every write verifies. */
export const uidAnnotation = key("uid")
export const namespaceAnnotation = key("namespace")
/** The tenant's ownerReferences as JSON; for information, since the references themselves would be invalid in super. */
export const ownerReferencesAnnotation = key("ownerReferences")
export const virtualClusterNameKey = key("vcname")
export const virtualClusterNamespaceKey = key("vcnamespace")
/** On a VirtualCluster: the uid of its deleted predecessor of the same name, whose tenant it takes over. */
export const adoptAnnotation = "tenancy.x-k8s.io/adopt"
/** On super namespaces and the root namespace. */
export const virtualClusterUIDAnnotation = key("vcuid")
export const rootNamespaceAnnotation = key("vcrootns")
/** The label and annotation keys that were copied from the tenant and may be removed again (syncer/conversion/metadata.ts). */
export const copiedKeysAnnotation = key("copied-keys")
/** Label "true" on all objects that the syncer creates in super, which its informers select. */
export const controlledLabel = key("controlled")

/** On a super service account: the image pull secrets that are the tenant's. Others there belong to components of super. */
export const pullSecretsAnnotation = key("image-pull-secrets")

/** On a super claim: the size that the tenant has expanded it to. Super's administrator may have expanded it since. */
export const expandedToAnnotation = key("expanded-to")

// Service addresses.
export const clusterIPAnnotation = key("clusterIP")
/**
 * On a super Service that was changed before its tenant's: "VERSION TIME", the resourceVersion of the tenant's Service before the
 * write in progress, and the time.
 */
export const claimedAfterAnnotation = key("claimed-after")
/**
 * "true" on a super Service that has addresses of a load balancer there, or has had: what the tenant's Service shows is super's, until super has
 * taken them back and the tenant's shows none.
 */
export const balancedAnnotation = key("balanced")
/** On a super Service: the types of conditions, separated by commas, that super has or has had, and the tenant's Service may show still. */
export const givenConditionsAnnotation = key("given-conditions")
/** Copied upward to the tenant's Service if its own address is not the reachable one. */
export const transparentClusterIPAnnotation = `${transparentPrefix}/clusterIP`

// Service account tokens of pods: on the Secret in super that contains them.
/** Uid of the tenant pod to which the tokens are bound. */
export const tokenPodUIDAnnotation = key("token.pod-uid")
/** Name of that pod, which would be too long for a label value. */
export const tokenPodNameAnnotation = key("token.pod-name")
/** RFC 3339: when the tokens must be renewed. */
export const tokenRefreshAnnotation = key("token.refresh-at")
/** Of the tokens and that time, as they were issued: whoever changes them in super does not change this. */
export const tokenDigestAnnotation = key("token.digest")

/** The pod's labels (annotations) in downward API files for the tenant. */
export const tenantLabelsAnnotation = key("labels")
export const tenantAnnotationsAnnotation = key("annotations")

/** On a super pod: what super's admission has made of what the tenant asks for (syncer/resources/pod/admitted.ts). */
export const admittedAnnotation = key("admitted")

/** On a super pod: its placement according to the tenant's view of its nodes; missing if that equals super's view. */
export const placementAnnotation = key("placement")
/** Beside it: the names of the scheduling gates that the tenant's pod had. Others are super's. */
export const gatesAnnotation = key("scheduling-gates")

// On objects in the tenant.
export const virtualNodeLabel = key("virtualnode")

/** Published by the syncer as it is in the super cluster, which also decides about its taints. */
export const isVirtualNode = ({ metadata }: KubeObject): boolean => metadata.labels?.[virtualNodeLabel] === "true"

/** On a virtual node: the fields that came from super. All others belong to the tenant (syncer/resources/virtual-node.ts). */
export const publishedAnnotation = key("published")
/** On a claim: super has bound it to its own volume. */
export const boundInSuperAnnotation = key("bound-in-super")
/** Label "true" on a pod from its creation on: never synced. */
export const ignoreSyncLabel = key("ignore-sync")
/** Label "true" on a pod: its DNS fields are not modified. */
export const disableDNSPolicyMutationLabel = key("disable.dnsPolicyMutation")

// On super objects that are visible to all tenants (StorageClass, PriorityClass).
export const publicLabel = key("super.public")

// On VirtualClusters.
export const adminKubeconfigSecret = "admin-kubeconfig"

/** The ConfigMap with a control plane's CA in each namespace. In super this name is in use. */
export const rootCAConfigMap = "kube-root-ca.crt"

/** Adds one prefix, also to names that a tenant has prefixed itself, so that different names remain different. */
export const superConfigMapName = (name: string): string =>
  /^(?:tenant-)*kube-root-ca\.crt$/.test(name) ? `tenant-${name}` : name

export const tenantConfigMapName = (superName: string): string =>
  /^(?:tenant-)+kube-root-ca\.crt$/.test(superName) ? superName.slice("tenant-".length) : superName

/** Bytes in a namespace's name and in a label's value. */
const maxLabelLength = 63
const hashedPrefixLength = 57

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Prefix of all super namespaces of a tenant and name of its root namespace. Not truncated: the CRD limits its parts. */
export function clusterKey(virtualCluster: { namespace: string; name: string; uid: string }): string {
  return `${virtualCluster.namespace}-${sha256(virtualCluster.uid).slice(0, 6)}-${virtualCluster.name}`
}

/**
 * The super namespace of a tenant's namespace, or the super name of another cluster-scoped object. Never parsed: annotations identify the
 * owner.
 *
 * Two long names may be equal: those that agree in 57 bytes are told apart by 20 bits. Names of two tenants hardly do, since these bytes
 * contain 24 bits of the tenant's uid (8 at least, beside a namespace of VirtualClusters with 54 bytes). So it is one tenant that may have
 * two such names, of which the syncer refuses the second with an event. Another name for that would have to be looked up wherever names
 * are computed, also before the namespace exists (addresses of Services) and on nodes (vn-agent).
 */
export function superNamespace(clusterKey: string, namespace: string): string {
  const full = `${clusterKey}-${namespace}`
  if (full.length <= maxLabelLength) return full
  // No part of a name between dots begins with a hyphen.
  return `${full.slice(0, hashedPrefixLength).replace(/\.$/, "-")}-${sha256(full).slice(0, 5)}`
}

/** "tenancy.x-k8s.io", "tenancy.x-k8s.io/uid", "transparency.tenancy.x-k8s.io/clusterIP". */
export function isTenancyKey(key: string): boolean {
  return key.startsWith(tenancyPrefix) || key.startsWith(transparentPrefix)
}
