// Converts labels and annotations between a tenant's object and its super copy. Pure.
//
// Downward, the tenant's keys are copied (including those of kubernetes.io, since selectors would not match otherwise:
// docs/decisions/0005-labels-are-copied.md) and our keys are added. The copied keys are recorded, so that a key removed in the
// tenant is removed in super, while keys that others added there (CNI, webhooks, provisioners) remain. Upward, only keys with the
// transparent prefixes are copied.

import { ownValue } from "../../apimachinery/schema/json-object.ts"
import type { KubeObject, ObjectMeta } from "../../apimachinery/object.ts"
import {
  clusterAnnotation,
  clusterLabel,
  controlledLabel,
  copiedKeysAnnotation,
  isTenancyKey,
  namespaceAnnotation,
  ownerReferencesAnnotation,
  transparentPrefix,
  uidAnnotation,
  virtualClusterNameKey,
  virtualClusterNamespaceKey,
  virtualClusterUIDAnnotation,
} from "../../apimachinery/tenancy.ts"
import type { Tenant } from "../../client/tenants.ts"

type Keys = Record<string, string>

/** Annotations that describe the cluster they are written in: they have no meaning, or a different one, in the other cluster. */
const localAnnotationPrefixes = [
  "pv.kubernetes.io/",
  "volume.kubernetes.io/",
  "volume.beta.kubernetes.io/storage-provisioner",
  "kubectl.kubernetes.io/last-applied",
  // A kubelet's own, of static pods: it deletes a pod that claims to mirror one, and the syncer would create it again without an end.
  "kubernetes.io/config.",
  // The Secrets that the account's pods may use, which the tenant's admission has checked. The copy does not list them.
  "kubernetes.io/enforce-mountable-secrets",
]

/**
 * Labels of namespaces that are not copied: the name is set by the server, and the tenant must not choose the pod security level
 * in super.
 */
const localNamespaceLabelPrefixes = ["kubernetes.io/metadata.name", "pod-security.kubernetes.io/"]

const startsWithAny = (key: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => key.startsWith(prefix))

/** Keys that the tenant can neither set nor remove in super. */
function isOpaque(key: string, tenant: Tenant): boolean {
  return isTenancyKey(key) || startsWithAny(key, tenant.opaqueMetaPrefixes)
}

function isTransparent(key: string, tenant: Tenant): boolean {
  return key.startsWith(transparentPrefix) || startsWithAny(key, tenant.transparentMetaPrefixes)
}

/** Whether the copies have the tenant's labels of that key, too. */
export function isCopiedLabel(kind: string, key: string, tenant: Tenant): boolean {
  return Object.hasOwn(copied({ [key]: "" }, tenant, localLabels(kind)), key)
}

const localLabels = (kind: string): readonly string[] => (kind === "Namespace" ? localNamespaceLabelPrefixes : [])

function copied(keys: Keys | undefined, tenant: Tenant, local: readonly string[]): Keys {
  const result: Keys = {}
  for (const key in keys) {
    if (isOpaque(key, tenant) || startsWithAny(key, tenant.transparentMetaPrefixes) || startsWithAny(key, local))
      continue
    result[key] = keys[key] as string
  }
  return result
}

interface DesiredKeys {
  labels: Keys
  annotations: Keys
}

/** The labels and annotations that the super copy must have. `kind` is a parameter because items of lists lack it. */
export function superKeys(kind: string, object: KubeObject, tenant: Tenant): DesiredKeys {
  const { metadata } = object
  const { virtualCluster } = tenant
  const isNamespace = kind === "Namespace"
  const labels = copied(metadata.labels, tenant, localLabels(kind))
  // On a namespace they are policies: for the nodes and tolerations of its pods, or for their users.
  const annotations = isNamespace ? {} : copied(metadata.annotations, tenant, localAnnotationPrefixes)
  annotations[copiedKeysAnnotation] = printCopiedKeys(labels, annotations)
  labels[controlledLabel] = "true"
  annotations[clusterAnnotation] = tenant.clusterKey
  annotations[uidAnnotation] = metadata.uid ?? ""
  annotations[namespaceAnnotation] = metadata.namespace ?? metadata.name ?? ""
  annotations[virtualClusterNameKey] = virtualCluster.name
  annotations[virtualClusterNamespaceKey] = virtualCluster.namespace
  // Cluster-scoped objects are not deleted with a namespace, so the patrol checks whether their VirtualCluster still exists.
  if (metadata.namespace === undefined) annotations[virtualClusterUIDAnnotation] = virtualCluster.uid
  if (isNamespace) {
    labels[clusterLabel] = tenant.clusterKey
  } else {
    labels[virtualClusterNameKey] = virtualCluster.name
    labels[virtualClusterNamespaceKey] = virtualCluster.namespace
    annotations[ownerReferencesAnnotation] = JSON.stringify(metadata.ownerReferences ?? null)
  }
  if (kind === "Pod") labels[clusterLabel] = tenant.clusterKey
  return { labels, annotations }
}

/** metadata of a new super copy, without all fields that the server owns, and without owner references and finalizers. */
export function superMetadata(
  kind: string,
  object: KubeObject,
  tenant: Tenant,
  place: { namespace: string | undefined; name: string },
): ObjectMeta {
  return {
    name: place.name,
    ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
    ...superKeys(kind, object, tenant),
  }
}

interface MetadataPatch {
  labels?: Record<string, string | null>
  annotations?: Record<string, string | null>
}

/** The change of the super copy's metadata; undefined if there is none. `extra`: additional annotations of the kind. */
export function metadataChange(
  kind: string,
  object: KubeObject,
  superObject: KubeObject,
  tenant: Tenant,
  extra: Keys = {},
): MetadataPatch | undefined {
  const desired = superKeys(kind, object, tenant)
  const before = parseCopiedKeys(superObject.metadata.annotations?.[copiedKeysAnnotation])
  const labels = keysChange(desired.labels, superObject.metadata.labels, before.labels)
  const annotations = keysChange(
    { ...desired.annotations, ...extra },
    superObject.metadata.annotations,
    before.annotations,
  )
  if (labels === undefined && annotations === undefined) return undefined
  return { ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) }
}

/** Keys with the transparent prefixes that super has and the tenant lacks. Removals are not propagated. */
export function transparentChange(
  object: KubeObject,
  superObject: KubeObject,
  tenant: Tenant,
): MetadataPatch | undefined {
  const pick = (from: Keys | undefined, to: Keys | undefined): Keys | undefined => {
    let missing: Keys | undefined
    for (const key in from) {
      if (!isTransparent(key, tenant) || from[key] === to?.[key]) continue
      missing ??= {}
      missing[key] = from[key] as string
    }
    return missing
  }
  const labels = pick(superObject.metadata.labels, object.metadata.labels)
  const annotations = pick(superObject.metadata.annotations, object.metadata.annotations)
  if (labels === undefined && annotations === undefined) return undefined
  return { ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) }
}

function keysChange(
  desired: Keys,
  present: Keys | undefined,
  before: readonly string[],
): Record<string, string | null> | undefined {
  let change: Record<string, string | null> | undefined
  for (const key in desired) {
    if (present?.[key] === desired[key]) continue
    change ??= {}
    change[key] = desired[key] as string
  }
  for (const key of before) {
    if (ownValue(desired, key) !== undefined || ownValue(present, key) === undefined) continue
    change ??= {}
    change[key] = null
  }
  return change
}

/** "labels;annotations", each comma-separated: keys cannot contain either character. */
function printCopiedKeys(labels: Keys, annotations: Keys): string {
  return `${Object.keys(labels).sort().join(",")};${Object.keys(annotations).sort().join(",")}`
}

/** Our own keys are never removed this way, whatever the annotation contains. */
function parseCopiedKeys(text: string | undefined): { labels: string[]; annotations: string[] } {
  const [labels = "", annotations = ""] = (text ?? "").split(";")
  const keys = (part: string): string[] => (part === "" ? [] : part.split(",").filter((key) => !isTenancyKey(key)))
  return { labels: keys(labels), annotations: keys(annotations) }
}
