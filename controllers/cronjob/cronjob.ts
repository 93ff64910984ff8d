// Makes a Job whenever its schedule says so. Facts: k8s.io/kubernetes/pkg/controller/cronjob.

import { controllerOf, timestamp, type Job, type KubeObject } from "../../apimachinery/object.ts"
import { isAlreadyExists, isNotFound } from "../../apimachinery/status.ts"
import { referenceTo } from "../../client/object-reference.ts"
import { cronJobs, jobs as jobResource } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import { findCondition } from "../conditions.ts"
import { Controller, type ControllerContext, type Key } from "../context.ts"
import { jsonEqual } from "../equality.ts"
import { isFinishedJob } from "../job/job.ts"
import { controllerReference, message } from "../pods/pod-control.ts"
import { parseSchedule, type Schedule } from "./schedule.ts"

const cronJobKind = { apiVersion: "batch/v1", kind: "CronJob" } as const
const scheduledAnnotation = "batch.kubernetes.io/cronjob-scheduled-timestamp"
const instantiateAnnotation = "cronjob.kubernetes.io/instantiate"
/** More missed starts than this are told of once, and only the last is made up for. */
const manyMissed = 100
/** Wakes a moment after the minute, so that the time has surely come. */
const slackMs = 100

export interface CronJob extends KubeObject {
  spec?: {
    schedule?: string
    timeZone?: string
    suspend?: boolean
    concurrencyPolicy?: string
    startingDeadlineSeconds?: number
    successfulJobsHistoryLimit?: number
    failedJobsHistoryLimit?: number
    jobTemplate?: { metadata?: { labels?: object; annotations?: object }; spec?: Job["spec"] }
  }
  status?: { active?: object[]; lastScheduleTime?: string; lastSuccessfulTime?: string }
}

export function runCronJobs(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<CronJob>(cronJobs)
  const jobs = ctx.informers.of<Job>(jobResource)
  const controller = new Controller<CronJob>(ctx, { name: "cronjob", primary: all, reads: [jobs] })
  const enqueue = (tenant: string, job: Job): void => {
    const owner = controllerOf(job)
    if (owner?.kind === "CronJob") controller.enqueue(tenant, job.metadata.namespace, owner.name)
  }
  jobs.subscribe({ added: enqueue, updated: enqueue, deleted: enqueue })
  return controller.run((key) => reconcile(ctx, controller, key))
}

async function reconcile(ctx: ControllerContext, controller: Controller<CronJob>, key: Key): Promise<ReconcileResult> {
  const { tenant } = key
  const cron = ctx.informers.of<CronJob>(cronJobs).get(tenant, key.namespace, key.name)
  if (cron === undefined || cron.metadata.deletionTimestamp !== undefined) return
  const owned = ctx.informers.of<Job>(jobResource).byIndex(tenant, "controller", cron.metadata.uid ?? "")
  await deleteHistory(controller, tenant, cron, owned)
  let status = statusOf(cron, owned)
  let requeueAfterMs: number | undefined
  const schedule = readSchedule(controller, tenant, cron)
  if (schedule !== undefined && cron.spec?.suspend !== true) {
    const now = ctx.clock.now()
    const due = lastDue(controller, tenant, cron, schedule, now)
    if (due !== undefined) status = await start(controller, tenant, cron, owned, status, due)
    const next = schedule.next(now)
    if (next !== undefined) requeueAfterMs = next - now + slackMs
  }
  if (!jsonEqual(status, cron.status ?? {})) {
    await controller.client(tenant).update(cronJobs, { ...cron, status }, { subresource: "status" })
  }
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs }
}

type Status = NonNullable<CronJob["status"]>

function readSchedule(controller: Controller<CronJob>, tenant: string, cron: CronJob): Schedule | undefined {
  const { schedule = "", timeZone } = cron.spec ?? {}
  try {
    return parseSchedule(schedule, timeZone)
  } catch (error) {
    const isZone = timeZone !== undefined && message(error).startsWith("unknown time zone")
    const text = isZone
      ? `invalid timeZone: "${timeZone}": ${message(error)}`
      : `unparseable schedule: "${schedule}" : ${message(error)}`
    controller.event(tenant, cron, "Warning", isZone ? "UnknownTimeZone" : "UnparseableSchedule", text)
    return undefined
  }
}

/** The last time a Job should have been started and was not; undefined: none is due, or it is too late for it. */
function lastDue(
  controller: Controller<CronJob>,
  tenant: string,
  cron: CronJob,
  schedule: Schedule,
  now: number,
): number | undefined {
  const deadline = cron.spec?.startingDeadlineSeconds
  let from = Date.parse(cron.status?.lastScheduleTime ?? cron.metadata.creationTimestamp ?? "")
  if (Number.isNaN(from)) from = now
  if (deadline !== undefined) from = Math.max(from, now - deadline * 1000)
  let due: number | undefined
  let missed = 0
  for (let at = schedule.next(from); at !== undefined && at <= now; at = schedule.next(at)) {
    due = at
    missed++
    // Long asleep: jump to the last day instead of walking through years of minutes.
    if (missed === manyMissed && now - at > 24 * 3_600_000) at = now - 24 * 3_600_000
  }
  if (missed > manyMissed) {
    const text = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
    controller.event(tenant, cron, "Warning", "TooManyMissedTimes", text)
  }
  return due
}

async function start(
  controller: Controller<CronJob>,
  tenant: string,
  cron: CronJob,
  owned: readonly Job[],
  status: Status,
  due: number,
): Promise<Status> {
  const client = controller.client(tenant)
  const active = owned.filter((job) => !isFinishedJob(job))
  const policy = cron.spec?.concurrencyPolicy
  const job = jobOf(cron, due)
  if (owned.some(({ metadata }) => metadata.name === job.metadata.name)) {
    return { ...status, lastScheduleTime: timestamp(new Date(due)) }
  }
  if (policy === "Forbid" && active.length > 0) {
    const text = "Not starting job because prior execution is running and concurrency policy is Forbid"
    controller.event(tenant, cron, "Normal", "JobAlreadyActive", text)
    return status
  }
  let running = status.active ?? []
  if (policy === "Replace") {
    for (const previous of active) await deleteJob(controller, tenant, cron, previous)
    running = []
  }
  try {
    const created = await client.create<Job>(jobResource, job)
    controller.event(tenant, cron, "Normal", "SuccessfulCreate", `Created job ${created.metadata.name ?? ""}`)
    running = [...running, referenceTo(created)]
  } catch (error) {
    if (isNamespaceTerminating(error)) return status
    if (!isAlreadyExists(error)) {
      controller.event(tenant, cron, "Warning", "FailedCreate", `Error creating job: ${message(error)}`)
      throw error
    }
  }
  return { ...status, active: running, lastScheduleTime: timestamp(new Date(due)) }
}

/** Named by its time, so that it cannot be made twice. */
function jobOf(cron: CronJob, due: number): Job {
  const { metadata, spec } = cron.spec?.jobTemplate ?? {}
  const scheduled = timestamp(new Date(due))
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: `${cron.metadata.name ?? ""}-${Math.floor(due / 60_000)}`,
      namespace: cron.metadata.namespace ?? "",
      labels: { ...metadata?.labels },
      annotations: { ...metadata?.annotations, [scheduledAnnotation]: scheduled },
      creationTimestamp: scheduled,
      ownerReferences: [controllerReference(cron, cronJobKind)],
    },
    ...(spec === undefined ? {} : { spec }),
  }
}

function statusOf(cron: CronJob, owned: readonly Job[]): Status {
  const { active: _, ...rest } = cron.status ?? {}
  const active = owned.filter((job) => !isFinishedJob(job)).sort(byCreation)
  let latest = rest.lastSuccessfulTime
  for (const job of owned) {
    const at = job.status?.completionTime
    if (isSuccessful(job) && at !== undefined && (latest === undefined || at > latest)) latest = at
  }
  return {
    ...rest,
    ...(latest === undefined ? {} : { lastSuccessfulTime: latest }),
    ...(active.length === 0 ? {} : { active: active.map(referenceTo) }),
  }
}

async function deleteHistory(
  controller: Controller<CronJob>,
  tenant: string,
  cron: CronJob,
  owned: readonly Job[],
): Promise<void> {
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cron.spec ?? {}
  const finished = owned.filter(
    (job) => isFinishedJob(job) && job.metadata.annotations?.[instantiateAnnotation] !== "manual",
  )
  const surplus = (jobs: Job[], limit: number): Job[] =>
    jobs.sort(byCreation).slice(0, Math.max(0, jobs.length - limit))
  const old = [
    ...surplus(finished.filter(isSuccessful), successfulJobsHistoryLimit),
    ...surplus(
      finished.filter((job) => !isSuccessful(job)),
      failedJobsHistoryLimit,
    ),
  ]
  for (const job of old) await deleteJob(controller, tenant, cron, job)
}

async function deleteJob(controller: Controller<CronJob>, tenant: string, cron: CronJob, job: Job): Promise<void> {
  const { namespace, name = "", uid, deletionTimestamp } = job.metadata
  if (deletionTimestamp !== undefined) return
  try {
    await controller.client(tenant).delete(jobResource, namespace, name, {
      propagationPolicy: "Background",
      ...(uid === undefined ? {} : { uid }),
    })
  } catch (error) {
    if (isNotFound(error)) return
    controller.event(tenant, cron, "Warning", "FailedDelete", `Deleted job: ${message(error)}`)
    throw error
  }
  controller.event(tenant, cron, "Normal", "SuccessfulDelete", `Deleted job ${name}`)
}

function isSuccessful(job: Job): boolean {
  return findCondition(job.status?.conditions, "Complete")?.status === "True"
}

function byCreation(a: Job, b: Job): number {
  const [left, right] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ""} ${metadata.name ?? ""}`)
  return (left ?? "") < (right ?? "") ? -1 : 1
}
