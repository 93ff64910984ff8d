// Claims used by pods, volumes bound to claims, and VolumeAttributesClasses named by either have a finalizer, which is removed
// when they are no longer in use. Source: k8s.io/kubernetes/pkg/controller/volume/{pvcprotection,pvprotection,vacprotection}.

import type {
  KubeObject,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  VolumeAttributesClass,
} from "../../apimachinery/object.ts"
import { controllerOf } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import {
  persistentVolumeClaims,
  persistentVolumes,
  pods as podResource,
  volumeAttributesClasses,
} from "../../client/resources.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import type { ControllerContext } from "../context.ts"
import { Controller } from "../controller.ts"
import { claimNamesOf } from "../pods/claims-of-pod.ts"

const claimFinalizer = "kubernetes.io/pvc-protection"
const attributesFinalizer = "kubernetes.io/vac-protection"
const volumeFinalizer = "kubernetes.io/pv-protection"

export function runClaimProtection(ctx: ControllerContext): Promise<void> {
  const claims = ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims)
  const pods = ctx.informers.of<Pod>(podResource)
  const controller = new Controller<PersistentVolumeClaim>(ctx, {
    name: "persistentvolumeclaim-protection",
    primary: claims,
    reads: [pods],
  })
  const enqueue = (tenant: string, pod: Pod): void => {
    for (const claim of claimNamesOf(pod)) controller.enqueue(tenant, pod.metadata.namespace, claim)
  }
  pods.subscribe({
    updated(tenant, pod, previous) {
      if (pod.metadata.uid !== previous.metadata.uid) enqueue(tenant, previous)
      if (isShutDown(pod) !== isShutDown(previous)) enqueue(tenant, pod)
    },
    deleted: enqueue,
  })
  const isUsed = (tenant: string, claim: PersistentVolumeClaim): boolean =>
    pods
      .byIndex(tenant, "claims", `${claim.metadata.namespace ?? ""}/${claim.metadata.name ?? ""}`)
      .some((pod) => uses(pod, claim))
  return controller.run(async ({ tenant, namespace, name }, actor) => {
    const claim = claims.get(tenant, namespace, name)
    if (claim === undefined) return
    const client = actor.client
    await protect(client, persistentVolumeClaims, claim, claimFinalizer, () => isUsed(tenant, claim))
  })
}

/** A node may keep the volume mounted until the finished pod is deleted; only a claim created for the pod is removed before it. */
function uses(pod: Pod, { metadata }: PersistentVolumeClaim): boolean {
  const { nodeName = "", volumes = [] } = pod.spec ?? {}
  if (nodeName === "") return false
  const isOfPod = controllerOf({ metadata })?.uid === pod.metadata.uid
  return volumes.some(({ persistentVolumeClaim, ephemeral, name }) => {
    if (persistentVolumeClaim !== undefined) return persistentVolumeClaim.claimName === metadata.name
    const isNamed = ephemeral !== undefined && `${pod.metadata.name ?? ""}-${name}` === metadata.name
    return isNamed && isOfPod && !isShutDown(pod)
  })
}

/** The kubelet is done with the pod, or not involved: only finalizers may still hold it, even until the claim is gone. */
const isShutDown = ({ metadata }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0

export function runVolumeProtection(ctx: ControllerContext): Promise<void> {
  const volumes = ctx.informers.of<PersistentVolume>(persistentVolumes)
  const controller = new Controller<PersistentVolume>(ctx, { name: "persistentvolume-protection", primary: volumes })
  return controller.run(async ({ tenant, name }, actor) => {
    const volume = volumes.get(tenant, undefined, name)
    if (volume === undefined) return
    const client = actor.client
    await protect(client, persistentVolumes, volume, volumeFinalizer, () => volume.status?.phase === "Bound")
  })
}

export function runAttributesProtection(ctx: ControllerContext): Promise<void> {
  const classes = ctx.informers.of<VolumeAttributesClass>(volumeAttributesClasses)
  const claims = ctx.informers.of<PersistentVolumeClaim>(persistentVolumeClaims)
  const volumes = ctx.informers.of<PersistentVolume>(persistentVolumes)
  const controller = new Controller<VolumeAttributesClass>(ctx, {
    name: "volumeattributesclass-protection",
    primary: classes,
    reads: [claims, volumes],
  })
  const ofClaim = ({ spec, status }: PersistentVolumeClaim): (string | undefined)[] => [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]
  const ofVolume = ({ spec }: PersistentVolume): (string | undefined)[] => [spec?.volumeAttributesClassName]
  const enqueue = (tenant: string, names: readonly (string | undefined)[]): void => {
    for (const name of names) if (name !== undefined && name !== "") controller.enqueue(tenant, undefined, name)
  }
  claims.subscribe({
    updated: (tenant, _claim, previous) => enqueue(tenant, ofClaim(previous)),
    deleted: (tenant, claim) => enqueue(tenant, ofClaim(claim)),
  })
  volumes.subscribe({
    updated: (tenant, _volume, previous) => enqueue(tenant, ofVolume(previous)),
    deleted: (tenant, volume) => enqueue(tenant, ofVolume(volume)),
  })
  return controller.run(async ({ tenant, name }, actor) => {
    const found = classes.get(tenant, undefined, name)
    if (found === undefined) return
    const isUsed = (): boolean =>
      claims.list(tenant).some((claim) => ofClaim(claim).includes(name)) ||
      volumes.list(tenant).some((volume) => ofVolume(volume).includes(name))
    await protect(actor.client, volumeAttributesClasses, found, attributesFinalizer, isUsed)
  })
}

async function protect(
  client: KubeClient,
  resource: Resource,
  object: KubeObject,
  finalizer: string,
  isUsed: () => boolean,
): Promise<void> {
  const { namespace, name = "", uid, resourceVersion, finalizers = [], deletionTimestamp } = object.metadata
  const has = finalizers.includes(finalizer)
  let wanted: string[] | undefined
  if (deletionTimestamp === undefined && !has) wanted = [...finalizers, finalizer]
  else if (deletionTimestamp !== undefined && has && !isUsed())
    wanted = finalizers.filter((other) => other !== finalizer)
  if (wanted === undefined) return
  const body = { metadata: { uid, resourceVersion, finalizers: wanted.length === 0 ? null : wanted } }
  try {
    await client.patch(resource, namespace, name, body, { type: "merge" })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
