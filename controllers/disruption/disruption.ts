// Computes how many pods of a PodDisruptionBudget may be evicted now; the eviction subresource decrements that number.
// Source: k8s.io/kubernetes/pkg/controller/disruption.

import { errorMessage } from "../../apimachinery/error-message.ts"
import { matches, selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import type { Deployment, Pod, ReplicaSet, StatefulSet } from "../../apimachinery/object.ts"
import { hasReason, StatusError } from "../../apimachinery/status.ts"
import {
  deployments,
  podDisruptionBudgets,
  pods as podResource,
  replicaSets,
  replicationControllers,
  statefulSets,
} from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { scaled } from "../deployment/replicas.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import type { ReplicaObject } from "../replicaset/kinds.ts"
import { roundPauseMs } from "../round-pause.ts"
import { expectedPods } from "./expected-pods.ts"
import { printLabelSelector } from "./selector-text.ts"
import { resetStaleCondition, staleAfterMs } from "./stale-condition.ts"
import { disruptedPods, failedStatus, healthyPods, statusOf, type Budget } from "./status.ts"

/** Prefix of keys of pods whose DisruptionTarget condition may be stale; no budget's name can contain it. */
const podPrefix = "pod:"

export function runDisruption(ctx: ControllerContext): Promise<void> {
  const budgets = ctx.informers.of<Budget>(podDisruptionBudgets)
  const pods = ctx.informers.of<Pod>(podResource)
  const reads = [
    pods,
    ctx.informers.of<Deployment>(deployments),
    ctx.informers.of<ReplicaSet>(replicaSets),
    ctx.informers.of<StatefulSet>(statefulSets),
    ctx.informers.of<ReplicaObject>(replicationControllers),
  ]
  const controller = new Controller<Budget>(ctx, {
    name: "disruption",
    eventSource: "controllermanager",
    primary: budgets,
    reads,
    others: (tenant) =>
      pods
        .list(tenant)
        .filter((pod) => isMarked(ctx, pod))
        .map(keyOf),
  })
  followPods(ctx, controller)
  return controller.run((key, actor) => reconcile(ctx, actor, key))
}

/** Whether its DisruptionTarget condition is or may become stale. */
const isMarked = ({ clock }: ControllerContext, pod: Pod): boolean => staleAfterMs(pod, clock.now()) !== undefined

const keyOf = ({ metadata: { namespace = "", name = "" } }: Pod): Omit<Key, "tenant"> => ({
  namespace,
  name: `${podPrefix}${name}`,
})

/** Pods enqueue the budgets that select them, and themselves while their DisruptionTarget condition may be stale. */
function followPods(ctx: ControllerContext, controller: Controller<Budget>): void {
  const pods = ctx.informers.of<Pod>(podResource)
  const enqueueStale = (tenant: string, pod: Pod): void => {
    const { namespace, name } = keyOf(pod)
    if (isMarked(ctx, pod)) controller.enqueue(tenant, namespace, name)
  }
  const changed = (tenant: string, pod: Pod): void => {
    const [chosen, ...others] = enqueueBudgets(ctx, controller, tenant, pod)
    if (chosen !== undefined && others.length > 0) warnOfSeveral(controller.actor(tenant), pod, chosen)
  }
  pods.subscribe({
    added(tenant, pod) {
      changed(tenant, pod)
      enqueueStale(tenant, pod)
    },
    updated(tenant, pod, previous) {
      // Upstream does not update the budgets that no longer select the pod until something else about them changes.
      if (!equalIgnoringNulls(pod.metadata.labels, previous.metadata.labels))
        enqueueBudgets(ctx, controller, tenant, previous)
      changed(tenant, pod)
      enqueueStale(tenant, pod)
    },
    deleted: changed,
  })
}

/** Returns the budgets that select the pod. */
function enqueueBudgets(
  ctx: ControllerContext,
  controller: Controller<Budget>,
  tenant: string,
  pod: Pod,
): readonly Budget[] {
  const budgets = ctx.informers.of<Budget>(podDisruptionBudgets)
  const found = budgets.list(tenant, pod.metadata.namespace).filter((budget) => selects(budget, pod))
  // Each round goes through all pods of the namespace.
  const pauseMs = roundPauseMs(ctx.informers.of<Pod>(podResource).count(tenant))
  for (const { metadata } of found) {
    const { namespace = "", name = "" } = metadata
    controller.enqueueAfter({ tenant, namespace, name }, pauseMs)
  }
  return found
}

/** If several budgets select a pod, upstream uses an arbitrary one and reports that. Here all of them count the pod. */
function warnOfSeveral(actor: Actor | undefined, pod: Pod, chosen: Budget): void {
  const { namespace = "", name = "" } = pod.metadata
  const which = `Chose "${chosen.metadata.name ?? ""}" arbitrarily.`
  const text = `Pod "${namespace}"/"${name}" matches multiple PodDisruptionBudgets.  ${which}`
  actor?.event(pod, "Warning", "MultiplePodDisruptionBudgets", text)
}

const selects = ({ spec }: Budget, pod: Pod): boolean =>
  matches(selectorFromLabelSelector(spec?.selector), pod.metadata.labels ?? {})

async function reconcile(ctx: ControllerContext, actor: Actor, key: Key): Promise<ReconcileResult> {
  const { tenant, namespace, name } = key
  const client = actor.client
  const pods = ctx.informers.of<Pod>(podResource)
  if (name.startsWith(podPrefix)) {
    return resetStaleCondition(client, pods.get(tenant, namespace, name.slice(podPrefix.length)), ctx.clock.now())
  }
  const budget = ctx.informers.of<Budget>(podDisruptionBudgets).get(tenant, namespace, name)
  if (budget === undefined) return
  try {
    return await sync(ctx, actor, budget)
  } catch (error) {
    if (hasReason(error, "Conflict")) throw error
    const status = failedStatus(budget, errorMessage(error), ctx.clock.now())
    if (!equalIgnoringNulls(status, budget.status)) {
      await client.update<Budget>(podDisruptionBudgets, { ...budget, status }, { subresource: "status" })
    }
    // A write that failed, or a scale that could not be read now, may succeed later, of which nothing tells; of all else a change of a pod does.
    if (error instanceof StatusError) throw error
  }
}

async function sync(ctx: ControllerContext, actor: Actor, budget: Budget): Promise<ReconcileResult> {
  const now = ctx.clock.now()
  const pods = ctx.informers.of<Pod>(podResource).list(actor.tenant, budget.metadata.namespace)
  const selected = pods.filter((pod) => selects(budget, pod))
  if (selected.length === 0) actor.event(budget, "Normal", "NoPods", "No matching pods found")
  const wanted = await desired(ctx, actor, budget, selected)
  const disrupted = disruptedPods(budget, selected, now)
  for (const pod of disrupted.stayed) {
    const { namespace = "" } = budget.metadata
    const text = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`
    actor.event(pod, "Warning", "NotDeleted", text)
  }
  const currentHealthy = healthyPods(selected, disrupted.pods)
  const status = statusOf(budget, { ...wanted, currentHealthy, disruptedPods: disrupted.pods }, now)
  if (status !== budget.status) {
    const client = actor.client
    await client.update<Budget>(podDisruptionBudgets, { ...budget, status }, { subresource: "status" })
  }
  return disrupted.recheckAt === undefined ? undefined : { requeueAfterMs: disrupted.recheckAt - now + 1 }
}

async function desired(
  ctx: ControllerContext,
  actor: Actor,
  budget: Budget,
  pods: readonly Pod[],
): Promise<{ expectedPods: number; desiredHealthy: number }> {
  const { minAvailable, maxUnavailable, selector } = budget.spec ?? {}
  if (maxUnavailable === undefined && typeof minAvailable !== "string") {
    return minAvailable === undefined
      ? { expectedPods: 0, desiredHealthy: 0 }
      : { expectedPods: pods.length, desiredHealthy: minAvailable }
  }
  let expected
  try {
    expected = await expectedPods(ctx, actor.tenant, actor.client, pods)
  } catch (error) {
    const text = `Failed to calculate the number of expected pods: ${errorMessage(error)}`
    actor.event(budget, "Warning", "CalculateExpectedPodCountFailed", text)
    // Of a kind without the path of its replicas, or whose scale may not be read, the answer stays the same.
    const mayPass = hasReason(error, "TooManyRequests", "ServiceUnavailable", "Timeout")
    throw mayPass ? error : new Error(errorMessage(error), { cause: error })
  }
  if (expected.unmanaged.length > 0) {
    const text =
      `Pods selected by this PodDisruptionBudget (selector: ${printLabelSelector(selector)}) were found to be unmanaged. ` +
      "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
      'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
    actor.event(budget, "Warning", "UnmanagedPods", text)
  }
  const { count } = expected
  const desiredHealthy =
    maxUnavailable === undefined
      ? scaled(minAvailable, count, true)
      : Math.max(0, count - scaled(maxUnavailable, count, true))
  return { expectedPods: count, desiredHealthy }
}
