// Storage of the real nodes: a default StorageClass with its provisioner. A volume is a folder on the node on which the claim's
// first pod is scheduled; the kubelet mounts it, and the scheduler keeps the claim's pods on that node. The size of its content
// is not limited.

import { setMaxListeners } from "node:events"
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../../apimachinery/object.ts"
import { isAlreadyExists, isNotFound } from "../../../apimachinery/status.ts"
import { Informer } from "../../../client/informers/informer.ts"
import { silentLog, type Log } from "../../../client/log.ts"
import { persistentVolumeClaims, persistentVolumes, storageClasses } from "../../../client/resources.ts"
import { FairQueue } from "../../../client/workqueue/fair-queue.ts"
import { runWorkers } from "../../../client/workqueue/workers.ts"
import { maxNodes, nodeName } from "./layout.ts"
import type { RealKubernetes } from "./real-kubernetes.ts"

const provisioner = "local.polyplane.dev"
const className = "local"
/** On each node. */
const directory = "/var/lib/local-volumes"
const workers = 4

// The volume controller writes the first two annotations to a claim (the second one for the scheduler); the provisioner writes
// the third one.
const provisionerAnnotation = "volume.kubernetes.io/storage-provisioner"
const nodeAnnotation = "volume.kubernetes.io/selected-node"
const provisionedAnnotation = "pv.kubernetes.io/provisioned-by"

const storageClass: StorageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: className, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
  provisioner,
  reclaimPolicy: "Delete",
  // Until a pod uses the claim, it is unknown which node needs the folder.
  volumeBindingMode: "WaitForFirstConsumer",
}

type Cluster = Pick<RealKubernetes, "client" | "inNode">
/** The key of a claim, or of a volume, which has no namespace. */
interface Key {
  namespace?: string
  name: string
}

/** Resolves when the class exists and its claims are watched; runs until it is disposed. */
export async function provideLocalVolumes(cluster: Cluster, log: Log = silentLog): Promise<AsyncDisposable> {
  const { client } = cluster
  const claims = new Informer<PersistentVolumeClaim>(client, persistentVolumeClaims, { log })
  const volumes = new Informer<PersistentVolume>(client, persistentVolumes, { log })
  const queue = new FairQueue<Key>({
    identify: ({ namespace = "", name }) => `${namespace}/${name}`,
    group: ({ namespace = "" }) => namespace,
  })
  const seen = ({ metadata: { namespace, name = "" } }: PersistentVolumeClaim | PersistentVolume): void =>
    queue.add(namespace === undefined ? { name } : { namespace, name })
  claims.subscribe({ added: seen, updated: seen })
  volumes.subscribe({ added: seen, updated: seen })
  const stopped = new AbortController()
  setMaxListeners(0, stopped.signal)
  const running = runWorkers({
    queue,
    workers,
    name: provisioner,
    log,
    signal: stopped.signal,
    reconcile: async ({ namespace, name }) => {
      const claim = namespace === undefined ? undefined : claims.get(namespace, name)
      if (claim !== undefined) await provision(cluster, claim)
      const volume = namespace === undefined ? volumes.get(undefined, name) : undefined
      if (volume !== undefined) await reclaim(cluster, volume)
    },
  })
  await client.create(storageClasses, storageClass)
  await Promise.all([claims.start(stopped.signal), volumes.start(stopped.signal)])
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort()
      await running
      queue[Symbol.dispose]()
    },
  }
}

/**
 * Creates the folder first, because a pod may use the volume as soon as it exists. The volume controller binds the volume to the
 * claim.
 */
async function provision(cluster: Cluster, claim: PersistentVolumeClaim): Promise<void> {
  const { annotations = {}, uid = "", deletionTimestamp } = claim.metadata
  const node = annotations[nodeAnnotation]
  if (annotations[provisionerAnnotation] !== provisioner || node === undefined) return
  if (claim.spec?.volumeName || deletionTimestamp !== undefined || claim.spec?.volumeMode === "Block") return
  const volume = volumeFor(claim, `pvc-${uid}`, node)
  await cluster.inNode(numberOf(node), ["mkdir", "--parents", "--mode=0777", volume.spec?.local?.path ?? ""])
  try {
    await cluster.client.create(persistentVolumes, volume)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}

/** Deletes the volume with its content. */
async function reclaim(cluster: Cluster, { metadata, spec, status }: PersistentVolume): Promise<void> {
  if (metadata.annotations?.[provisionedAnnotation] !== provisioner) return
  if (status?.phase !== "Released" || spec?.persistentVolumeReclaimPolicy !== "Delete") return
  const node = metadata.annotations[nodeAnnotation] ?? ""
  await cluster.inNode(numberOf(node), ["rm", "--recursive", "--force", spec.local?.path ?? ""])
  try {
    await cluster.client.delete(persistentVolumes, undefined, metadata.name ?? "")
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

function volumeFor({ metadata, spec }: PersistentVolumeClaim, name: string, node: string): PersistentVolume {
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, annotations: { [provisionedAnnotation]: provisioner, [nodeAnnotation]: node } },
    spec: {
      capacity: { storage: spec?.resources?.requests?.["storage"] ?? "0" },
      accessModes: spec?.accessModes ?? [],
      persistentVolumeReclaimPolicy: "Delete",
      storageClassName: className,
      local: { path: `${directory}/${name}` },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }] },
          ],
        },
      },
      claimRef: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        namespace: metadata.namespace ?? "",
        name: metadata.name ?? "",
        uid: metadata.uid ?? "",
      },
    },
  }
}

function numberOf(node: string): number {
  const number = Array.from({ length: maxNodes }, (_, index) => index + 1).find((one) => nodeName(one) === node)
  if (number === undefined) throw new Error(`there is no node "${node}"`)
  return number
}
