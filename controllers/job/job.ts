// Runs pods until enough have succeeded, or too many failed. Facts: k8s.io/kubernetes/pkg/controller/job.

import { selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import { controllerOf, type Job, type Pod } from "../../apimachinery/object.ts"
import { jobs, pods as podResource } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { Controller, type ControllerContext, type Key } from "../context.ts"
import { findCondition } from "../conditions.ts"
import { claim } from "../pods/claim.ts"
import type { Failures } from "./backoff.ts"
import { Expectations } from "../pods/expectations.ts"
import { isTerminating } from "../pods/pod-state.ts"
import { Round } from "./round.ts"
import { isTracked, removeFinalizer, trackingFinalizer } from "./tracking.ts"

const jobKind = { apiVersion: "batch/v1", kind: "Job" } as const

/** A key of this name stands for the pods of its namespace that lost their Job. */
const orphans = ""

export function isFinishedJob(job: Job): boolean {
  return ["Complete", "Failed"].some((type) => findCondition(job.status?.conditions, type)?.status === "True")
}

export function runJobs(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<Job>(jobs)
  const pods = ctx.informers.of<Pod>(podResource)
  const expectations = new Expectations(ctx.clock)
  const backoffs = new Map<string, Failures>()
  const controller = new Controller<Job>(ctx, { name: "job", primary: all, reads: [pods] })
  const enqueue = (tenant: string, pod: Pod): void => {
    const owner = controllerOf(pod)
    if (owner !== undefined && owner.kind !== "Job") return
    const job = owner && all.get(tenant, pod.metadata.namespace, owner.name)
    if (job !== undefined && job.metadata.uid === owner?.uid) controller.enqueueObject(tenant, job)
    else if (isTracked(pod)) controller.enqueue(tenant, pod.metadata.namespace, orphans)
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
  all.subscribe({
    deleted(tenant, job) {
      controller.enqueue(tenant, job.metadata.namespace, orphans)
      expectations.forget(job.metadata.uid ?? "")
      backoffs.delete(job.metadata.uid ?? "")
    },
  })
  return controller.run((key) => reconcile({ ctx, controller, expectations, backoffs }, key))
}

interface Parts {
  ctx: ControllerContext
  controller: Controller<Job>
  expectations: Expectations
  backoffs: Map<string, Failures>
}

async function reconcile({ ctx, controller, expectations, backoffs }: Parts, key: Key): Promise<ReconcileResult> {
  const { tenant } = key
  if (key.name === orphans) return releaseOrphans(ctx, controller, key)
  const client = controller.client(tenant)
  const job = ctx.informers.of<Job>(jobs).get(tenant, key.namespace, key.name)
  // Somebody else's (spec.managedBy) is left alone with all of its pods.
  const managedBy = job?.spec?.managedBy
  if (job === undefined || (managedBy !== undefined && managedBy !== "kubernetes.io/job-controller")) return
  const informer = ctx.informers.of<Pod>(podResource)
  const pods = await claim<Pod>({
    client,
    resource: podResource,
    owner: job,
    ownerKind: jobKind,
    ownerResource: jobs,
    finalizer: trackingFinalizer,
    selector: selectorFromLabelSelector(job.spec?.selector),
    candidates: [
      ...informer.byIndex(tenant, "controller", job.metadata.uid ?? ""),
      ...informer.byIndex(tenant, "orphans", key.namespace),
    ],
  })
  if (isFinishedJob(job)) {
    backoffs.delete(job.metadata.uid ?? "")
    await Promise.all(pods.map((pod) => removeFinalizer(client, pod)))
    return
  }
  const now = ctx.clock.now()
  return new Round({ actor: controller, expectations, backoffs, tenant, job, pods, now }).run()
}

/** Without their Job nobody would ever take the finalizer off. */
async function releaseOrphans(ctx: ControllerContext, controller: Controller<Job>, key: Key): Promise<void> {
  const client = controller.client(key.tenant)
  const all = ctx.informers.of<Job>(jobs)
  const lost = ctx.informers
    .of<Pod>(podResource)
    .list(key.tenant, key.namespace)
    .filter((pod) => {
      const owner = controllerOf(pod)
      if (owner !== undefined && owner.kind !== "Job") return false
      return isTracked(pod) && all.get(key.tenant, key.namespace, owner?.name ?? "")?.metadata.uid !== owner?.uid
    })
  await Promise.all(lost.map((pod) => removeFinalizer(client, pod)))
}
