// Annotations and finalizers of volumes and claims of migrated plugins: which CSI driver serves them, and, for in-tree provisioned
// volumes, that the storage is deleted before the object. Source: k8s.io/kubernetes/pkg/controller/volume/persistentvolume.

import type { KubeObject, PersistentVolume, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { persistentVolumeClaims, persistentVolumes } from "../../client/resources.ts"
import type { Binder } from "./binder.ts"
import { driverOf, isInTree, migratedTo, provisionedBy } from "./plugins.ts"

export const provisionerAnnotation = "volume.kubernetes.io/storage-provisioner"
/** Read by older provisioners. */
export const olderProvisionerAnnotation = "volume.beta.kubernetes.io/storage-provisioner"

/** Set by external provisioners. */
const outsideFinalizer = "external-provisioner.volume.kubernetes.io/finalizer"
const inTreeFinalizer = "kubernetes.io/pv-controller"

/** Returns the object in its new state. */
export async function migrateClaim({ actor }: Binder, claim: PersistentVolumeClaim): Promise<PersistentVolumeClaim> {
  const { annotations = {}, namespace, name = "" } = claim.metadata
  const provisioner = annotations[provisionerAnnotation] ?? annotations[olderProvisionerAnnotation]
  const changes = migration(claim, provisioner)
  if (changes === undefined) return claim
  return actor.client.patch(persistentVolumeClaims, namespace, name, precise(claim, changes), {
    type: "merge",
  })
}

/** Returns the object in its new state. */
export async function migrateVolume({ actor }: Binder, volume: PersistentVolume): Promise<PersistentVolume> {
  const changes = {
    ...migration(volume, volume.metadata.annotations?.[provisionedBy]),
    ...deletionFinalizers(volume),
  }
  if (Object.keys(changes).length === 0) return volume
  const { name = "" } = volume.metadata
  return actor.client.patch(persistentVolumes, undefined, name, precise(volume, changes), { type: "merge" })
}

function precise({ metadata: { uid, resourceVersion } }: KubeObject, changes: object): object {
  return { metadata: { uid, resourceVersion, ...changes } }
}

function migration({ metadata }: KubeObject, provisioner: string | undefined): object | undefined {
  if (provisioner === undefined) return undefined
  const driver = driverOf(provisioner)
  const said = metadata.annotations?.[migratedTo] ?? ""
  return said === (driver ?? "") ? undefined : { annotations: { [migratedTo]: driver ?? null } }
}

function deletionFinalizers({ metadata, spec }: PersistentVolume): object | undefined {
  const provisioner = metadata.annotations?.[provisionedBy]
  if (provisioner === undefined || !isInTree(provisioner)) return undefined
  const { finalizers = [] } = metadata
  const isMigrated = driverOf(provisioner) !== undefined
  const isDeleted = !isMigrated && spec?.persistentVolumeReclaimPolicy === "Delete"
  const wanted = finalizers.filter(
    (finalizer) => (finalizer !== inTreeFinalizer || isDeleted) && (finalizer !== outsideFinalizer || isMigrated),
  )
  if (isDeleted && !wanted.includes(inTreeFinalizer)) wanted.push(inTreeFinalizer)
  const isSame = wanted.length === finalizers.length && wanted.every((finalizer, i) => finalizer === finalizers[i])
  return isSame ? undefined : { finalizers: wanted.length === 0 ? null : wanted }
}

/** For a volume whose storage has been deleted. */
export const withoutInTreeFinalizer = ({ metadata }: PersistentVolume): string[] =>
  (metadata.finalizers ?? []).filter((finalizer) => finalizer !== inTreeFinalizer)
