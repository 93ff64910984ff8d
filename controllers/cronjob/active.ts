// Determines the active Jobs in the status of a CronJob and the finished Jobs to delete.
// Source: k8s.io/kubernetes/pkg/controller/cronjob/cronjob_controllerv2.go.

import { errorMessage } from "../../apimachinery/error-message.ts"
import type { Job } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import type { ObjectReference } from "../../client/object-reference.ts"
import { cronJobs, jobs as jobResource } from "../../client/resources.ts"
import type { Actor } from "../actor.ts"
import { findCondition } from "../conditions.ts"
import { isFinishedJob } from "../job/finished.ts"
import type { CronJob, CronJobStatus } from "./types.ts"

export const uidsOf = (active: readonly ObjectReference[] | undefined): Set<string | undefined> =>
  new Set((active ?? []).map(({ uid }) => uid))

const isSuccessful = (job: Job): boolean => findCondition(job.status?.conditions, "Complete")?.status === "True"

/** The status, updated from the existing Jobs. */
export async function observe(actor: Actor, cron: CronJob, owned: readonly Job[]): Promise<CronJobStatus> {
  const event = (type: "Normal" | "Warning", reason: string, text: string): void =>
    actor.event(cron, type, reason, text)
  const known = uidsOf(cron.status?.active)
  const gone = new Set<string | undefined>()
  let latest = cron.status?.lastSuccessfulTime
  for (const job of owned) {
    const { name = "", uid } = job.metadata
    if (!isFinishedJob(job)) {
      if (known.has(uid) || (await isActive(actor, cron, uid))) continue
      event("Warning", "UnexpectedJob", `Saw a job that the controller did not create or forgot: ${name}`)
      continue
    }
    if (known.has(uid)) {
      gone.add(uid)
      const condition = isSuccessful(job) ? "Complete" : "Failed"
      event("Normal", "SawCompletedJob", `Saw completed job: ${name}, condition: ${condition}`)
    }
    const at = job.status?.completionTime
    if (isSuccessful(job) && at !== undefined && (latest === undefined || at > latest)) latest = at
  }
  const present = new Set(owned.map(({ metadata }) => metadata.uid))
  for (const { uid, name = "", namespace } of cron.status?.active ?? []) {
    if (present.has(uid) || (await exists(actor, namespace, name))) continue
    event("Normal", "MissingJob", `Active job went missing: ${name}`)
    gone.add(uid)
  }
  const status = withoutActive(cron.status ?? {}, gone)
  return latest === undefined ? status : { ...status, lastSuccessfulTime: latest }
}

/** The cache may not show the status that was written after the Job was created. */
async function isActive(actor: Actor, { metadata }: CronJob, uid: string | undefined): Promise<boolean> {
  const fresh = await actor.client.get<CronJob>(cronJobs, metadata.namespace, metadata.name ?? "")
  return uidsOf(fresh.status?.active).has(uid)
}

/** The cache may not show a Job that was just created. */
async function exists(actor: Actor, namespace: string | undefined, name: string): Promise<boolean> {
  // Somebody else's reference, to no Job.
  if ((namespace ?? "") === "") return false
  try {
    await actor.client.get(jobResource, namespace, name)
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/** Deletes the oldest finished Jobs beyond the history limits. Returns their uids, which are no longer active. */
export async function deleteHistory(
  actor: Actor,
  cron: CronJob,
  owned: readonly Job[],
): Promise<Set<string | undefined>> {
  const deleted = new Set<string | undefined>()
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cron.spec ?? {}
  const finished = owned.filter(isFinishedJob)
  for (const [limit, jobs] of [
    [successfulJobsHistoryLimit, finished.filter(isSuccessful)],
    [failedJobsHistoryLimit, finished.filter((job) => !isSuccessful(job))],
  ] as const) {
    if (limit === undefined) continue
    const surplus = [...jobs].sort(byStart).slice(0, Math.max(0, jobs.length - limit))
    for (const job of surplus) {
      try {
        await deleteJob(actor, cron, job)
        deleted.add(job.metadata.uid)
      } catch {
        // An Event has been recorded; the next sync tries again.
      }
    }
  }
  return deleted
}

export function withoutActive(status: CronJobStatus, gone: ReadonlySet<string | undefined>): CronJobStatus {
  const { active: before = [], ...rest } = status
  const active = before.filter(({ uid }) => !gone.has(uid))
  return active.length === 0 ? rest : { ...rest, active }
}

export async function deleteJob(actor: Actor, cron: CronJob, job: Job): Promise<void> {
  const { namespace, name = "", uid } = job.metadata
  try {
    await actor.client.delete(jobResource, namespace, name, {
      propagationPolicy: "Background",
      ...(uid === undefined ? {} : { uid }),
    })
  } catch (error) {
    if (isNotFound(error)) return
    actor.event(cron, "Warning", "FailedDelete", `Deleted job: ${errorMessage(error)}`)
    throw error
  }
  actor.event(cron, "Normal", "SuccessfulDelete", `Deleted job ${name}`)
}

/** Jobs that have not started come last. */
function byStart(a: Job, b: Job): number {
  const left = `${a.status?.startTime ?? "~"} ${a.metadata.name ?? ""}`
  const right = `${b.status?.startTime ?? "~"} ${b.metadata.name ?? ""}`
  return left < right ? -1 : 1
}
