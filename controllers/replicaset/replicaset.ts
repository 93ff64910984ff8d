// Keeps the number of pods that a ReplicaSet or ReplicationController specifies. Source:
// k8s.io/kubernetes/pkg/controller/replicaset.

import { matches, selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import { controllerOf, type Pod } from "../../apimachinery/object.ts"
import { pods as podResource } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { claim } from "../pods/claim.ts"
import { Expectations } from "../pods/expectations.ts"
import { controllerReference, createPod, deletePod, podFromTemplate } from "../pods/pod-control.ts"
import { isActive, isFinished, isTerminating, nextAvailability } from "../pods/pod-state.ts"
import { slowStart } from "../pods/slow-start.ts"
import { settleAll } from "../settle-all.ts"
import { StatusHold } from "../pods/status-hold.ts"
import { podsToDelete } from "./deletion-order.ts"
import { replicaSetKind, replicationControllerKind, type ReplicaKind, type ReplicaObject } from "./kinds.ts"
import { followReplicas } from "./events.ts"
import { hasArrived, hasWorsened, statusOf } from "./status.ts"

/** Maximum number of pods created or deleted in one sync; the next sync follows when they have been observed. */
const burst = 500

export const runReplicaSets = (ctx: ControllerContext): Promise<void> => run(ctx, replicaSetKind)
export const runReplicationControllers = (ctx: ControllerContext): Promise<void> => run(ctx, replicationControllerKind)

function run(ctx: ControllerContext, kind: ReplicaKind): Promise<void> {
  const owners = ctx.informers.of<ReplicaObject>(kind.resource)
  const pods = ctx.informers.of<Pod>(podResource)
  const expectations = new Expectations(ctx.clock, pods)
  const hold = new StatusHold(ctx.clock)
  const forget = (tenant: string): void => hold.forget(tenant)
  const controller = new Controller(ctx, { name: kind.name, primary: owners, reads: [pods], forget })
  followReplicas({ kind, owners, pods, controller, expectations })
  return controller.run((key, actor) => reconcile({ ctx, kind, actor, expectations, hold }, key))
}

interface Parts {
  ctx: ControllerContext
  kind: ReplicaKind
  actor: Actor
  expectations: Expectations
  hold: StatusHold
}

async function reconcile(parts: Parts, key: Key): Promise<ReconcileResult> {
  const { ctx, kind, expectations, hold } = parts
  const object = ctx.informers.of<ReplicaObject>(kind.resource).get(key.tenant, key.namespace, key.name)
  if (object === undefined) return hold.release(key)
  const uid = object.metadata.uid ?? ""
  const owned = ctx.informers.of<Pod>(podResource).byIndex(key.tenant, "controller", uid)
  const needsSync = expectations.satisfied(uid)
  return expectations.bound(uid, await sync(parts, key, { object, owned, needsSync }))
}

interface Observed {
  object: ReplicaObject
  owned: Pod[]
  /** They show all that was created and deleted. */
  needsSync: boolean
}

async function sync(parts: Parts, key: Key, { object, owned, needsSync }: Observed): Promise<ReconcileResult> {
  const { ctx, kind, actor, hold } = parts
  const orphans = ctx.informers.of<Pod>(podResource).byIndex(key.tenant, "orphans", key.namespace)
  const selector = selectorFromLabelSelector(kind.selector(object))
  const active = await claim<Pod>({
    client: actor.client,
    resource: podResource,
    owner: object,
    ownerKind: kind,
    ownerResource: kind.resource,
    selector,
    candidates: [...owned, ...orphans].filter(isActive),
  })
  const isAdjusted = needsSync && object.metadata.deletionTimestamp === undefined
  const failure = isAdjusted ? await adjust(parts, object, active) : undefined
  const now = ctx.clock.now()
  const terminating = owned.filter(
    (pod) => isTerminating(pod) && !isFinished(pod) && matches(selector, pod.metadata.labels ?? {}),
  )
  const status = statusOf(object, {
    active,
    terminating: kind.countsTerminating ? terminating : undefined,
    failure,
    now,
  })
  // Of new pods, whose events enqueue the set again, the status is written then; of lost ones, before their replacements.
  const makesPods = isAdjusted && active.length < (object.spec?.replicas ?? 1)
  // That a pod is replaced which never was available is progress of a Deployment, too.
  const hasLost = hasWorsened(object, status) || (makesPods && active.length < (object.status?.replicas ?? 0))
  if (makesPods && failure === undefined && !hasLost) return
  const isSettled = equalIgnoringNulls(status, object.status)
  // While deletions of its own are not yet observed, more will follow.
  const isWorse = needsSync && hasLost
  const isDue = isSettled || failure !== undefined || hasArrived(object, status) || isWorse
  const heldMs = isDue ? 0 : hold.remainingMs(key)
  if (heldMs > 0) return { requeueAfterMs: heldMs }
  hold.release(key)
  if (!isSettled) {
    await actor.client.update(kind.resource, { ...object, status }, { subresource: "status" })
  }
  if (failure !== undefined) throw failure
  const next = nextAvailability(active, object.spec?.minReadySeconds ?? 0, now)
  return next === undefined ? undefined : { requeueAfterMs: next - ctx.clock.now() }
}

/** Creates or deletes pods; returns the first error. */
async function adjust(parts: Parts, object: ReplicaObject, active: Pod[]): Promise<unknown> {
  const surplus = active.length - (object.spec?.replicas ?? 1)
  if (surplus < 0) return makePods(parts, object, Math.min(-surplus, burst))
  if (surplus > 0) return removePods(parts, object, active, Math.min(surplus, burst))
  return undefined
}

async function makePods({ kind, actor, expectations }: Parts, object: ReplicaObject, count: number): Promise<unknown> {
  const uid = object.metadata.uid ?? ""
  expectations.expect(actor.tenant, uid, count, [])
  const pod = podFromTemplate(object.spec?.template, object, controllerReference(object, kind))
  using pace = actor.pace(count)
  const { succeeded, error } = await slowStart(pace, count, async () => {
    try {
      await createPod(actor, object, pod)
    } catch (failure) {
      if (!isNamespaceTerminating(failure)) throw failure
      // The namespace is being deleted. The pod will not be observed, and the error needs no report.
      expectations.creationObserved(uid)
    }
  })
  for (let missing = count - succeeded; missing > 0; missing--) expectations.creationObserved(uid)
  return error
}

async function removePods(
  { ctx, actor, expectations }: Parts,
  object: ReplicaObject,
  active: Pod[],
  count: number,
): Promise<unknown> {
  const uid = object.metadata.uid ?? ""
  const victims = podsToDelete(active, relatedPods(ctx, actor.tenant, object), count, ctx.clock.now())
  expectations.expect(actor.tenant, uid, 0, victims)
  using pace = actor.pace(victims.length)
  return settleAll(pace, victims, async (pod) => {
    try {
      const deleted = await deletePod(actor, object, pod)
      if (!deleted) expectations.deletionObserved(uid, pod.metadata.uid ?? "")
    } catch (failure) {
      expectations.deletionObserved(uid, pod.metadata.uid ?? "")
      throw failure
    }
  })
}

/** The pods of all ReplicaSets of the same Deployment, including this one; none if it has no Deployment. */
function relatedPods(ctx: ControllerContext, tenant: string, object: ReplicaObject): Pod[] {
  const pods = ctx.informers.of<Pod>(podResource)
  const parent = controllerOf(object)
  if (parent === undefined) return []
  return ctx.informers
    .of<ReplicaObject>(replicaSetKind.resource)
    .byIndex(tenant, "controller", parent.uid)
    .flatMap((sibling) => pods.byIndex(tenant, "controller", sibling.metadata.uid ?? ""))
}
