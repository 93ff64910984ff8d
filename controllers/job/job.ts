// Runs pods until enough have succeeded, or too many failed. Facts: k8s.io/kubernetes/pkg/controller/job.

import { selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import { controllerOf, type Job, type Pod } from "../../apimachinery/object.ts"
import { jobs, pods as podResource } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { Controller, type ControllerContext, type Key } from "../context.ts"
import { findCondition } from "../conditions.ts"
import { claim } from "../pods/claim.ts"
import { Expectations } from "../pods/expectations.ts"
import { isTerminating } from "../pods/pod-state.ts"
import { Round } from "./round.ts"
import { isTracked, removeFinalizer } from "./tracking.ts"

export const jobKind = { apiVersion: "batch/v1", kind: "Job" } as const

/** A key of this name stands for pods of the namespace that lost their Job. */
const orphans = ""

export function isFinishedJob(job: Job): boolean {
  return ["Complete", "Failed"].some((type) => findCondition(job.status?.conditions, type)?.status === "True")
}

export function runJobs(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<Job>(jobs)
  const pods = ctx.informers.of<Pod>(podResource)
  const expectations = new Expectations(ctx.clock)
  const controller = new Controller<Job>(ctx, { name: "job", primary: all, reads: [pods] })
  const enqueue = (tenant: string, pod: Pod): void => {
    const owner = controllerOf(pod)
    if (owner?.kind === "Job") controller.enqueue(tenant, pod.metadata.namespace, owner.name)
    else if (owner === undefined && isTracked(pod)) controller.enqueue(tenant, pod.metadata.namespace, orphans)
  }
  pods.subscribe({
    added(tenant, pod) {
      if (!isTerminating(pod)) expectations.creationObserved(controllerOf(pod)?.uid ?? "")
      enqueue(tenant, pod)
    },
    updated(tenant, pod) {
      if (isTerminating(pod)) expectations.deletionObserved(controllerOf(pod)?.uid ?? "", pod.metadata.uid ?? "")
      enqueue(tenant, pod)
    },
    deleted(tenant, pod) {
      expectations.deletionObserved(controllerOf(pod)?.uid ?? "", pod.metadata.uid ?? "")
      enqueue(tenant, pod)
    },
  })
  all.subscribe({ deleted: (_tenant, job) => expectations.forget(job.metadata.uid ?? "") })
  return controller.run((key) => reconcile(ctx, controller, expectations, key))
}

async function reconcile(
  ctx: ControllerContext,
  controller: Controller<Job>,
  expectations: Expectations,
  key: Key,
): Promise<ReconcileResult> {
  const { tenant } = key
  const client = controller.client(tenant)
  const job = ctx.informers.of<Job>(jobs).get(tenant, key.namespace, key.name)
  await releaseOrphans(ctx, controller, key, job)
  // Somebody else's (spec.managedBy), or on its way out: its pods are released when it is gone.
  const managedBy = job?.spec?.managedBy
  if (job === undefined || (managedBy !== undefined && managedBy !== "kubernetes.io/job-controller")) return
  const informer = ctx.informers.of<Pod>(podResource)
  const pods = await claim<Pod>({
    client,
    resource: podResource,
    owner: job,
    ownerKind: jobKind,
    ownerResource: jobs,
    selector: selectorFromLabelSelector(job.spec?.selector),
    candidates: [
      ...informer.byIndex(tenant, "controller", job.metadata.uid ?? ""),
      ...informer.byIndex(tenant, "orphans", key.namespace),
    ],
  })
  if (isFinishedJob(job) || job.metadata.deletionTimestamp !== undefined) {
    for (const pod of pods) await removeFinalizer(client, pod)
    return
  }
  return new Round({ ctx, actor: controller, expectations, tenant, job, pods }).run()
}

/** Without their Job nobody would ever take the finalizer off. */
async function releaseOrphans(
  ctx: ControllerContext,
  controller: Controller<Job>,
  key: Key,
  job: Job | undefined,
): Promise<void> {
  if (job !== undefined) return
  const client = controller.client(key.tenant)
  for (const pod of ctx.informers.of<Pod>(podResource).list(key.tenant, key.namespace)) {
    const owner = controllerOf(pod)
    const isOrphan = key.name === orphans ? owner === undefined : owner?.kind === "Job" && owner.name === key.name
    if (isOrphan && isTracked(pod)) await removeFinalizer(client, pod)
  }
}
