// ResourceClaims: creates them from templates for pods, reserves them for pods with a node, and releases them when the last pod
// that used them is gone. A scheduler allocates devices; the super cluster's scheduler does not know these claims.
// Source: k8s.io/kubernetes/pkg/controller/resourceclaim.

import { errorMessage } from "../../apimachinery/error-message.ts"
import { controllerOf, type Pod, type ResourceClaim, type ResourceClaimTemplate } from "../../apimachinery/object.ts"
import { unexplained } from "../../apimachinery/status.ts"
import { pods as podResource, resourceClaims, resourceClaimTemplates } from "../../client/resources.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import { TerminalError, type ReconcileResult } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { isFinished, isTerminating } from "../pods/pod-state.ts"
import { staleRetryMs, WriteTracker } from "../write-tracker.ts"
import {
  claimNames,
  claimsOf,
  generatedPrefix,
  isFor,
  needsNoClaims,
  needsReservation,
  needsWork,
  type PodClaim,
  type Wanted,
  wantedBy,
} from "./pod-claims.ts"
import { reconcileClaim } from "./release.ts"

const annotation = "resource.kubernetes.io/pod-claim-name"
const fieldManager = "ResourceClaimController"

export async function runResourceClaims(ctx: ControllerContext): Promise<void> {
  const pods = ctx.informers.of<Pod>(podResource)
  const claims = ctx.informers.of<ResourceClaim>(resourceClaims)
  const templates = ctx.informers.of<ResourceClaimTemplate>(resourceClaimTemplates)
  /** Of claims that were created for a pod. Their names are generated, so another attempt would create others. */
  const writes = new WriteTracker(ctx.clock)
  const made: Made = new Map()
  const ofPods = new Controller<Pod>(ctx, {
    name: "resource-claim",
    eventSource: "resource_claim",
    primary: pods,
    concerns: (pod) => claimsOf(pod).length > 0,
    reads: [claims, templates],
  })
  const ofClaims = new Controller<ResourceClaim>(ctx, {
    name: "resource-claim-release",
    primary: claims,
    reads: [pods],
  })
  const released = (tenant: string, pod: Pod): void => {
    for (const name of claimNames(pod)) ofClaims.enqueue(tenant, pod.metadata.namespace, name)
    // Of one whose creation was not answered, the pod may name another.
    for (const claim of claims.byIndex(tenant, "controller", pod.metadata.uid ?? ""))
      ofClaims.enqueueObject(tenant, claim)
  }
  pods.subscribe({
    updated(tenant, pod, previous) {
      if (needsNoClaims(pod) && !needsNoClaims(previous)) released(tenant, pod)
    },
    deleted: released,
    forgotten({ metadata: { uid = "" } }) {
      writes.forget(uid)
      made.delete(uid)
    },
  })
  const usedBy = (tenant: string, { metadata }: ResourceClaim): void => {
    const id = `${metadata.namespace ?? ""}/${metadata.name ?? ""}`
    for (const pod of pods.byIndex(tenant, "resourceClaims", id)) ofPods.enqueueObject(tenant, pod)
  }
  claims.subscribe({
    added(tenant, claim) {
      const { uid = "" } = controllerOf(claim) ?? {}
      writes.isSeen(uid, (name) => claims.get(tenant, claim.metadata.namespace, name))
      usedBy(tenant, claim)
    },
    updated: usedBy,
    deleted: usedBy,
  })
  templates.subscribe({
    added(tenant, { metadata }) {
      const id = `${metadata.namespace ?? ""}/${metadata.name ?? ""}`
      for (const pod of pods.byIndex(tenant, "resourceClaimTemplates", id)) ofPods.enqueueObject(tenant, pod)
    },
  })
  await Promise.all([
    ofPods.run((key, actor) => reconcilePod({ ctx, actor, writes, made }, key)),
    ofClaims.run((key, actor) => reconcileClaim(ctx, actor, key)),
  ])
}

/** Names of claims that were created, by pod uid and claim of the pod. */
type Made = Map<string, Map<string, string>>

interface Parts {
  ctx: ControllerContext
  actor: Actor
  writes: WriteTracker
  made: Made
}

async function reconcilePod(parts: Parts, key: Key): Promise<ReconcileResult> {
  const { ctx, actor, writes } = parts
  const { tenant, namespace, name } = key
  const pod = ctx.informers.of<Pod>(podResource).get(tenant, namespace, name)
  if (pod === undefined || isTerminating(pod)) return
  const { uid = "" } = pod.metadata
  const claims = ctx.informers.of<ResourceClaim>(resourceClaims)
  if (!needsWork(pod, (claim) => claims.get(tenant, namespace, claim))) return
  if (!writes.isSeen(uid, (claim) => claims.get(tenant, namespace, claim))) return { requeueAfterMs: staleRetryMs }
  const named = new Map<string, string>()
  const wantedOf = wantedBy(pod)
  const present = presentFor(claims.byIndex(tenant, "controller", uid))
  for (const podClaim of claimsOf(pod)) {
    try {
      const generated = await generate(parts, { pod, present }, podClaim, wantedOf(podClaim))
      if (generated !== undefined) named.set(podClaim.name, generated)
    } catch (error) {
      if (isNamespaceTerminating(error)) return
      const text = `PodResourceClaim ${podClaim.name}: ${errorMessage(error)}`
      actor.event(pod, "Warning", "FailedResourceClaimCreation", text)
      throw error
    }
  }
  if (named.size > 0) return recordClaims(actor, pod, named)
  if ((pod.spec?.nodeName ?? "") !== "") await reserve(ctx, actor, pod)
}

interface Owner {
  pod: Pod
  /** Names of its claims, by claim of the pod: one may have been created without an update of the status. */
  present: ReadonlyMap<string, string>
}

function presentFor(claims: readonly ResourceClaim[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const { metadata } of claims) {
    const podClaim = metadata.annotations?.[annotation]
    if (podClaim !== undefined && !found.has(podClaim)) found.set(podClaim, metadata.name ?? "")
  }
  return found
}

/** Returns the name of a claim that is not in the pod's status yet. */
async function generate(
  parts: Parts,
  { pod, present }: Owner,
  podClaim: PodClaim,
  wanted: Wanted,
): Promise<string | undefined> {
  const { ctx, actor, made } = parts
  const { tenant } = actor
  const { namespace = "", uid = "" } = pod.metadata
  const claims = ctx.informers.of<ResourceClaim>(resourceClaims)
  const template = podClaim.resourceClaimTemplateName
  if (template === undefined || wanted.state === "none") return undefined
  if (wanted.state === "named") {
    const claim = claims.get(tenant, namespace, wanted.name)
    if (claim === undefined ? isFinished(pod) : isFor(claim, pod)) return undefined
  }
  // What was made counts as present, also if it was deleted or taken from its pod, as upstream; but a pod that runs gets another if it is gone.
  const before = made.get(uid)?.get(podClaim.name)
  const former = before === undefined ? undefined : claims.get(tenant, namespace, before)
  if (before !== undefined && (former === undefined ? isFinished(pod) : !isFor(former, pod))) return before
  const known = present.get(podClaim.name)
  if (known !== undefined) return known
  const found = ctx.informers.of<ResourceClaimTemplate>(resourceClaimTemplates).get(tenant, namespace, template)
  if (found === undefined) {
    const missing = `resourceclaimtemplate.resource.k8s.io "${template}" not found`
    // Creating the template enqueues its pods.
    throw new TerminalError(`resource claim template "${template}": ${missing}`)
  }
  return createClaim(parts, pod, podClaim, found.spec)
}

/** Returns its name. */
async function createClaim(
  { ctx, actor, writes, made }: Parts,
  pod: Pod,
  podClaim: PodClaim,
  { metadata, spec }: ResourceClaimTemplate["spec"],
): Promise<string> {
  const { namespace = "", name = "", uid = "" } = pod.metadata
  const owner = { apiVersion: "v1", kind: "Pod", name, uid, controller: true }
  try {
    const created = await actor.client.create<ResourceClaim>(resourceClaims, {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaim",
      metadata: {
        namespace,
        generateName: generatedPrefix(name, podClaim.name),
        annotations: { ...metadata?.annotations, [annotation]: podClaim.name },
        ...(metadata?.labels === undefined ? {} : { labels: metadata.labels }),
        ownerReferences: [owner],
      },
      spec,
    })
    const { name: madeName = "" } = created.metadata
    // Of a pod that was deleted meanwhile nothing would be forgotten any more.
    if (ctx.informers.of<Pod>(podResource).get(actor.tenant, namespace, name)?.metadata.uid === uid) {
      writes.wrote(uid, created)
      made.set(uid, (made.get(uid) ?? new Map<string, string>()).set(podClaim.name, madeName))
    }
    return madeName
  } catch (error) {
    if (isNamespaceTerminating(error)) throw error
    throw unexplained(`create ResourceClaim : ${errorMessage(error)}`, { cause: error })
  }
}

async function recordClaims(actor: Actor, pod: Pod, named: ReadonlyMap<string, string>): Promise<void> {
  const { namespace, name = "" } = pod.metadata
  const before = (pod.status?.resourceClaimStatuses ?? []).filter((each) => !named.has(each.name))
  const added = [...named].map(([claim, resourceClaimName]) => ({ name: claim, resourceClaimName }))
  const applied = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, uid: pod.metadata.uid },
    status: { resourceClaimStatuses: [...before, ...added] },
  }
  const options = { type: "apply" as const, subresource: "status", fieldManager, force: true }
  await actor.client.patch(podResource, namespace, name, applied, options)
}

/** Reserves claims for a pod that was bound without a scheduler, which would do it otherwise. */
async function reserve(ctx: ControllerContext, actor: Actor, pod: Pod): Promise<void> {
  const { namespace, name = "", uid = "" } = pod.metadata
  const wantedOf = wantedBy(pod)
  for (const podClaim of claimsOf(pod)) {
    const wanted = wantedOf(podClaim)
    if (wanted.state === "none") continue
    const found = wanted.state === "named" ? wanted.name : ""
    const claim = ctx.informers.of<ResourceClaim>(resourceClaims).get(actor.tenant, namespace, found)
    // In order: the claims after a missing one wait with it.
    if (claim === undefined) return
    if (!needsReservation(claim, pod)) continue
    if (wanted.state === "named" && wanted.generated && !isFor(claim, pod)) continue
    const reservedFor = [...(claim.status?.reservedFor ?? []), { resource: "pods", name, uid }]
    const reserved = { ...claim, status: { ...claim.status, reservedFor } }
    await actor.client.update<ResourceClaim>(resourceClaims, reserved, { subresource: "status" })
  }
}
