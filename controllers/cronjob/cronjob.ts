// Creates Jobs according to a schedule. Source: k8s.io/kubernetes/pkg/controller/cronjob.

import { errorMessage } from "../../apimachinery/error-message.ts"
import { goSeconds } from "../../apimachinery/go/duration.ts"
import { controllerOf, timestamp, type Job } from "../../apimachinery/object.ts"
import { isAlreadyExists } from "../../apimachinery/status.ts"
import { referenceTo } from "../../client/object-reference.ts"
import { cronJobs, jobs as jobResource } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { controllerReference } from "../pods/pod-control.ts"
import { deleteHistory, deleteJob, observe, uidsOf, withoutActive } from "./active.ts"
import { missedSince, nextTimeMs, noneMissed, type Missed } from "./missed.ts"
import { localTimestamp, parseSchedule, type Schedule } from "./schedule.ts"
import type { CronJob, CronJobStatus } from "./types.ts"

const cronJobKind = { apiVersion: "batch/v1", kind: "CronJob" } as const
const scheduledAnnotation = "batch.kubernetes.io/cronjob-scheduled-timestamp"

export function runCronJobs(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<CronJob>(cronJobs)
  const jobs = ctx.informers.of<Job>(jobResource)
  const controller = new Controller<CronJob>(ctx, { name: "cronjob", primary: all, reads: [jobs] })
  // A changed schedule starts with its next time; times before it are not missed until something else changes.
  const changed = new Set<string>()
  const enqueue = (tenant: string, job: Job): void => {
    const { namespace } = job.metadata
    const owner = controllerOf(job)
    if (owner?.kind !== "CronJob" || all.get(tenant, namespace, owner.name)?.metadata.uid !== owner.uid) return
    changed.delete(owner.uid)
    controller.enqueue(tenant, namespace, owner.name)
  }
  jobs.subscribe({
    added: enqueue,
    updated(tenant, job, previous) {
      if (controllerOf(job)?.uid !== controllerOf(previous)?.uid) enqueue(tenant, previous)
      enqueue(tenant, job)
    },
    deleted: enqueue,
  })
  all.subscribe({
    updated(_tenant, { spec, metadata: { uid = "" } }, { spec: before }) {
      const isSame = spec?.schedule === before?.schedule && spec?.timeZone === before?.timeZone
      if (isSame) changed.delete(uid)
      else changed.add(uid)
    },
    forgotten: ({ metadata }) => changed.delete(metadata.uid ?? ""),
  })
  return controller.run((key, actor) => reconcile(ctx, actor, changed, key))
}

async function reconcile(
  ctx: ControllerContext,
  actor: Actor,
  changed: Set<string>,
  key: Key,
): Promise<ReconcileResult> {
  const { tenant } = key
  const cron = ctx.informers.of<CronJob>(cronJobs).get(tenant, key.namespace, key.name)
  if (cron === undefined) return
  const isNew = changed.delete(cron.metadata.uid ?? "")
  // As upstream, Jobs are found by the name of their owner, including Jobs of a previous CronJob of this name or of another kind.
  const owned = ctx.informers
    .of<Job>(jobResource)
    .byIndex(tenant, "controllerName", `${key.namespace}/${cron.metadata.name ?? ""}`)
  const deleted = await deleteHistory(actor, cron, owned)
  const kept = { ...cron, status: withoutActive(cron.status ?? {}, deleted) }
  let status = await observe(actor, kept, owned)
  let result: ReconcileResult = undefined
  try {
    const schedule = cron.metadata.deletionTimestamp === undefined ? readSchedule(actor, cron) : undefined
    if (schedule !== undefined) {
      const now = ctx.clock.now()
      const since = Date.parse(cron.status?.lastScheduleTime ?? cron.metadata.creationTimestamp ?? "")
      const missed = isNew ? noneMissed : missedTime(actor, cron, schedule, since, now)
      if (missed === undefined) return
      const { latest } = missed
      if (latest !== undefined && shouldStart(actor, cron, status, latest, now)) {
        if (cron.spec?.concurrencyPolicy === "Replace") {
          for (const { namespace, name } of status.active ?? []) {
            const uid = await replace(actor, cron, namespace, name)
            status = withoutActive(status, new Set([uid]))
          }
        }
        status = await start(actor, cron, status, latest)
      }
      const last = status.lastScheduleTime === undefined ? since : Date.parse(status.lastScheduleTime)
      result = { requeueAfterMs: nextTimeMs(schedule, last, now) }
    }
  } finally {
    // Also if no Job could be created: what was observed of the others is still valid.
    if (!equalIgnoringNulls(status, cron.status ?? {})) {
      await actor.client.update(cronJobs, { ...cron, status }, { subresource: "status" })
    }
  }
  return result
}

/** undefined if the CronJob is suspended or its schedule is invalid. */
function readSchedule(actor: Actor, cron: CronJob): Schedule | undefined {
  const { schedule = "", timeZone, suspend } = cron.spec ?? {}
  const warn = (reason: string, text: string): void => actor.event(cron, "Warning", reason, text)
  if (timeZone !== undefined) {
    try {
      localTimestamp(0, timeZone)
    } catch (error) {
      warn("UnknownTimeZone", `invalid timeZone: ${JSON.stringify(timeZone)}: ${errorMessage(error)}`)
      return undefined
    }
  }
  if (suspend === true) return undefined
  if (schedule.includes("TZ")) {
    const link = "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/"
    const text = `CRON_TZ or TZ used in schedule ${JSON.stringify(schedule)} is not officially supported`
    warn("UnsupportedSchedule", `${text}, see ${link} for more details`)
  }
  try {
    return parseSchedule(schedule, timeZone)
  } catch (error) {
    warn("UnparseableSchedule", `unparseable schedule: ${JSON.stringify(schedule)} : ${errorMessage(error)}`)
    return undefined
  }
}

function missedTime(actor: Actor, cron: CronJob, schedule: Schedule, since: number, now: number): Missed | undefined {
  const deadline = cron.spec?.startingDeadlineSeconds
  const earliest = deadline === undefined ? since : Math.max(since, now - goSeconds(deadline))
  const warn = (reason: string, text: string): void => actor.event(cron, "Warning", reason, text)
  try {
    const missed = missedSince(schedule, earliest, now)
    if (missed.isMany && missed.latest !== undefined) {
      const text = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
      warn("TooManyMissedTimes", text)
    }
    return missed
  } catch (error) {
    warn("InvalidSchedule", `invalid schedule: ${cron.spec?.schedule ?? ""} : ${errorMessage(error)}`)
    return undefined
  }
}

function shouldStart(
  actor: Actor,
  cron: CronJob,
  { active = [], lastScheduleTime }: CronJobStatus,
  due: number,
  now: number,
): boolean {
  const { startingDeadlineSeconds, concurrencyPolicy } = cron.spec ?? {}
  if (startingDeadlineSeconds !== undefined && due + goSeconds(startingDeadlineSeconds) < now) {
    const text = `Missed scheduled time to start a job: ${new Date(due).toUTCString().replace("GMT", "+0000")}`
    actor.event(cron, "Warning", "MissSchedule", text)
    return false
  }
  const name = jobName(cron, due)
  const isListed = active.some((job) => job.name === name && job.namespace === cron.metadata.namespace)
  if (isListed || lastScheduleTime === timestamp(new Date(due))) return false
  if (concurrencyPolicy === "Forbid" && active.length > 0) {
    const text = "Not starting job because prior execution is running and concurrency policy is Forbid"
    actor.event(cron, "Normal", "JobAlreadyActive", text)
    return false
  }
  return true
}

/** Returns the uid of the replaced Job. */
async function replace(
  actor: Actor,
  cron: CronJob,
  namespace: string | undefined,
  name = "",
): Promise<string | undefined> {
  const running = await actor.client.get<Job>(jobResource, namespace, name).catch((error: unknown) => {
    actor.event(cron, "Warning", "FailedGet", `Get job: ${errorMessage(error)}`)
    throw error
  })
  await deleteJob(actor, cron, running)
  return running.metadata.uid
}

async function start(actor: Actor, cron: CronJob, status: CronJobStatus, due: number): Promise<CronJobStatus> {
  const client = actor.client
  const job = jobOf(cron, due)
  const active = status.active ?? []
  let created: Job
  try {
    created = await client.create<Job>(jobResource, job)
    actor.event(cron, "Normal", "SuccessfulCreate", `Created job ${created.metadata.name ?? ""}`)
  } catch (error) {
    if (!isAlreadyExists(error)) {
      if (!isNamespaceTerminating(error)) {
        actor.event(cron, "Warning", "FailedCreate", `Error creating job: ${errorMessage(error)}`)
      }
      throw error
    }
    created = await client.get<Job>(jobResource, job.metadata.namespace, job.metadata.name ?? "")
    // The Job belongs to another owner; retried until it is gone.
    if (controllerOf(created)?.uid !== cron.metadata.uid) throw error
    // The Job was created before, but the status was not written.
    if (uidsOf(active).has(created.metadata.uid)) return status
  }
  return { ...status, active: [...active, referenceTo(created)], lastScheduleTime: timestamp(new Date(due)) }
}

/** The deterministic name prevents duplicate Jobs for one scheduled time. */
function jobName({ metadata }: CronJob, due: number): string {
  return `${metadata.name ?? ""}-${Math.floor(due / 60_000)}`
}

function jobOf(cron: CronJob, due: number): Job {
  const { metadata, spec } = cron.spec?.jobTemplate ?? {}
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: jobName(cron, due),
      namespace: cron.metadata.namespace ?? "",
      labels: { ...metadata?.labels },
      annotations: {
        ...metadata?.annotations,
        [scheduledAnnotation]: localTimestamp(due, cron.spec?.timeZone ?? "UTC"),
      },
      creationTimestamp: timestamp(new Date(due)),
      ownerReferences: [controllerReference(cron, cronJobKind)],
    },
    ...(spec === undefined ? {} : { spec }),
  }
}
