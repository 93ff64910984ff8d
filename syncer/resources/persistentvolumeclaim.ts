// Claims: bound in super, where the storage is. The tenant's claim is told which volume it got, as a binder would. One that the
// tenant's own binder (controllers/volume-binding/) has bound to a volume the tenant made is none of super's.

import type { PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { superNamespace, uidAnnotation } from "../../apimachinery/tenancy.ts"
import { persistentVolumeClaims, persistentVolumes } from "../../client/resources.ts"
import { equalButNulls } from "../../apimachinery/equality.ts"
import { mergeDiff } from "../conversion/equality.ts"
import { scrubMessages } from "../conversion/scrub.ts"
import type { ResourceSync, TenantStep, View } from "./resource-sync.ts"

/** Both sides take it off when no pod uses the claim. */
const inUseFinalizer = "kubernetes.io/pvc-protection"

export const persistentVolumeClaim: ResourceSync<PersistentVolumeClaim> = {
  resource: persistentVolumeClaims,
  kind: "PersistentVolumeClaim",
  synced: (object, { view }) => !isBoundInTenant(object, view),
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
  // Otherwise super would schedule further pods that use it. Whoever else keeps it in the tenant still wants what is stored.
  follows: ({ metadata }) => (metadata.finalizers ?? []).every((finalizer) => finalizer === inUseFinalizer),
  toTenant(object, superObject, { tenant }) {
    const steps: TenantStep[] = []
    const volumeName = superObject.spec?.volumeName
    if (volumeName !== undefined && volumeName !== "" && (object.spec?.volumeName ?? "") === "") {
      const annotations = { "pv.kubernetes.io/bind-completed": "yes" }
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

/** By its own binder, which says so unless the claim named the volume itself. */
function isBoundInTenant({ metadata, spec }: PersistentVolumeClaim, view: View): boolean {
  const { annotations = {}, uid } = metadata
  if (annotations["pv.kubernetes.io/bound-by-controller"] !== undefined) return true
  if (annotations["pv.kubernetes.io/bind-completed"] === undefined || spec?.volumeName === undefined) return false
  const volume = view.tenantObject<PersistentVolume>(persistentVolumes, undefined, spec.volumeName)
  return volume?.spec?.claimRef?.uid === uid && volume?.metadata.annotations?.[uidAnnotation] === undefined
}
