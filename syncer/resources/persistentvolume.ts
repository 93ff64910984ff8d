// Publishes volumes bound to a tenant's claims to that tenant, with a reference to its own claim. Super owns them entirely: nobody mounts
// a volume by what a tenant sees of it, so texts in it that provisioners have made of super's namespaces (paths, attributes of CSI) are
// told like other texts from super. Objects of others are not named (volume-source.ts).

import type { PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { namespaceAnnotation, uidAnnotation } from "../../apimachinery/tenancy.ts"
import { scrubMessages, scrubTexts, type ScrubNames } from "../../apimachinery/tenant-texts.ts"
import { namespaces, persistentVolumeClaims, persistentVolumes } from "../../client/resources.ts"
import { equalIgnoringNulls, equalJson } from "../../apimachinery/equality.ts"
import { mergeDiff } from "../conversion/equality.ts"
import { isOfAnother, recordedOwner } from "../conversion/ownership.ts"
import type { Patch, Publication, SyncContext } from "./resource-sync.ts"
import { isToldOtherwise, toldSource, type VolumeSpec } from "./volume-source.ts"

export const persistentVolume: Publication<PersistentVolume> = {
  resource: persistentVolumes,
  clusterKey(superObject, findNamespace) {
    const claimed = findNamespace(superObject.spec?.claimRef?.namespace ?? "")
    return claimed === undefined ? undefined : recordedOwner(claimed)?.clusterKey
  },
  toTenant(superObject, context) {
    const { tenant, view } = context
    const claimRef = superObject.spec?.claimRef
    if (claimRef === undefined) return undefined
    const superClaim = view.superObject<PersistentVolumeClaim>(
      persistentVolumeClaims,
      claimRef.namespace,
      claimRef.name ?? "",
    )
    const namespace =
      superClaim?.metadata.annotations?.[namespaceAnnotation] ?? ownNamespace(claimRef.namespace ?? "", context)
    const claim = view.tenantObject<PersistentVolumeClaim>(persistentVolumeClaims, namespace, claimRef.name ?? "")
    // A volume outlives its claim (Released) and keeps its reference.
    if (namespace === undefined || (claim === undefined && superClaim !== undefined)) return undefined
    const uid = claimantOf(claimRef, superClaim) ?? claim?.metadata.uid
    const reference = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      namespace,
      ...(claimRef.name === undefined ? {} : { name: claimRef.name }),
      ...(uid === undefined ? {} : { uid }),
    }
    const names: ScrubNames = { tenant, namespace, superNamespace: claimRef.namespace ?? "" }
    const source = toldSource(superObject.spec ?? {}, (superNamespace) => ownNamespace(superNamespace, context))
    const spec = scrubTexts(source, names)
    const labels = withoutNames(superObject.metadata.labels, tenant.clusterKey)
    return {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: {
        name: superObject.metadata.name ?? "",
        ...(labels === undefined ? {} : { labels }),
        annotations: { [uidAnnotation]: superObject.metadata.uid ?? "" },
      },
      spec: { ...spec, claimRef: reference },
      ...(superObject.status === undefined ? {} : { status: scrubMessages(superObject.status, names) }),
    }
  },
  isPublished: (object) => object.metadata.annotations?.[uidAnnotation] !== undefined,
  // Another volume has its name in super, or an earlier version has told more of it.
  outdated: (desired, object, { tenant }) =>
    isOfAnother(desired, object) ||
    !equalJson(object.metadata.labels, withoutNames(object.metadata.labels, tenant.clusterKey)) ||
    isToldOtherwise(sourceOf(object), sourceOf(desired)),
  changed(desired, object) {
    const patches: Patch[] = []
    const { uid, ...claimRef } = desired.spec?.claimRef ?? {}
    const { resourceVersion: _version, uid: _uid, ...currentRef } = object.spec?.claimRef ?? {}
    // A volume's source never changes, and nothing could change it.
    const mutable = Object.entries(desired.spec ?? {}).filter(([name]) => isMutable(name))
    const wanted = { ...sourceOf(object), ...Object.fromEntries(mutable), claimRef }
    const current = { ...object.spec, claimRef: currentRef }
    if (!equalIgnoringNulls(wanted, current) || (uid !== undefined && uid !== object.spec?.claimRef?.uid)) {
      const full = { ...wanted, claimRef: { ...claimRef, ...(uid === undefined ? {} : { uid }) } }
      patches.push({ patch: { spec: mergeDiff(object.spec, full) } })
    }
    const status = mergeDiff(object.status ?? {}, desired.status ?? {})
    if (status !== undefined) patches.push({ patch: { status }, subresource: "status" })
    return patches
  },
}

/** Fields of the spec besides the source. */
const mutableFields: ReadonlySet<string> = new Set([
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode",
])
const isMutable = (name: string): boolean => mutableFields.has(name)

function sourceOf({ spec = {} }: PersistentVolume): VolumeSpec {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !isMutable(name)))
}

/**
 * The uid of the claim that a volume belongs to: the tenant's that has this copy, which may be an earlier one while the copy ends. If it has
 * ended, super's: the next claim of that name would get a volume with other data, or none, as its controllers bind it to one that
 * names it. Undefined: any claim's of that name.
 */
function claimantOf({ uid }: { uid?: string }, superClaim: PersistentVolumeClaim | undefined): string | undefined {
  if (superClaim === undefined || (uid !== undefined && uid !== superClaim.metadata.uid)) return uid
  return recordedOwner(superClaim)?.uid ?? uid
}

/** The tenant's name of a namespace of super; undefined if that is of somebody else. */
function ownNamespace(superNamespace: string, { tenant, view }: SyncContext): string | undefined {
  const found = view.superObject(namespaces, undefined, superNamespace)
  const owner = found === undefined ? undefined : recordedOwner(found)
  return owner?.clusterKey === tenant.clusterKey ? owner.namespace : undefined
}

/** Without labels of super's names: what is left of one might be no valid label. */
function withoutNames(labels: Record<string, string> | undefined, clusterKey: string): typeof labels {
  return labels && Object.fromEntries(Object.entries(labels).filter((label) => !label.join().includes(clusterKey)))
}
