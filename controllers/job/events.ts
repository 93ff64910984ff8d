// When a Job is reconciled: changes of its pods and writes of its status are batched for a second, so that pods that fail together
// are counted together. Source: k8s.io/kubernetes/pkg/controller/job/job_controller.go (addPod … enqueueSyncJobBatched).

import { equalJson } from "../../apimachinery/equality.ts"
import { controllerOf, type Job, type Pod } from "../../apimachinery/object.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import type { Controller } from "../controller.ts"
import type { Expectations } from "../pods/expectations.ts"
import { adoptersOf } from "../pods/owners.ts"
import { isFinished, isTerminating } from "../pods/pod-state.ts"
import { roundPauseMs } from "../round-pause.ts"
import { isFinishedJob } from "./finished.ts"
import { isTracked } from "./tracking.ts"

const gatherMs = 1_000

/** A key with this name stands for the pods in its namespace whose Job is gone, as one of them has just been. */
export const orphans = ""
/** And this one for those of them that end, or have no owner. */
export const lostPods = "/"

/** Any other may be of a Job that is not known yet, which is to count it. */
export const mayBeLost = (pod: Pod): boolean => isTerminating(pod) || controllerOf(pod) === undefined

/** Whether to reconcile without batching: changes by users take effect at once. */
export function isForNow(job: Job, previous: Job): boolean {
  return job.metadata.generation !== previous.metadata.generation || isFinishedJob(job)
}

interface Followed {
  jobs: TenantInformer<Job>
  pods: TenantInformer<Pod>
  controller: Controller<Job>
  expectations: Expectations
}

export function followJobs(followed: Followed): void {
  followPods(followed)
  followed.jobs.subscribe({
    updated(tenant, job, previous) {
      if (!isForNow(job, previous)) gather(followed, tenant, job)
    },
    deleted: (tenant, job) => enqueueLost(followed, tenant, job.metadata.namespace, orphans),
  })
}

/** `name`: of one of the keys above, whose rounds go through all pods of the namespace. */
function enqueueLost({ pods, controller }: Followed, tenant: string, namespace = "", name: string): void {
  controller.enqueueAfter({ tenant, namespace, name }, roundPauseMs(pods.count(tenant)))
}

function followPods(followed: Followed): void {
  const { jobs, pods, expectations } = followed
  const adopters = { all: jobs, selectorOf: ({ spec }: Job) => spec?.selector }
  const gatherMatching = (tenant: string, pod: Pod): void => {
    for (const job of adoptersOf(adopters, tenant, pod)) gather(followed, tenant, job)
  }
  pods.subscribe({
    added(tenant, pod) {
      const owner = controllerOf(pod)
      if (owner === undefined) gatherMatching(tenant, pod)
      else if (!isTerminating(pod)) expectations.creationObserved(owner.uid)
      enqueue(followed, tenant, pod, false)
    },
    updated(tenant, pod, previous) {
      const owner = controllerOf(pod)
      if (isTerminating(pod)) expectations.deletionObserved(owner?.uid ?? "", pod.metadata.uid ?? "")
      const before = jobOf(followed, tenant, previous)
      const isOthers = owner?.uid !== controllerOf(previous)?.uid
      if (before !== undefined && isOthers) gather(followed, tenant, before)
      const isRelabelled = !equalJson(pod.metadata.labels, previous.metadata.labels)
      if (owner === undefined && (isOthers || isRelabelled)) gatherMatching(tenant, pod)
      enqueue(followed, tenant, pod, isFinished(pod) && !isFinished(previous))
    },
    deleted(tenant, pod) {
      expectations.deletionObserved(controllerOf(pod)?.uid ?? "", pod.metadata.uid ?? "")
      enqueue(followed, tenant, pod, true)
    },
  })
}

function gather({ controller }: Followed, tenant: string, { metadata: { namespace = "", name = "" } }: Job): void {
  controller.enqueueAfter({ tenant, namespace, name }, gatherMs)
}

/** The pod's Job, unless that is another one of the same name. */
function jobOf({ jobs }: Followed, tenant: string, pod: Pod): Job | undefined {
  const owner = controllerOf(pod)
  const job = owner?.kind === "Job" ? jobs.get(tenant, pod.metadata.namespace, owner.name) : undefined
  return job?.metadata.uid === owner?.uid ? job : undefined
}

/** `isOver`: the pod has just ended. */
function enqueue(followed: Followed, tenant: string, pod: Pod, isOver: boolean): void {
  const { pods, controller } = followed
  const job = jobOf(followed, tenant, pod)
  const owner = controllerOf(pod)
  if (job !== undefined) {
    // When no pod is left that could cause another event, there is nothing to wait for.
    const isLast = isOver && pods.countByIndex(tenant, "unfinished", job.metadata.uid ?? "") === 0
    if (isLast || isFinishedJob(job)) controller.enqueueObject(tenant, job)
    else gather(followed, tenant, job)
  } else if (isTracked(pod) && mayBeLost(pod) && (owner === undefined || owner.kind === "Job")) {
    enqueueLost(followed, tenant, pod.metadata.namespace, lostPods)
  }
}
