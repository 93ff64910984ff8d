// Runs pods until enough have succeeded or too many have failed. Source: k8s.io/kubernetes/pkg/controller/job.

import { selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import { controllerOf, type Job, type Pod } from "../../apimachinery/object.ts"
import { jobs, pods as podResource } from "../../client/resources.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { claim } from "../pods/claim.ts"
import type { Failures } from "./backoff.ts"
import { Expectations } from "../pods/expectations.ts"
import { settleAll } from "../settle-all.ts"
import { staleRetryMs, WriteTracker } from "../write-tracker.ts"
import { followJobs, isForNow, lostPods, mayBeLost, orphans } from "./events.ts"
import { isFinishedJob } from "./finished.ts"
import { Round, type JobMemory } from "./round.ts"
import { isTracked, removeFinalizer, trackingFinalizer } from "./tracking.ts"

const jobKind = { apiVersion: "batch/v1", kind: "Job" } as const

export function runJobs(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<Job>(jobs)
  const pods = ctx.informers.of<Pod>(podResource)
  const controller = new Controller<Job>(ctx, {
    name: "job",
    primary: all,
    reads: [pods],
    matters: isForNow,
    others: (tenant) => {
      const lost = pods.list(tenant).filter((pod) => mayBeLost(pod) && isLost(all, tenant, pod))
      return [...new Set(lost.map(({ metadata }) => metadata.namespace ?? ""))].map((namespace) => ({
        namespace,
        name: lostPods,
      }))
    },
  })
  const memory: JobMemory = {
    expectations: new Expectations(ctx.clock, pods),
    backoffs: new Map<string, Failures | undefined>(),
    statusWrites: new WriteTracker(ctx.clock),
    podWrites: new WriteTracker(ctx.clock),
  }
  followJobs({ jobs: all, pods, controller, expectations: memory.expectations })
  all.subscribe({ forgotten: ({ metadata: { uid = "" } }) => forget(memory, uid) })
  return controller.run((key, actor) => reconcile({ ctx, actor, memory }, key))
}

function forget({ expectations, backoffs, statusWrites, podWrites }: JobMemory, uid: string): void {
  expectations.forget(uid)
  backoffs.delete(uid)
  statusWrites.forget(uid)
  podWrites.forget(uid)
}

interface Parts {
  ctx: ControllerContext
  actor: Actor
  memory: JobMemory
}

async function reconcile({ ctx, actor, memory }: Parts, key: Key): Promise<ReconcileResult> {
  const { tenant, namespace } = key
  if (key.name === orphans || key.name === lostPods) return releaseOrphans(ctx, actor, key)
  const client = actor.client
  const job = ctx.informers.of<Job>(jobs).get(tenant, namespace, key.name)
  // If spec.managedBy names another controller, the Job and its pods are left alone.
  const managedBy = job?.spec?.managedBy
  if (job === undefined || (managedBy !== undefined && managedBy !== "kubernetes.io/job-controller")) return
  const informer = ctx.informers.of<Pod>(podResource)
  const { uid = "" } = job.metadata
  const controlled = informer.byIndex(tenant, "controller", uid)
  if (isFinishedJob(job)) {
    memory.backoffs.delete(uid)
    await releaseAll(actor, controlled)
    return
  }
  // With outdated state, pods would be counted and created twice.
  const isSeen =
    memory.statusWrites.isSeen(uid, () => job) &&
    memory.podWrites.isSeen(uid, (pod) => informer.get(tenant, namespace, pod))
  if (!isSeen) return { requeueAfterMs: staleRetryMs }
  const pods = await claim<Pod>({
    client,
    resource: podResource,
    owner: job,
    ownerKind: jobKind,
    ownerResource: jobs,
    finalizer: trackingFinalizer,
    selector: selectorFromLabelSelector(job.spec?.selector),
    candidates: [...controlled, ...informer.byIndex(tenant, "orphans", namespace)],
  })
  const now = ctx.clock.now()
  return memory.expectations.bound(uid, await new Round({ ...memory, actor, job, pods, now }).run())
}

async function releaseOrphans(ctx: ControllerContext, actor: Actor, key: Key): Promise<void> {
  const all = ctx.informers.of<Job>(jobs)
  const inNamespace = ctx.informers.of<Pod>(podResource).list(key.tenant, key.namespace)
  await releaseAll(
    actor,
    inNamespace.filter((pod) => (key.name === orphans || mayBeLost(pod)) && isLost(all, key.tenant, pod)),
  )
}

/** Without its Job, nothing else would remove the finalizer from the pod. */
function isLost(all: TenantInformer<Job>, tenant: string, pod: Pod): boolean {
  const owner = controllerOf(pod)
  if (!isTracked(pod) || owner === undefined) return isTracked(pod)
  const isJob = owner.kind === jobKind.kind && owner.apiVersion === jobKind.apiVersion
  return isJob && all.get(tenant, pod.metadata.namespace, owner.name)?.metadata.uid !== owner.uid
}

async function releaseAll(actor: Actor, pods: readonly Pod[]): Promise<void> {
  const tracked = pods.filter(isTracked)
  using pace = actor.pace(tracked.length)
  const failure = await settleAll(pace, tracked, async (pod) => void (await removeFinalizer(actor.client, pod)))
  if (failure !== undefined) throw failure
}
