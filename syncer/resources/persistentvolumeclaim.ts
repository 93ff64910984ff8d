// Claims: bound in super, where the storage is. The tenant's claim is told which volume it got, as a binder would. One that the
// tenant's own binder (controllers/volume-binding/) has bound to a volume the tenant made is none of super's.

import { bindCompleted, boundByController, isBindingDone } from "../../apimachinery/claim-binding.ts"
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../apimachinery/object.ts"
import { boundInSuperAnnotation, superNamespace, uidAnnotation } from "../../apimachinery/tenancy.ts"
import { persistentVolumeClaims, persistentVolumes, storageClasses } from "../../client/resources.ts"
import { equalButNulls } from "../../apimachinery/equality.ts"
import { mergeDiff } from "../conversion/equality.ts"
import { scrubMessages } from "../conversion/scrub.ts"
import type { ResourceSync, SyncContext, TenantStep } from "./resource-sync.ts"
import { storageClass } from "./storageclass.ts"

/** Both sides take it off when no pod uses the claim. */
const inUseFinalizer = "kubernetes.io/pvc-protection"

/** Goes before the field, for claims that are as old as it. */
const olderClassAnnotation = "volume.beta.kubernetes.io/storage-class"

export const persistentVolumeClaim: ResourceSync<PersistentVolumeClaim> = {
  resource: persistentVolumeClaims,
  kind: "PersistentVolumeClaim",
  synced: (object, context) => !isBoundInTenant(object, context),
  toSuper: (object) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {},
    spec: { ...object.spec } as NonNullable<PersistentVolumeClaim["spec"]>,
  }),
  changed(object, superObject) {
    const requests = object.spec?.resources?.requests
    const wanted = requests?.["storage"]
    const current = superObject.spec?.resources?.requests?.["storage"]
    // Everything else of a claim is immutable. A volume bound in super is not unbound by a tenant that does not know yet.
    return wanted === undefined || wanted === current
      ? []
      : [{ patch: { spec: { resources: { requests: { storage: wanted } } } } }]
  },
  unsupported,
  missing: (object, context) => ({ kind: namesOwnVolume(object, context) ? "nothing" : "create" }),
  // Otherwise super would schedule further pods that use it. Whoever else keeps it in the tenant still wants what is stored.
  follows: ({ metadata }) => (metadata.finalizers ?? []).every((finalizer) => finalizer === inUseFinalizer),
  toTenant(object, superObject, { tenant }) {
    const steps: TenantStep[] = []
    const volumeName = superObject.spec?.volumeName ?? ""
    const current = object.spec?.volumeName ?? ""
    // Named by the tenant, or told before claims were marked.
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
    if (!equalButNulls(object.status ?? {}, wanted)) {
      steps.push({ patch: { status: mergeDiff(object.status ?? {}, wanted) }, subresource: "status" })
    }
    return steps
  },
}

const isOfSuper = ({ metadata }: PersistentVolumeClaim): boolean =>
  metadata.annotations?.[boundInSuperAnnotation] !== undefined

/** A volume that the tenant made: its own binder is about to bind it, and a volume of that name in super is another one. */
function namesOwnVolume({ spec }: PersistentVolumeClaim, { view }: SyncContext): boolean {
  const volume = view.tenantObject<PersistentVolume>(persistentVolumes, undefined, spec?.volumeName ?? "")
  return volume !== undefined && volume.metadata.annotations?.[uidAnnotation] === undefined
}

/** Its references to what is not copied, and to what super keeps for itself. */
function unsupported(claim: PersistentVolumeClaim, context: SyncContext): string | undefined {
  // The one of them that may change later.
  if ((claim.spec?.volumeAttributesClassName ?? "") !== "") {
    return "spec.volumeAttributesClassName: VolumeAttributesClasses are not in the super cluster; leave it out"
  }
  return isBindingDone(claim) ? undefined : (unsupportedSource(claim) ?? unsupportedClass(claim, context))
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

/** Super may have classes that tenants do not see: by its name alone nobody gets one. */
function unsupportedClass({ metadata, spec }: PersistentVolumeClaim, context: SyncContext): string | undefined {
  const name = metadata.annotations?.[olderClassAnnotation] ?? spec?.storageClassName ?? ""
  const inSuper = context.view.superObject<StorageClass>(storageClasses, undefined, name)
  if (inSuper === undefined || storageClass.toTenant(inSuper, context) !== undefined) return undefined
  return `spec.storageClassName: "${name}" is not a class that the super cluster offers to tenants; name one that it does, or none`
}

/** By its own binder, whatever has become of the volume since. */
export function isBoundInTenant(claim: PersistentVolumeClaim, { tenant, view }: SyncContext): boolean {
  const { namespace = "", name = "", uid, annotations } = claim.metadata
  if (annotations?.[boundByController] !== undefined) return true
  if (!isBindingDone(claim) || isOfSuper(claim)) return false
  const volume = view.tenantObject<PersistentVolume>(persistentVolumes, undefined, claim.spec?.volumeName ?? "")
  if (volume?.metadata.annotations?.[uidAnnotation] !== undefined) return false
  if (volume?.spec?.claimRef?.uid === uid) return true
  // Super has bound it before claims were marked: a volume that is not there yet is no reason to delete what is stored.
  const copy = view.superObject<PersistentVolumeClaim>(
    persistentVolumeClaims,
    superNamespace(tenant.clusterKey, namespace),
    name,
  )
  return copy === undefined || !isBindingDone(copy)
}
