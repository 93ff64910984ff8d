// One pod on each eligible node. Source: k8s.io/kubernetes/pkg/controller/daemon.

import { matches, selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import { controllerOf, type KubeObject, type Node, type Pod } from "../../apimachinery/object.ts"
import { controllerRevisions, daemonSets, nodes as nodeResource, pods as podResource } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { Controller, type ControllerContext, type Key } from "../context.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { revisionHashLabel, truncateHistory, type ControllerRevision } from "../history/revisions.ts"
import { claim } from "../pods/claim.ts"
import { Expectations } from "../pods/expectations.ts"
import { nextAvailabilityMs } from "../pods/pod-state.ts"
import { FailedBackoff } from "./failed-backoff.ts"
import { historyOf } from "./history.ts"
import { daemonSetKind, placement } from "./placement.ts"
import { Round } from "./round.ts"
import type { DaemonSet } from "./types.ts"

export function runDaemonSets(ctx: ControllerContext): Promise<void> {
  const sets = ctx.informers.of<DaemonSet>(daemonSets)
  const pods = ctx.informers.of<Pod>(podResource)
  const nodes = ctx.informers.of<Node>(nodeResource)
  const revisions = ctx.informers.of<ControllerRevision>(controllerRevisions)
  const expectations = new Expectations(ctx.clock)
  const failedBackoff = new FailedBackoff()
  const controller = new Controller<DaemonSet>(ctx, {
    name: "daemonset",
    primary: sets,
    reads: [pods, nodes, revisions],
  })
  const enqueue = (tenant: string, owned: KubeObject): void => {
    const owner = controllerOf(owned)
    if (owner?.kind === "DaemonSet") controller.enqueue(tenant, owned.metadata.namespace, owner.name)
    if (owner !== undefined) return
    for (const set of sets.list(tenant, owned.metadata.namespace)) {
      if (matches(selectorFromLabelSelector(set.spec?.selector), owned.metadata.labels ?? {}))
        controller.enqueueObject(tenant, set)
    }
  }
  const enqueueBoth = (tenant: string, owned: KubeObject, previous: KubeObject): void => {
    if (controllerOf(previous)?.uid !== controllerOf(owned)?.uid) enqueue(tenant, previous)
    enqueue(tenant, owned)
  }
  pods.subscribe({
    added(tenant, pod) {
      expectations.creationObserved(controllerOf(pod)?.uid ?? "")
      enqueue(tenant, pod)
    },
    updated(tenant, pod, previous) {
      if (pod.metadata.deletionTimestamp !== undefined) {
        expectations.deletionObserved(controllerOf(pod)?.uid ?? "", pod.metadata.uid ?? "")
      }
      enqueueBoth(tenant, pod, previous)
    },
    deleted(tenant, pod) {
      expectations.deletionObserved(controllerOf(pod)?.uid ?? "", pod.metadata.uid ?? "")
      enqueue(tenant, pod)
    },
  })
  revisions.subscribe({
    added(tenant, revision) {
      if (controllerOf(revision) === undefined) enqueue(tenant, revision)
    },
    updated: enqueueBoth,
    deleted: enqueue,
  })
  /** Enqueues only the sets that have to create or delete a pod on the node. */
  const nodeChanged = (tenant: string, node: Node): void => {
    // All sets are enqueued at synced.
    if (!nodes.isSynced(tenant)) return
    const owners = pods.byIndex(tenant, "node", node.metadata.name ?? "").map((pod) => {
      const { kind, name } = controllerOf(pod) ?? {}
      return kind === "DaemonSet" ? `${pod.metadata.namespace}/${name}` : undefined
    })
    const present = new Set(owners)
    for (const set of sets.list(tenant)) {
      const { run, stay } = placement(set, node)
      const isThere = present.has(`${set.metadata.namespace}/${set.metadata.name}`)
      // A misscheduled pod may have become correctly scheduled.
      const isOutdated = isThere ? !stay || (set.status?.numberMisscheduled ?? 0) > 0 : run
      if (isOutdated) controller.enqueueObject(tenant, set)
    }
  }
  nodes.subscribe({
    added: nodeChanged,
    updated(tenant, node, previous) {
      const isSame =
        equalIgnoringNulls(node.metadata.labels, previous.metadata.labels) &&
        equalIgnoringNulls(node.spec?.taints, previous.spec?.taints)
      if (!isSame) nodeChanged(tenant, node)
    },
    deleted: (tenant) => controller.enqueueAll(tenant),
  })
  sets.subscribe({
    deleted(_tenant, { metadata: { uid = "" } }) {
      expectations.forget(uid)
      failedBackoff.forget(`${uid}/`)
    },
  })
  return controller.run((key) => reconcile({ ctx, controller, expectations, failedBackoff }, key))
}

interface Parts {
  ctx: ControllerContext
  controller: Controller<DaemonSet>
  expectations: Expectations
  failedBackoff: FailedBackoff
}

async function reconcile(parts: Parts, key: Key): Promise<ReconcileResult> {
  const { ctx, controller, expectations, failedBackoff } = parts
  const { tenant } = key
  const set = ctx.informers.of<DaemonSet>(daemonSets).get(tenant, key.namespace, key.name)
  if (set === undefined || set.metadata.deletionTimestamp !== undefined) return
  const client = controller.client(tenant)
  const uid = set.metadata.uid ?? ""
  const informer = ctx.informers.of<Pod>(podResource)
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
  const round = new Round({ ctx, actor: controller, expectations, failedBackoff, tenant, set, pods, nodes, hash })
  const mayAct = expectations.satisfied(uid)
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
  if (!equalIgnoringNulls(status, set.status))
    await client.update(daemonSets, { ...set, status }, { subresource: "status" })
  if (failure !== undefined) throw failure
  const live = new Set(pods.map((pod) => pod.metadata.labels?.[revisionHashLabel]))
  if (mayAct) {
    await truncateHistory(client, set, history.old, ({ metadata }) => live.has(metadata.labels?.[revisionHashLabel]))
  }
  const available = nextAvailabilityMs(pods, set.spec?.minReadySeconds ?? 0, ctx.clock.now())
  const times = [available, round.waitMs].filter((ms) => ms !== undefined)
  return times.length === 0 ? undefined : { requeueAfterMs: Math.min(...times) }
}
