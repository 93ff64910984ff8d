// One pod on each eligible node. Source: k8s.io/kubernetes/pkg/controller/daemon.

import { selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import type { Node, Pod } from "../../apimachinery/object.ts"
import { controllerRevisions, daemonSets, nodes as nodeResource, pods as podResource } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { revisionHashLabel, truncateHistory, type ControllerRevision } from "../history/revisions.ts"
import { claim } from "../pods/claim.ts"
import { Expectations } from "../pods/expectations.ts"
import { nextAvailability } from "../pods/pod-state.ts"
import { roundPauseMs } from "../round-pause.ts"
import { followNodes, followPods, nodesOf } from "./events.ts"
import { FailedBackoff } from "./failed-backoff.ts"
import { historyOf } from "./history.ts"
import { daemonSetKind } from "./placement.ts"
import { Round } from "./round.ts"
import type { DaemonSet, DaemonSetStatus } from "./types.ts"

export function runDaemonSets(ctx: ControllerContext): Promise<void> {
  const sets = ctx.informers.of<DaemonSet>(daemonSets)
  const pods = ctx.informers.of<Pod>(podResource)
  const nodes = ctx.informers.of<Node>(nodeResource)
  const revisions = ctx.informers.of<ControllerRevision>(controllerRevisions)
  const expectations = new Expectations(ctx.clock, pods)
  const failedBackoff = new FailedBackoff(ctx.clock)
  const controller = new Controller<DaemonSet>(ctx, {
    name: "daemonset",
    primary: sets,
    reads: [pods, nodes, revisions],
    statusPauseMs: (set) => roundPauseMs(nodesOf(set)),
  })
  followPods({ sets, pods, revisions, controller, expectations })
  followNodes({ sets, pods, nodes, controller })
  sets.subscribe({
    forgotten({ metadata: { uid = "" } }) {
      expectations.forget(uid)
      failedBackoff.forget(uid)
    },
  })
  return controller.run((key, actor) => reconcile({ ctx, actor, expectations, failedBackoff }, key))
}

interface Parts {
  ctx: ControllerContext
  actor: Actor
  expectations: Expectations
  failedBackoff: FailedBackoff
}

async function reconcile(parts: Parts, key: Key): Promise<ReconcileResult> {
  const { ctx, actor, expectations, failedBackoff } = parts
  const { tenant } = key
  const set = ctx.informers.of<DaemonSet>(daemonSets).get(tenant, key.namespace, key.name)
  if (set === undefined || set.metadata.deletionTimestamp !== undefined) return
  const client = actor.client
  const uid = set.metadata.uid ?? ""
  const informer = ctx.informers.of<Pod>(podResource)
  // Asked before the pods are read: those that appear while a revision is created are not among them.
  const mayAct = expectations.satisfied(uid)
  const owned = { client, owner: set, ownerKind: daemonSetKind, ownerResource: daemonSets }
  const claimed = await claim<Pod>({
    ...owned,
    resource: podResource,
    selector: selectorFromLabelSelector(set.spec?.selector),
    candidates: [...informer.byIndex(tenant, "controller", uid), ...informer.byIndex(tenant, "orphans", key.namespace)],
  })
  const history = await historyOf({ ...owned, informers: ctx.informers, tenant }, claimed)
  const { hash, collisionCount, pods } = history
  const nodes = ctx.informers.of<Node>(nodeResource).list(tenant)
  const now = ctx.clock.now()
  const round = new Round({ actor, expectations, failedBackoff, set, pods, nodes, hash, now })
  let failure: unknown
  try {
    if (mayAct) await round.run()
  } catch (error) {
    failure = error
  }
  // observedGeneration stays unchanged if nothing has been done for the new generation yet.
  const { observedGeneration } = mayAct ? { observedGeneration: set.metadata.generation ?? 0 } : (set.status ?? {})
  const status = {
    ...round.status(),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
  }
  if (isOutdated(set, status)) await client.update(daemonSets, { ...set, status }, { subresource: "status" })
  if (failure !== undefined) throw failure
  const live = new Set(pods.map((pod) => pod.metadata.labels?.[revisionHashLabel]))
  if (mayAct) {
    await truncateHistory(client, set, history.old, ({ metadata }) => live.has(metadata.labels?.[revisionHashLabel]))
  }
  const available = nextAvailability(pods, set.spec?.minReadySeconds ?? 0, now)
  const times = [available === undefined ? undefined : available - ctx.clock.now(), round.waitMs]
  const next = Math.min(...times.filter((ms) => ms !== undefined))
  return expectations.bound(uid, next === Number.POSITIVE_INFINITY ? undefined : { requeueAfterMs: next })
}

/** A generation that somebody wrote and that is not there yet stays until something else changes, as upstream. */
function isOutdated({ status: before }: DaemonSet, status: DaemonSetStatus): boolean {
  const { observedGeneration = 0 } = before ?? {}
  const greatest = Math.max(observedGeneration, status.observedGeneration ?? 0)
  return !equalIgnoringNulls({ ...status, observedGeneration: greatest }, { ...before, observedGeneration })
}
