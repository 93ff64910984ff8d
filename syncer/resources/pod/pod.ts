// Pods. Downward: the spec, converted by the mutators, and later its few mutable fields. Upward: the node, then the status.

import { isFinished } from "../../../apimachinery/core/pod-phase.ts"
import type { Container, Node, PersistentVolumeClaim, Pod } from "../../../apimachinery/object.ts"
import { byName } from "../../../apimachinery/repeats.ts"
import { ignoreSyncLabel, rootCAConfigMap, superNamespace } from "../../../apimachinery/tenancy.ts"
import {
  configMaps,
  endpoints,
  endpointSlices,
  networkPolicies,
  nodes,
  persistentVolumeClaims,
  pods,
  runtimeClasses,
  secrets,
  serviceAccounts,
  services,
} from "../../../client/resources.ts"
import { missingFrom } from "../../conversion/equality.ts"
import { isBoundInTenant } from "../persistentvolumeclaim.ts"
import type { Dependency, Lost, Patch, ResourceSync, SyncContext, TenantStep } from "../resource-sync.ts"
import { type Admission, admissionOf, lostRecord, recordAdmission } from "./admitted.ts"
import { podContext } from "./context.ts"
import { downwardAPIAnnotations } from "./mutators/downward-api.ts"
import { ephemeralClaims, isClaimOf } from "./mutators/ephemeral-volumes.ts"
import { podMutators } from "./mutators/index.ts"
import { gatesChange, gatesRecord } from "./gates.ts"
import { isOnOwnNode, ownNodeFor } from "./own-nodes.ts"
import { isMisplaced, placementOf, printPlacement, unplaceable } from "./placement.ts"
import { resizeChange } from "./resize.ts"
import { failedStatus, isEvicted, statusPatch, superConditions, tenantStatus, lossReason } from "./status.ts"
import { unsupportedInPod } from "./unsupported.ts"

export const pod: ResourceSync<Pod> = {
  resource: pods,
  kind: "Pod",
  graceful: (object, context) => !isOnOwnNode(object, context),
  synced: (object, context) => object.metadata.labels?.[ignoreSyncLabel] !== "true" || hasCopy(object, context),
  toSuper: superPod,
  annotations: (object, context, superObject) => ({
    ...downwardAPIAnnotations(object),
    ...(superObject === undefined ? {} : lostRecord(object, superObject)),
  }),
  firstAnnotations(object, context) {
    const placement = printPlacement(object, placementOf(object, context))
    return Object.keys(placement).length === 0 ? placement : { ...placement, ...gatesRecord(object) }
  },
  outdated: (object, superObject, context) =>
    isMisplaced(object, superObject, context) || ownNodeFor(object, context) !== undefined,
  changed(object, superObject, context) {
    const patches: Patch[] = []
    const spec = specChange(object, superObject)
    if (spec !== undefined) patches.push({ patch: { spec } })
    const ephemeral = ephemeralChange(object, superObject, context)
    if (ephemeral !== undefined) patches.push({ patch: { spec: ephemeral }, subresource: "ephemeralcontainers" })
    const resize = resizeChange(object, superObject)
    if (resize !== undefined) patches.push({ patch: { spec: resize }, subresource: "resize" })
    const conditions = superConditions(object, superObject)
    if (conditions !== undefined)
      patches.push({ patch: { status: { conditions } }, subresource: "status", strategic: true })
    return patches
  },
  toTenant(object, superObject, context) {
    const steps: TenantStep[] = []
    const nodeName = superObject.spec?.nodeName ?? ""
    if (nodeName !== "" && (object.spec?.nodeName ?? "") === "") steps.push({ bind: nodeName })
    const isBehind = pod.changed(object, superObject, context).some(({ subresource }) => subresource !== "status")
    const wanted = tenantStatus(object, superObject, context.tenant, isBehind)
    const status = statusPatch(object.status, wanted)
    return status === undefined ? steps : [...steps, status]
  },
  unsupported: (object, context) =>
    isFinished(object)
      ? undefined
      : (unsupportedInPod(object) ?? unreachableVolume(object, context) ?? tooManyNodes(object, context)),
  missing,
  // It may have ended, and been deleted in super, of which the tenant knows and the caches do not yet.
  isReadAnew: ({ spec }) => (spec?.restartPolicy ?? "Always") !== "Always",
  admitted: recordAdmission,
  dependencies,
}

/** A pod that runs would otherwise keep what it takes of super, whatever its tenant then says of it. */
function hasCopy({ metadata }: Pod, { tenant, view }: SyncContext): boolean {
  const home = superNamespace(tenant.clusterKey, metadata.namespace ?? "")
  return view.superObject(pods, home, metadata.name ?? "") !== undefined
}

function superPod(object: Pod, context: SyncContext): Pod {
  const around = podContext(object, context)
  const { spec } = podMutators.reduce((made, mutate) => mutate(made, around), object)
  return { apiVersion: "v1", kind: "Pod", metadata: {}, ...(spec === undefined ? {} : { spec }) }
}

/** Claims that the tenant's own binder bound have no copy in super, and super's nodes cannot reach their volumes. */
function unreachableVolume(object: Pod, context: SyncContext): string | undefined {
  const { namespace } = object.metadata
  for (const [index, { persistentVolumeClaim: used }] of (object.spec?.volumes ?? []).entries()) {
    if (used === undefined) continue
    const claim = context.view.tenantObject<PersistentVolumeClaim>(persistentVolumeClaims, namespace, used.claimName)
    if (claim === undefined || !isBoundInTenant(claim, context)) continue
    return `spec.volumes[${index}].persistentVolumeClaim: claim "${used.claimName}" is bound to a volume made in this cluster, which is on no node; use a claim of a class that the super cluster offers`
  }
  return undefined
}

/** It looks at each of the tenant's nodes, so not for pods that run already. */
function tooManyNodes(object: Pod, context: SyncContext): string | undefined {
  return object.status?.startTime === undefined && placementOf(object, context) === unplaceable
    ? "spec.affinity.nodeAffinity: with the labels and taints that you gave the nodes, there is too much to compare; name fewer terms and values, or remove taints"
    : undefined
}

function missing(object: Pod, context: SyncContext): Lost {
  if (isFinished(object) || isOnOwnNode(object, context)) return { kind: "nothing" }
  const ownNode = ownNodeFor(object, context)
  if (ownNode !== undefined) return { kind: "report", steps: [{ bind: ownNode }] }
  const { view } = context
  const { namespace } = object.metadata
  for (const name of ephemeralClaims(object)) {
    const claim = view.tenantObject<PersistentVolumeClaim>(persistentVolumeClaims, namespace, name)
    if (claim !== undefined && !isClaimOf(object, claim))
      return {
        kind: "refuse",
        message: `persistent volume claim "${name}" was not made for this pod's ephemeral volume`,
      }
  }
  const nodeName = object.spec?.nodeName ?? ""
  if (nodeName === "") return { kind: "create" }
  const node = view.superObject<Node>(nodes, undefined, nodeName)
  const neverStarted = object.status?.startTime === undefined && (object.status?.containerStatuses?.length ?? 0) === 0
  if (neverStarted && !isEvicted(object)) {
    // The tenant set the node directly, without a scheduler.
    return node === undefined ? { kind: "refuse", message: `there is no node "${nodeName}"` } : { kind: "create" }
  }
  const why = lossReason(object, node)
  if (why === undefined) return { kind: "create" }
  const status = statusPatch(object.status, failedStatus(object, why, new Date()))
  return { kind: "report", steps: status === undefined ? [] : [status] }
}

/** What a kubelet or super's admission looks for at once: without it the pod is refused, or waits out a long back-off. */
function dependencies(object: Pod, { view, settings }: SyncContext): Dependency[] {
  const { metadata, spec } = object
  const { namespace = "" } = metadata
  const found: Dependency[] = [
    { resource: services, namespace: "default", name: "kubernetes" },
    { resource: endpoints, namespace: "default", name: "kubernetes" },
    { resource: endpointSlices, namespace: "default", name: "kubernetes" },
    { resource: serviceAccounts, namespace, name: spec?.serviceAccountName ?? "default" },
  ]
  // A pod must not run before what restricts it is known there.
  if (settings.networkPolicies === "allow") {
    for (const { metadata: policy } of view.tenantObjects(networkPolicies, namespace))
      found.push({ resource: networkPolicies, namespace, name: policy.name ?? "" })
  }
  if (spec?.runtimeClassName !== undefined)
    found.push({ resource: runtimeClasses, namespace: "", name: spec.runtimeClassName })
  const add = (resource: Dependency["resource"], name: string | undefined): void => {
    if (name !== undefined) found.push({ resource, namespace, name })
  }
  for (const { name } of spec?.imagePullSecrets ?? []) add(secrets, name)
  for (const { env, envFrom } of [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])] as Container[]) {
    for (const { valueFrom } of env ?? []) {
      add(configMaps, valueFrom?.configMapKeyRef?.name)
      add(secrets, valueFrom?.secretKeyRef?.name)
    }
    for (const { configMapRef, secretRef } of envFrom ?? []) {
      add(configMaps, configMapRef?.name)
      add(secrets, secretRef?.name)
    }
  }
  for (const name of ephemeralClaims(object)) add(persistentVolumeClaims, name)
  for (const volume of spec?.volumes ?? []) {
    add(configMaps, volume.configMap?.name)
    add(secrets, volume.secret?.secretName)
    add(persistentVolumeClaims, volume.persistentVolumeClaim?.claimName)
    for (const source of volume.projected?.sources ?? []) {
      add(configMaps, source.configMap?.name)
      add(secrets, source.secret?.name)
      if (source.serviceAccountToken !== undefined) add(configMaps, rootCAConfigMap)
    }
  }
  return found
}

/** The merge patch of super's spec. Contains only fields that may change after creation; containers that super added are kept. */
function specChange(object: Pod, superObject: Pod): Record<string, unknown> | undefined {
  const wanted = object.spec
  const current = superObject.spec
  if (wanted === undefined || current === undefined) return undefined
  const patch: Record<string, unknown> = {}
  const given = admissionOf(object, superObject)
  const containers = imageChange(wanted.containers, current.containers, given)
  if (containers !== undefined) patch["containers"] = containers
  const initContainers = imageChange(wanted.initContainers ?? [], current.initContainers ?? [], given)
  if (initContainers !== undefined) patch["initContainers"] = initContainers
  // It can only become less, also than what super's admission has given.
  const deadline = wanted.activeDeadlineSeconds
  if (deadline !== undefined && deadline < (current.activeDeadlineSeconds ?? Infinity))
    patch["activeDeadlineSeconds"] = deadline
  const tolerations = given.allowed(missingFrom(wanted.tolerations ?? [], current.tolerations ?? []))
  if (tolerations.length > 0) patch["tolerations"] = [...(current.tolerations ?? []), ...tolerations]
  const gates = gatesChange(object, superObject)
  if (gates !== undefined) patch["schedulingGates"] = gates.length === 0 ? null : gates
  return Object.keys(patch).length === 0 ? undefined : patch
}

/** Super's containers with the tenant's images, matched by name; undefined if there is no difference. */
function imageChange(
  wanted: readonly Container[],
  current: readonly Container[],
  given: Admission,
): Container[] | undefined {
  let changed = false
  const named = byName(wanted)
  const containers = current.map((container) => {
    const image = named.get(container.name)?.image
    if (image === undefined || image === container.image) return container
    if (given.hasGiven(container.name, image, container.image)) return container
    changed = true
    return { ...container, image }
  })
  return changed ? containers : undefined
}

/** Ephemeral containers can only be added. */
function ephemeralChange(object: Pod, superObject: Pod, context: SyncContext): Record<string, unknown> | undefined {
  const current = superObject.spec?.ephemeralContainers ?? []
  const there = byName(current)
  const added = (object.spec?.ephemeralContainers ?? []).filter(({ name }) => !there.has(name))
  if (added.length === 0) return undefined
  // superFields removes ephemeral containers from new pods, so the mutators that change containers get them as ordinary ones.
  const { spec } = object
  if (spec === undefined) return undefined
  const partial: Pod = { ...object, spec: { ...spec, containers: added, initContainers: [] } }
  return { ephemeralContainers: [...current, ...(superPod(partial, context).spec?.containers ?? [])] }
}
