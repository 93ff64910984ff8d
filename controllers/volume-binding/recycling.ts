// Empties volumes for reuse with a pod in the namespace `default` that mounts the volume.
// Source: k8s.io/kubernetes/pkg/volume/util/recyclerclient; the pod: pkg/volume/plugins.go, pkg/volume/{hostpath,nfs}.
//
// Upstream watches its pod; here each change of the pod causes a reconcile of the volume. As upstream, the state is kept in memory
// only: a pod that is found without state is deleted and created again later.

import type { KubeObject, PersistentVolume, PersistentVolumeClaim, Pod } from "../../apimachinery/object.ts"
import { isAlreadyExists, isNotFound, StatusError } from "../../apimachinery/status.ts"
import { events, persistentVolumeClaims, pods as podResource } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { isFinished, isTerminating } from "../pods/pod-state.ts"
import { setVolumePhase, unbind } from "./bind.ts"
import type { Binder, Recycling } from "./binder.ts"
import { sizeOf } from "./matching.ts"

const namespace = "default"
const prefix = "recycler-for-"
const failed = "Recycle failed: "
/** Retry delays after a failure, doubled each time. Upstream retries every 15 s forever, but for a single cluster. */
const firstRetryMs = 15_000
const longestRetryMs = 3_600_000

/** The name of the volume that this pod recycles; undefined for other pods. */
export function recycledBy({ metadata }: Pod): string | undefined {
  const { name = "" } = metadata
  return metadata.namespace === namespace && name.startsWith(prefix) ? name.slice(prefix.length) : undefined
}

/** Discards the state of a volume that is gone or bound again. */
export async function discard(binder: Binder, name: string): Promise<void> {
  const ofTenant = binder.recyclings.get(binder.actor.tenant)
  const pod = ofTenant?.get(name)?.pod
  if (pod !== undefined) await remove(binder, name, pod.uid)
  ofTenant?.delete(name)
}

export async function recycle(binder: Binder, volume: PersistentVolume): Promise<ReconcileResult> {
  const { name = "" } = volume.metadata
  const { tenant } = binder.actor
  const ofTenant = binder.recyclings.get(tenant) ?? new Map<string, Recycling>()
  binder.recyclings.set(tenant, ofTenant)
  const recycling = ofTenant.get(name) ?? { failures: 0, notBefore: 0 }
  ofTenant.set(name, recycling)
  if (recycling.unreported !== undefined) await reportFailure(binder, volume, recycling)
  const wait = recycling.notBefore - binder.ctx.clock.elapsed()
  if (recycling.pod === undefined && wait > 0) return { requeueAfterMs: wait }
  const fault =
    recycling.pod === undefined ? await begin(binder, volume, recycling) : await observe(binder, volume, recycling.pod)
  if (fault === "at work") return
  if (fault === undefined) {
    ofTenant.delete(name)
    binder.actor.event(volume, "Normal", "VolumeRecycled", "Volume recycled")
    return unbind(binder, volume)
  }
  delete recycling.pod
  const retryMs = Math.min(longestRetryMs, firstRetryMs * 2 ** recycling.failures++)
  recycling.notBefore = binder.ctx.clock.elapsed() + retryMs
  if (fault !== "in use") {
    recycling.unreported = fault.text
    await reportFailure(binder, volume, recycling)
  }
  return { requeueAfterMs: retryMs }
}

type Fault = "in use" | { text: string }

async function begin(binder: Binder, volume: PersistentVolume, recycling: Recycling): Promise<Fault | "at work"> {
  const users = usersOf(binder, volume)
  if (users.length > 0) {
    const text = `Volume is used by pods: ${users.sort().join(",")}`
    binder.actor.event(volume, "Normal", "VolumeFailedRecycle", text)
    return "in use"
  }
  const template = recyclerOf(volume)
  if (template === undefined) return { text: "No recycler plugin found for the volume!" }
  try {
    const { metadata } = await binder.actor.client.create<Pod>(podResource, template)
    recycling.pod = { uid: metadata.uid ?? "", copiedEvents: new Set() }
    return "at work"
  } catch (error) {
    if (isAlreadyExists(error)) {
      await remove(binder, volume.metadata.name ?? "")
      return { text: failed + "old recycler pod found, will retry later" }
    }
    if (!(error instanceof StatusError)) throw error
    return { text: `${failed}unexpected error creating recycler pod:  ${error.message}` }
  }
}

/** Undefined: the pod has finished its work. */
async function observe(
  binder: Binder,
  volume: PersistentVolume,
  { uid, copiedEvents }: NonNullable<Recycling["pod"]>,
): Promise<Fault | "at work" | undefined> {
  const { name = "" } = volume.metadata
  await copyEvents(binder, volume, copiedEvents)
  const pod = await find(binder, name)
  if (pod?.metadata.uid !== uid) return { text: `${failed}failed to recycle volume: recycler pod was deleted` }
  if (!isFinished(pod)) return "at work"
  await remove(binder, name, uid)
  if (pod.status?.phase === "Succeeded") return undefined
  const why = pod.status?.message ?? "pod failed, pod.Status.Message unknown"
  return { text: `${failed}failed to recycle volume: ${why}` }
}

/** Copies the pod's events to the volume. */
async function copyEvents({ actor }: Binder, volume: PersistentVolume, copiedEvents: Set<string>): Promise<void> {
  const fieldSelector = `involvedObject.name=${prefix}${volume.metadata.name ?? ""}`
  const { items } = await actor.client.list(events, { namespace, fieldSelector })
  for (const { metadata, type, message } of items as (KubeObject & { type?: string; message?: string })[]) {
    if (copiedEvents.has(metadata.uid ?? "")) continue
    copiedEvents.add(metadata.uid ?? "")
    const kind = type === "Warning" ? "Warning" : "Normal"
    actor.event(volume, kind, "RecyclerPod", `Recycler pod: ${message ?? ""}`)
  }
}

async function find({ ctx, actor }: Binder, name: string): Promise<Pod | undefined> {
  const known = ctx.informers.of<Pod>(podResource).get(actor.tenant, namespace, prefix + name)
  if (known !== undefined) return known
  try {
    // The pod may be too new for the cache.
    return await actor.client.get<Pod>(podResource, namespace, prefix + name)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

async function remove({ actor }: Binder, name: string, uid?: string): Promise<void> {
  try {
    const options = uid === undefined ? {} : { uid }
    await actor.client.delete(podResource, namespace, prefix + name, options)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

async function reportFailure(binder: Binder, volume: PersistentVolume, recycling: Recycling): Promise<void> {
  const { unreported: message = "" } = recycling
  if (volume.status?.phase !== "Failed") {
    await setVolumePhase(binder, volume, "Failed", message)
    binder.actor.event(volume, "Warning", "VolumeFailedRecycle", message)
  }
  delete recycling.unreported
}

/** Pods that use the former claim. If a claim with its name exists, that one has another volume. */
function usersOf({ ctx, actor }: Binder, { spec }: PersistentVolume): string[] {
  const { namespace: of = "", name = "" } = spec?.claimRef ?? {}
  if (ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims).get(actor.tenant, of, name) !== undefined)
    return []
  const isRunning = ({ status }: Pod): boolean =>
    [status?.initContainerStatuses, status?.containerStatuses, status?.ephemeralContainerStatuses].some((statuses) =>
      (statuses ?? []).some(({ state }) => state?.running !== undefined),
    )
  return ctx.informers
    .of<Pod>(podResource)
    .byIndex(actor.tenant, "claims", `${of}/${name}`)
    .filter((pod) => !isFinished(pod) && (!isTerminating(pod) || isRunning(pod)))
    .map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name ?? ""}`)
}

const gibibyte = 2 ** 30
const secondsPerGibibyte = 30

/** Undefined: volumes of this type cannot be recycled. */
function recyclerOf({ metadata, spec }: PersistentVolume): KubeObject | undefined {
  const { hostPath, nfs, capacity } = spec ?? {}
  if (hostPath === undefined && nfs === undefined) return undefined
  const source =
    nfs === undefined ? { hostPath: { path: hostPath?.path } } : { nfs: { server: nfs.server, path: nfs.path } }
  const least = nfs === undefined ? 60 : 300
  const size = Math.floor(sizeOf(capacity?.["storage"]) / 1000 / gibibyte)
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `${prefix}${metadata.name ?? ""}`, namespace },
    spec: {
      activeDeadlineSeconds: Math.max(least, size * secondsPerGibibyte),
      restartPolicy: "Never",
      volumes: [{ name: "vol", ...source }],
      containers: [
        {
          name: "pv-recycler",
          image: "registry.k8s.io/build-image/debian-base:bookworm-v1.0.6",
          command: ["/bin/sh"],
          args: ["-c", 'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1'],
          volumeMounts: [{ name: "vol", mountPath: "/scrub" }],
        },
      ],
    },
  } as KubeObject
}
