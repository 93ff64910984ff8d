// Rollouts: the ReplicaSets of a Deployment, their sizes, and the status.
// Source: k8s.io/kubernetes/pkg/controller/deployment.

import { selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import { controllerOf, type Deployment, type Pod, type ReplicaSet } from "../../apimachinery/object.ts"
import { deployments, pods as podResource, replicaSets } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { findCondition } from "../conditions.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { claim } from "../pods/claim.ts"
import { countIn } from "./annotations.ts"
import { deploymentKind } from "./new-set.ts"
import { askedRevision } from "./rollback.ts"
import { Rollout } from "./rollout.ts"
import { desiredReplicasAnnotation, isActiveSet, isRolling, replicasOf } from "./replicas.ts"
import { condition, progressDeadlineSeconds, withStatusCondition } from "./status.ts"

export function runDeployments(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<Deployment>(deployments)
  const sets = ctx.informers.of<ReplicaSet>(replicaSets)
  const pods = ctx.informers.of<Pod>(podResource)
  const controller = new Controller<Deployment>(ctx, { name: "deployment", primary: all, reads: [sets, pods] })
  const enqueueOwner = (tenant: string, set: ReplicaSet): void => {
    const owner = controllerOf(set)
    if (owner?.kind === "Deployment") controller.enqueue(tenant, set.metadata.namespace, owner.name)
    // Any Deployment of the namespace may adopt an orphan. Orphans are rare, and the check is cheap.
    else if (owner === undefined) controller.enqueueAll(tenant, set.metadata.namespace)
  }
  sets.subscribe({
    added: enqueueOwner,
    updated(tenant, set, previous) {
      if (controllerOf(previous)?.uid !== controllerOf(set)?.uid) enqueueOwner(tenant, previous)
      enqueueOwner(tenant, set)
    },
    deleted: enqueueOwner,
  })
  // Recreate waits until the last old pod is gone.
  pods.subscribe({
    deleted(tenant, pod) {
      const owner = controllerOf(pod)
      const set = owner?.kind === "ReplicaSet" ? sets.get(tenant, pod.metadata.namespace, owner.name) : undefined
      if (set !== undefined) enqueueOwner(tenant, set)
    },
  })
  return controller.run((key, actor) => reconcile(ctx, actor, key))
}

async function reconcile(ctx: ControllerContext, actor: Actor, key: Key): Promise<ReconcileResult> {
  const deployment = ctx.informers.of<Deployment>(deployments).get(key.tenant, key.namespace, key.name)
  if (deployment === undefined) return
  const client = actor.client
  if (equalIgnoringNulls(deployment.spec?.selector, {})) {
    const message = "This deployment is selecting all pods. A non-empty selector is required."
    actor.event(deployment, "Warning", "SelectingAll", message)
    return
  }
  const informer = ctx.informers.of<ReplicaSet>(replicaSets)
  const owned = await claim<ReplicaSet>({
    client,
    resource: replicaSets,
    owner: deployment,
    ownerKind: deploymentKind,
    ownerResource: deployments,
    selector: selectorFromLabelSelector(deployment.spec?.selector ?? {}),
    candidates: [
      ...informer.byIndex(key.tenant, "controller", deployment.metadata.uid ?? ""),
      ...informer.byIndex(key.tenant, "orphans", key.namespace),
    ],
  })
  const rollout = new Rollout(ctx, actor, deployment, owned)
  if (deployment.metadata.deletionTimestamp !== undefined) return rollout.observe()
  const paused = pausedCondition(deployment, ctx.clock.now())
  if (paused !== undefined) {
    await client.update(deployments, { ...deployment, status: paused }, { subresource: "status" })
    return // The status update enqueues the Deployment again.
  }
  if (deployment.spec?.paused === true) return rollout.scale()
  const revision = askedRevision(deployment)
  if (revision !== undefined) return rollout.rollBack(revision)
  if (isScaling(deployment, owned)) return rollout.scale()
  return isRolling(deployment) ? rollout.roll() : rollout.recreate()
}

/** Whether the Deployment was resized since its ReplicaSets were last resized. */
function isScaling(deployment: Deployment, owned: readonly ReplicaSet[]): boolean {
  return owned.filter(isActiveSet).some((set) => {
    const desired = countIn(set, desiredReplicasAnnotation)
    return desired !== undefined && desired !== replicasOf(deployment)
  })
}

/** Pausing and resuming change the condition, so that a pause does not count as a lack of progress. */
function pausedCondition(deployment: Deployment, now: number): NonNullable<Deployment["status"]> | undefined {
  if (progressDeadlineSeconds(deployment) === undefined) return undefined
  const current = findCondition(deployment.status?.conditions, "Progressing")
  if (current?.reason === "ProgressDeadlineExceeded") return undefined
  const isReported = current?.reason === "DeploymentPaused"
  const isPaused = deployment.spec?.paused === true
  if (isPaused === isReported) return undefined
  return withStatusCondition(
    deployment.status ?? {},
    isPaused
      ? condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused", now)
      : condition("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed", now),
  )
}
