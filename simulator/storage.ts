// Volumes of the simulated super cluster: a default StorageClass, and claims bound to volumes made for them. The data of a
// claim lives in the simulated containers that mount it.

import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../apimachinery/object.ts"
import { isAlreadyExists, isConflict, isNotFound } from "../apimachinery/status.ts"
import { Informer } from "../client/informer.ts"
import type { Log } from "../client/log.ts"
import { persistentVolumeClaims, persistentVolumes, storageClasses } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import { FairQueue } from "../client/workqueue/fair-queue.ts"
import { runWorkers } from "../client/workqueue/workers.ts"

const provisioner = "polyplane.dev/simulated"
const className = "standard"
const defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class"
const workers = 8

const storageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: className, annotations: { [defaultClassAnnotation]: "true" } },
  provisioner,
  reclaimPolicy: "Delete",
  volumeBindingMode: "Immediate",
  allowVolumeExpansion: true,
} as StorageClass

interface ClaimKey {
  namespace: string
  name: string
}

/** Runs until the signal ends. */
export async function startProvisioner(client: KubeClient, log: Log, signal: AbortSignal): Promise<void> {
  await client.create(storageClasses, storageClass).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error
  })
  const claims = new Informer<PersistentVolumeClaim>(client, persistentVolumeClaims, { log })
  const volumes = new Informer<PersistentVolume>(client, persistentVolumes, { log })
  const queue = new FairQueue<ClaimKey>({
    identify: ({ namespace, name }) => `${namespace}/${name}`,
    group: ({ namespace }) => namespace,
  })
  const add = ({ metadata }: PersistentVolumeClaim): void =>
    queue.add({ namespace: metadata.namespace ?? "", name: metadata.name ?? "" })
  claims.subscribe({ added: add, updated: add, deleted: add })
  volumes.subscribe({
    added: ({ spec }) => {
      if (spec?.claimRef) queue.add({ namespace: spec.claimRef.namespace ?? "", name: spec.claimRef.name ?? "" })
    },
  })
  await Promise.all([claims.start(signal), volumes.start(signal)])
  await runWorkers({
    queue,
    workers,
    reconcile: (key) => reconcile(client, claims, volumes, key),
    name: "provisioner",
    log,
    signal,
  })
  queue[Symbol.dispose]()
}

async function reconcile(
  client: KubeClient,
  claims: Informer<PersistentVolumeClaim>,
  volumes: Informer<PersistentVolume>,
  key: ClaimKey,
): Promise<void> {
  const claim = claims.get(key.namespace, key.name)
  if (claim === undefined) return reclaim(client, volumes, key)
  if (claim.spec?.storageClassName !== className || claim.metadata.deletionTimestamp !== undefined) return
  const name = `pvc-${claim.metadata.uid ?? ""}`
  if (volumes.get(undefined, name) === undefined) {
    await client.create<PersistentVolume>(persistentVolumes, volumeFor(claim, name)).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error
    })
  }
  await bind(client, claim, name)
}

function volumeFor(claim: PersistentVolumeClaim, name: string): PersistentVolume {
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, annotations: { "pv.kubernetes.io/provisioned-by": provisioner } },
    spec: {
      capacity: { storage: claim.spec?.resources?.requests?.["storage"] ?? "1Gi" },
      accessModes: claim.spec?.accessModes ?? ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Delete",
      storageClassName: className,
      volumeMode: claim.spec?.volumeMode ?? "Filesystem",
      claimRef: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        namespace: claim.metadata.namespace ?? "",
        name: claim.metadata.name ?? "",
        uid: claim.metadata.uid ?? "",
      },
      csi: { driver: provisioner, volumeHandle: name },
    },
  } as PersistentVolume
}

async function bind(client: KubeClient, claim: PersistentVolumeClaim, volumeName: string): Promise<void> {
  try {
    const bound =
      claim.spec?.volumeName === volumeName
        ? claim
        : await client.update<PersistentVolumeClaim>(persistentVolumeClaims, {
            ...claim,
            spec: { ...claim.spec, volumeName },
          } as PersistentVolumeClaim)
    const capacity = claim.spec?.resources?.requests ?? {}
    const phaseOfVolume = { status: { phase: "Bound" } }
    await client.patch(persistentVolumes, undefined, volumeName, phaseOfVolume, {
      type: "merge",
      subresource: "status",
    })
    if (bound.status?.phase === "Bound" && bound.status.capacity?.["storage"] === capacity["storage"]) return
    await client.update<PersistentVolumeClaim>(
      persistentVolumeClaims,
      {
        ...bound,
        status: { ...bound.status, phase: "Bound", accessModes: claim.spec?.accessModes ?? [], capacity },
      } as PersistentVolumeClaim,
      { subresource: "status" },
    )
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error // its change comes by the informer
  }
}

/** The claim is gone: its volume goes too (reclaim policy Delete). */
async function reclaim(client: KubeClient, volumes: Informer<PersistentVolume>, key: ClaimKey): Promise<void> {
  const orphans = volumes
    .list()
    .filter(
      ({ spec }) =>
        spec?.storageClassName === className &&
        spec.claimRef?.namespace === key.namespace &&
        spec.claimRef.name === key.name,
    )
  for (const { metadata } of orphans) {
    await client.delete(persistentVolumes, undefined, metadata.name ?? "").catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
  }
}
