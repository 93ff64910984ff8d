// Publishes volumes bound to a tenant's claims to that tenant, with a reference to its own claim. Super owns them entirely.

import type { PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { namespaceAnnotation, uidAnnotation } from "../../apimachinery/tenancy.ts"
import { namespaces, persistentVolumeClaims, persistentVolumes } from "../../client/resources.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { mergeDiff } from "../conversion/equality.ts"
import { recordedOwner } from "../conversion/ownership.ts"
import type { Patch, Publication } from "./resource-sync.ts"

export const persistentVolume: Publication<PersistentVolume> = {
  resource: persistentVolumes,
  clusterKey(superObject, findNamespace) {
    const claimed = findNamespace(superObject.spec?.claimRef?.namespace ?? "")
    return claimed === undefined ? undefined : recordedOwner(claimed)?.clusterKey
  },
  toTenant(superObject, { view }) {
    const claimRef = superObject.spec?.claimRef
    if (claimRef === undefined) return undefined
    const superClaim = view.superObject<PersistentVolumeClaim>(
      persistentVolumeClaims,
      claimRef.namespace,
      claimRef.name ?? "",
    )
    const namespace =
      superClaim?.metadata.annotations?.[namespaceAnnotation] ??
      view.superObject(namespaces, undefined, claimRef.namespace ?? "")?.metadata.annotations?.[namespaceAnnotation]
    const claim = view.tenantObject<PersistentVolumeClaim>(persistentVolumeClaims, namespace, claimRef.name ?? "")
    // A volume outlives its claim (Released) and keeps its reference.
    if (namespace === undefined || (claim === undefined && superClaim !== undefined)) return undefined
    const reference = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      namespace,
      ...(claimRef.name === undefined ? {} : { name: claimRef.name }),
      ...(claim?.metadata.uid === undefined ? {} : { uid: claim.metadata.uid }),
    }
    return {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: {
        name: superObject.metadata.name ?? "",
        ...(superObject.metadata.labels === undefined ? {} : { labels: superObject.metadata.labels }),
        annotations: { [uidAnnotation]: superObject.metadata.uid ?? "" },
      },
      spec: { ...superObject.spec, claimRef: reference } as NonNullable<PersistentVolume["spec"]>,
      ...(superObject.status === undefined ? {} : { status: superObject.status }),
    }
  },
  isPublished: (object) => object.metadata.annotations?.[uidAnnotation] !== undefined,
  changed(desired, object) {
    const patches: Patch[] = []
    const { uid, ...claimRef } = desired.spec?.claimRef ?? {}
    const { resourceVersion: _version, uid: _uid, ...currentRef } = object.spec?.claimRef ?? {}
    const wanted = { ...desired.spec, claimRef }
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
