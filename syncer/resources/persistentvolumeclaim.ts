// Claims. They are bound in super, where the storage is; the tenant's claim gets the name of the volume, as from a binder. A claim that
// the tenant's own binder (controllers/volume-binding/) has bound to a volume that the tenant created is not copied.

import { classOf } from "../../apimachinery/core/storage-classes.ts"
import { bindCompleted, boundByController, isBindingDone } from "../../apimachinery/core/claim-binding.ts"
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../apimachinery/object.ts"
import {
  boundInSuperAnnotation,
  expandedToAnnotation,
  superNamespace,
  uidAnnotation,
} from "../../apimachinery/tenancy.ts"
import { persistentVolumeClaims, persistentVolumes, storageClasses } from "../../client/resources.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { compareQuantities, parseQuantity } from "../../apimachinery/quantity.ts"
import { mergeDiff } from "../conversion/equality.ts"
import { scrubMessages } from "../../apimachinery/tenant-texts.ts"
import type { ResourceSync, SyncContext, TenantStep } from "./resource-sync.ts"
import { storageClass } from "./storageclass.ts"

/** Both sides remove it when no pod uses the claim. */
const inUseFinalizer = "kubernetes.io/pvc-protection"

export const persistentVolumeClaim: ResourceSync<PersistentVolumeClaim> = {
  resource: persistentVolumeClaims,
  kind: "PersistentVolumeClaim",
  synced: (object, context) => !isBoundInTenant(object, context),
  toSuper: (object) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {},
    spec: { ...object.spec },
  }),
  changed(object, superObject) {
    const storage = newRequest(object, superObject)
    // All other fields are immutable. A volume bound in super stays bound even if the tenant has not seen that yet.
    return storage === undefined ? [] : [{ patch: { spec: { resources: { requests: { storage } } } } }]
  },
  annotations(object, _context, superObject) {
    const storage = superObject && newRequest(object, superObject)
    return storage === undefined ? {} : { [expandedToAnnotation]: storage }
  },
  unsupported,
  // Super has got a class of that name, or offers it no more, while the claim waits. Nothing is stored yet.
  outdated: (object, _superObject, context) =>
    !isBoundInSuper(object, context) && unsupportedClass(object, context) !== undefined,
  missing: (object, context) => ({ kind: namesTenantVolume(object, context) ? "nothing" : "create" }),
  // It may have got a volume, and the copy been deleted in super, of which the tenant knows and the caches do not yet: another one would be made.
  isReadAnew: ({ spec }) => (spec?.volumeName ?? "") === "",
  // Otherwise super would schedule more pods that use the claim. Any other finalizer in the tenant means that the data is still wanted.
  follows: ({ metadata }) => (metadata.finalizers ?? []).every((finalizer) => finalizer === inUseFinalizer),
  toTenant(object, superObject, { tenant }) {
    const steps: TenantStep[] = []
    const volumeName = superObject.spec?.volumeName ?? ""
    const current = object.spec?.volumeName ?? ""
    // The tenant named the volume, or the binding was copied before claims were marked.
    const isUnmarked = isBindingDone(superObject) && !(isBindingDone(object) && isOfSuper(object))
    if (volumeName !== "" && (current === "" || (current === volumeName && isUnmarked))) {
      const annotations = { [bindCompleted]: "yes", [boundInSuperAnnotation]: "yes" }
      steps.push({ patch: { metadata: { annotations }, spec: { volumeName } } })
    }
    const storageClassName = superObject.spec?.storageClassName
    if (object.spec?.storageClassName === undefined && storageClassName !== undefined) {
      steps.push({ patch: { spec: { storageClassName } } })
    }
    const namespace = object.metadata.namespace ?? ""
    const names = { tenant, namespace, superNamespace: superNamespace(tenant.clusterKey, namespace) }
    const wanted = scrubMessages(superObject.status ?? {}, names)
    if (!equalIgnoringNulls(object.status ?? {}, wanted)) {
      steps.push({ patch: { status: mergeDiff(object.status ?? {}, wanted) }, subresource: "status" })
    }
    return steps
  },
}

/**
 * The size that the copy is to request instead of its present one: more, or less as long as that is more than it has got, after an expansion of
 * the tenant's that fails. Super's administrator may have expanded it, too. Source: ValidatePersistentVolumeClaimUpdate.
 */
function newRequest(
  object: PersistentVolumeClaim,
  { metadata, spec, status }: PersistentVolumeClaim,
): string | undefined {
  const wanted = object.spec?.resources?.requests?.["storage"]
  const present = spec?.resources?.requests?.["storage"]
  if (wanted === undefined) return undefined
  const expandedTo = metadata.annotations?.[expandedToAnnotation]
  const mayShrink =
    expandedTo !== undefined && compare(expandedTo, present) === 0 && compare(wanted, status?.capacity?.["storage"]) > 0
  const change = compare(wanted, present)
  return change > 0 || (change < 0 && mayShrink) ? wanted : undefined
}

const compare = (size: string, other = "0"): number => compareQuantities(parseQuantity(size), parseQuantity(other))

const isOfSuper = ({ metadata }: PersistentVolumeClaim): boolean =>
  metadata.annotations?.[boundInSuperAnnotation] !== undefined

/** The tenant created this volume: its own binder will bind it, and a super volume of the same name is a different one. */
function namesTenantVolume({ spec }: PersistentVolumeClaim, { view }: SyncContext): boolean {
  const volume = view.tenantObject<PersistentVolume>(persistentVolumes, undefined, spec?.volumeName ?? "")
  return volume !== undefined && volume.metadata.annotations?.[uidAnnotation] === undefined
}

/** References to objects that are not copied or that super does not share. */
function unsupported(claim: PersistentVolumeClaim, context: SyncContext): string | undefined {
  // The only one of these references that may change later.
  if ((claim.spec?.volumeAttributesClassName ?? "") !== "") {
    return "spec.volumeAttributesClassName: VolumeAttributesClasses are not in the super cluster; leave it out"
  }
  return isBoundInSuper(claim, context) ? undefined : (unsupportedSource(claim) ?? unsupportedClass(claim, context))
}

/** As super's own objects say: the tenant may write what marks a bound claim itself. */
function isBoundInSuper({ metadata, spec }: PersistentVolumeClaim, { tenant, view }: SyncContext): boolean {
  const { namespace = "", name = "" } = metadata
  const home = superNamespace(tenant.clusterKey, namespace)
  const copy = view.superObject<PersistentVolumeClaim>(persistentVolumeClaims, home, name)
  if (copy !== undefined && isBindingDone(copy)) return true
  const volume = view.superObject<PersistentVolume>(persistentVolumes, undefined, spec?.volumeName ?? "")
  const { claimRef } = volume?.spec ?? {}
  return claimRef?.namespace === home && claimRef.name === name
}

function unsupportedSource({ spec }: PersistentVolumeClaim): string | undefined {
  const { dataSource, dataSourceRef } = spec ?? {}
  if ((dataSourceRef?.namespace ?? "") !== "") {
    return "spec.dataSourceRef.namespace: only what is in the claim's own namespace can be its source; leave it out"
  }
  const source = dataSourceRef ?? dataSource
  if (source === undefined || ((source.apiGroup ?? "") === "" && source.kind === "PersistentVolumeClaim"))
    return undefined
  const field = dataSource === undefined ? "dataSourceRef" : "dataSource"
  return `spec.${field}: a ${source.kind} is not in the super cluster, which fills the volume; name a PersistentVolumeClaim, or none`
}

/** Super may have classes that are hidden from tenants; knowing a name is not sufficient to use one. */
function unsupportedClass(claim: PersistentVolumeClaim, context: SyncContext): string | undefined {
  const name = classOf(claim)
  const inSuper = context.view.superObject<StorageClass>(storageClasses, undefined, name)
  if (inSuper === undefined || storageClass.toTenant(inSuper, context) !== undefined) return undefined
  return `spec.storageClassName: "${name}" is not a class that the super cluster offers to tenants; name one that it does, or none`
}

/** Bound by the tenant's own binder, even if the volume has changed since. */
export function isBoundInTenant(claim: PersistentVolumeClaim, { tenant, view }: SyncContext): boolean {
  const { namespace = "", name = "", uid, annotations } = claim.metadata
  if (annotations?.[boundByController] !== undefined) return true
  if (!isBindingDone(claim) || isOfSuper(claim)) return false
  const volume = view.tenantObject<PersistentVolume>(persistentVolumes, undefined, claim.spec?.volumeName ?? "")
  if (volume?.metadata.annotations?.[uidAnnotation] !== undefined) return false
  if (volume?.spec?.claimRef?.uid === uid) return true
  // Super bound the claim before claims were marked: a missing volume is no reason to delete the stored data.
  const copy = view.superObject<PersistentVolumeClaim>(
    persistentVolumeClaims,
    superNamespace(tenant.clusterKey, namespace),
    name,
  )
  return copy === undefined || !isBindingDone(copy)
}
