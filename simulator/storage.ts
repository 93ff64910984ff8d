// Volumes of the simulated super cluster: a default StorageClass, volumes provisioned for the claims of its classes, and the
// binding of claims to volumes (including manually created ones). The data of a claim lives in the simulated containers that
// mount it.

import { bindCompleted, isBindingDone } from "../apimachinery/core/claim-binding.ts"
import { defaultClassAnnotation } from "../apimachinery/core/storage-classes.ts"
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../apimachinery/object.ts"
import { compareQuantities, parseQuantity } from "../apimachinery/quantity.ts"
import { matches, selectorFromLabelSelector } from "../apimachinery/labels.ts"
import { isAlreadyExists, isNotFound } from "../apimachinery/status.ts"
import type { EventRecorder } from "../client/events.ts"
import type { Log } from "../client/log.ts"
import { persistentVolumeClaims, persistentVolumes, storageClasses } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import { ControlLoop, identify, keyOf, type ObjectKey } from "./control-loop.ts"
import { expand, needsExpansion, type ResizeParts } from "./resize.ts"
import { selectedNodeAnnotation, type ClaimSources } from "./scheduler/claims.ts"

export const provisioner = "simulated.polyplane.dev"
const workers = 8

const standardClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "standard", annotations: { [defaultClassAnnotation]: "true" } },
  provisioner,
  reclaimPolicy: "Delete",
  volumeBindingMode: "Immediate",
  allowVolumeExpansion: true,
} as StorageClass

const claimOf = (volume: PersistentVolume): string | undefined =>
  volume.spec?.claimRef ? `${volume.spec.claimRef.namespace ?? ""}/${volume.spec.claimRef.name ?? ""}` : undefined

interface StorageOptions extends ClaimSources, ResizeParts {
  client: KubeClient
  recorder: EventRecorder
  log: Log
}

/** Creates the default class unless one with its name exists. */
export async function createDefaultClass(client: KubeClient): Promise<void> {
  try {
    await client.create(storageClasses, standardClass)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}

export class Storage implements AsyncDisposable {
  readonly #options: StorageOptions
  /** Names of volumes by the claim in their claimRef. */
  readonly #volumesOf = new Map<string, Set<string>>()
  /** Claims without a volume: checked again when one appears. */
  readonly #unbound = new Map<string, ObjectKey>()
  readonly #loop: ControlLoop

  /** The informers must have synced. */
  constructor(options: StorageOptions) {
    this.#options = options
    const { log } = options
    const add = (claim: PersistentVolumeClaim): void => this.#loop.add(keyOf(claim))
    this.#loop = new ControlLoop({ name: "provisioner", workers, reconcile: (key) => this.#reconcile(key), log })
    this.#loop.endFirst(
      options.volumes.subscribe({
        added: (volume) => this.#observe(volume),
        updated: (volume) => this.#observe(volume),
        deleted: (volume) => this.#volumesOf.get(claimOf(volume) ?? "")?.delete(volume.metadata.name ?? ""),
      }),
      options.claims.subscribe({ added: add, updated: add, deleted: add }),
      options.classes.subscribe({ added: () => this.#retryAll() }),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]()
  }

  #observe(volume: PersistentVolume): void {
    const claim = claimOf(volume)
    if (claim === undefined) return this.#retryAll()
    const names = this.#volumesOf.get(claim) ?? new Set()
    this.#volumesOf.set(claim, names.add(volume.metadata.name ?? ""))
    const [namespace = "", name = ""] = claim.split("/")
    this.#loop.add({ namespace, name })
  }

  #retryAll(): void {
    for (const key of this.#unbound.values()) this.#loop.add(key)
    this.#unbound.clear()
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const claim = this.#options.claims.get(key.namespace, key.name)
    const ours = [...(this.#volumesOf.get(identify(key)) ?? [])].flatMap((name) => this.#volume(name) ?? [])
    for (const volume of ours) {
      if (volume.spec?.claimRef?.uid !== undefined && volume.spec.claimRef.uid !== claim?.metadata.uid)
        await this.#reclaim(volume)
    }
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) {
      this.#unbound.delete(identify(key))
      if (this.#volumesOf.get(identify(key))?.size === 0) this.#volumesOf.delete(identify(key))
      return
    }
    this.#unbound.set(identify(key), key) // set before the search, so that a volume that appears meanwhile is not missed
    try {
      const volume = await this.#volumeFor(claim, ours)
      if (volume === undefined) return
      this.#unbound.delete(identify(key))
      const grows = isProvisioned(volume) && volume.spec?.claimRef?.uid === claim.metadata.uid && needsExpansion(claim)
      await (grows ? expand(this.#options, claim, volume) : this.#bind(claim, volume))
    } catch (error) {
      // Another claim may have been faster: search again.
      if (!isNotFound(error)) throw error
    }
  }

  #volume(name: string): PersistentVolume | undefined {
    return this.#options.volumes.get(undefined, name)
  }

  /** The volume that the claim names or has, else a free one that fits, else a new one. */
  async #volumeFor(
    claim: PersistentVolumeClaim,
    ours: readonly PersistentVolume[],
  ): Promise<PersistentVolume | undefined> {
    if (claim.spec?.volumeName) {
      const named = this.#volume(claim.spec.volumeName)
      const isFree = named?.spec?.claimRef === undefined || named.spec.claimRef.uid === claim.metadata.uid
      return named !== undefined && isFree ? named : undefined
    }
    const mine = ours.find(({ spec }) => spec?.claimRef?.uid === undefined || spec.claimRef.uid === claim.metadata.uid)
    if (mine !== undefined) return mine
    const free = this.#options.volumes.list().filter((volume) => fits(volume, claim))
    const found = free.sort((a, b) => compareQuantities(sizeOf(a), sizeOf(b)))[0]
    return found ?? this.#provision(claim)
  }

  async #provision(claim: PersistentVolumeClaim): Promise<PersistentVolume | undefined> {
    const { client, classes, recorder } = this.#options
    const found = classes.get(undefined, claim.spec?.storageClassName ?? "")
    if (found?.provisioner !== provisioner) return undefined
    const selected = claim.metadata.annotations?.[selectedNodeAnnotation]
    if (found.volumeBindingMode === "WaitForFirstConsumer" && selected === undefined) {
      recorder.event(
        client,
        claim,
        "Normal",
        "WaitForFirstConsumer",
        "waiting for first consumer to be created before binding",
      )
      return undefined
    }
    const volume = volumeFor(claim, found)
    try {
      await client.create<PersistentVolume>(persistentVolumes, volume)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
    recorder.event(
      client,
      claim,
      "Normal",
      "ProvisioningSucceeded",
      `Successfully provisioned volume ${volume.metadata.name ?? ""}`,
    )
    return volume
  }

  /** Writes both objects. */
  async #bind(claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
    const { client } = this.#options
    const name = volume.metadata.name ?? ""
    const size = volume.spec?.capacity?.["storage"] ?? claim.spec?.resources?.requests?.["storage"] ?? "0"
    if (volume.spec?.claimRef?.uid !== claim.metadata.uid) {
      // With preconditions, since another claim may be binding it at the same time.
      const { uid, resourceVersion } = volume.metadata
      const patch = { metadata: { uid, resourceVersion }, spec: { claimRef: referenceTo(claim) } }
      await client.patch(persistentVolumes, undefined, name, patch, { type: "merge" })
    }
    if (volume.status?.phase !== "Bound") {
      const status = { status: { phase: "Bound" } }
      await client.patch(persistentVolumes, undefined, name, status, { type: "merge", subresource: "status" })
    }
    const bound =
      claim.spec?.volumeName === name && isBindingDone(claim)
        ? claim
        : await client.update<PersistentVolumeClaim>(persistentVolumeClaims, {
            ...claim,
            metadata: {
              ...claim.metadata,
              annotations: { ...claim.metadata.annotations, [bindCompleted]: "yes" },
            },
            spec: { ...claim.spec, volumeName: name },
          })
    if (bound.status?.phase === "Bound" && bound.status.capacity?.["storage"] === size) return
    const status = {
      ...bound.status,
      phase: "Bound",
      accessModes: volume.spec?.accessModes,
      capacity: { storage: size },
    }
    await client.update(persistentVolumeClaims, { ...bound, status } as PersistentVolumeClaim, {
      subresource: "status",
    })
  }

  /** The claim was deleted: deletes the volume, or sets it to Released. */
  async #reclaim(volume: PersistentVolume): Promise<void> {
    const { client } = this.#options
    const name = volume.metadata.name ?? ""
    try {
      // Also before deletion, because bound volumes are protected.
      if (volume.status?.phase !== "Released") {
        const status = { status: { phase: "Released" } }
        await client.patch(persistentVolumes, undefined, name, status, { type: "merge", subresource: "status" })
      }
      if (volume.spec?.persistentVolumeReclaimPolicy === "Delete" && isProvisioned(volume))
        await client.delete(persistentVolumes, undefined, name)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}

function referenceTo({ metadata }: PersistentVolumeClaim) {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
  }
}

const isProvisioned = ({ spec }: PersistentVolume): boolean => spec?.csi?.driver === provisioner
const sizeOf = (volume: PersistentVolume) => parseQuantity(volume.spec?.capacity?.["storage"] ?? "0")

/** A free volume of the claim's class, large enough, with its access modes and labels. */
function fits(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { spec, metadata } = volume
  if (spec?.claimRef !== undefined || metadata.deletionTimestamp !== undefined) return false
  if ((spec?.storageClassName ?? "") !== (claim.spec?.storageClassName ?? "")) return false
  if ((spec?.volumeMode ?? "Filesystem") !== (claim.spec?.volumeMode ?? "Filesystem")) return false
  if (!(claim.spec?.accessModes ?? []).every((mode) => spec?.accessModes?.includes(mode))) return false
  const { selector } = claim.spec ?? {}
  if (selector !== undefined && !matches(selectorFromLabelSelector(selector), metadata.labels)) return false
  const wanted = parseQuantity(claim.spec?.resources?.requests?.["storage"] ?? "0")
  return compareQuantities(sizeOf(volume), wanted) >= 0
}

function volumeFor(claim: PersistentVolumeClaim, storageClass: StorageClass): PersistentVolume {
  const name = `pvc-${claim.metadata.uid ?? ""}`
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, annotations: { "pv.kubernetes.io/provisioned-by": provisioner } },
    spec: {
      capacity: { storage: claim.spec?.resources?.requests?.["storage"] ?? "1Gi" },
      accessModes: claim.spec?.accessModes ?? ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
      storageClassName: storageClass.metadata.name,
      volumeMode: claim.spec?.volumeMode ?? "Filesystem",
      claimRef: referenceTo(claim),
      csi: { driver: provisioner, volumeHandle: name },
    },
  } as PersistentVolume
}
