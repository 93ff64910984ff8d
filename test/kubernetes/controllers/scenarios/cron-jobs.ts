// CronJobs.

import type { Scenario, Step } from "../scenario.ts"
import { cron, last, lastYear, patched, thisYear } from "./cron-job-steps.ts"
import { container, job, quota, settle } from "./steps.ts"

const thisYearsJob = `tick-${Date.UTC(thisYear, 0, 1) / 60_000}`
const due = [cron({ suspend: true }), settle, lastYear, settle] as const
const resume = patched({ suspend: false })
/** By another time, that is due as well. */
const again = [
  patched({ suspend: true }),
  lastYear,
  settle,
  patched({ suspend: false, schedule: "0 0 2 1 *" }),
  settle,
] as const
const { create: bareJob } = job({ suspend: true }) as { create: object }
const succeeded: Step = { pods: "succeeded" }

export const cronJobScenarios: readonly Scenario[] = [
  { name: "cron job suspended", steps: [cron({ schedule: "* * * * *", suspend: true }), settle] },
  { name: "cron job that is not due", steps: [cron(), settle] },
  { name: "cron job is due", steps: [...due, resume, settle] },
  { name: "cron job is through", steps: [...due, resume, settle, succeeded, settle] },
  {
    name: "cron job fails",
    steps: [
      ...due,
      patched({ suspend: false, jobTemplate: { spec: { backoffLimit: 0 } } }),
      settle,
      { pods: { exit: 1 } },
      settle,
    ],
  },
  {
    name: "cron job whose schedule changes while it is suspended",
    steps: [...due, patched({ schedule: "0 0 2 1 *" }), settle, resume, settle],
  },
  {
    name: "cron job of several years ago",
    steps: [cron({ suspend: true }), settle, last(`${thisYear - 5}-06-01T00:00:00Z`), settle, resume, settle],
  },
  {
    name: "cron job of too many times ago",
    steps: [
      cron({ schedule: "0 0 * * *", suspend: true }),
      settle,
      last(`${thisYear - 1}-01-01T00:00:00Z`),
      settle,
      resume,
      settle,
    ],
  },
  {
    name: "cron job misses its time",
    steps: [cron({ suspend: true, startingDeadlineSeconds: 30 }), settle, lastYear, settle, resume, settle],
  },
  {
    name: "cron job in a time zone",
    steps: [cron({ suspend: true, timeZone: "Asia/Kathmandu" }), settle, lastYear, settle, resume, settle],
  },
  {
    name: "cron job passes on labels and annotations",
    steps: [
      cron({
        suspend: true,
        jobTemplate: {
          metadata: { labels: { a: "b" }, annotations: { c: "d" }, finalizers: ["example.com/none"] },
          spec: {
            completions: 2,
            parallelism: 2,
            template: {
              metadata: { labels: { e: "f" } },
              spec: { restartPolicy: "Never", containers: [container("one")] },
            },
          },
        },
      }),
      settle,
      lastYear,
      settle,
      resume,
      settle,
    ],
  },
  {
    name: "cron job forbids a second",
    steps: [cron({ suspend: true, concurrencyPolicy: "Forbid" }), settle, lastYear, settle, resume, settle, ...again],
  },
  {
    name: "cron job replaces the first",
    steps: [cron({ suspend: true, concurrencyPolicy: "Replace" }), settle, lastYear, settle, resume, settle, ...again],
  },
  {
    name: "cron job allows a second",
    steps: [...due, resume, settle, ...again],
  },
  {
    name: "cron job keeps none that is through",
    steps: [
      ...due,
      patched({ suspend: false, successfulJobsHistoryLimit: 0 }),
      settle,
      // The real one may miss a job it has deleted before its cache shows what it wrote.
      { patch: ["jobs", thisYearsJob], with: { metadata: { finalizers: ["example.com/hold"] } } },
      succeeded,
      settle,
    ],
  },
  {
    name: "cron job finds the job of its time made",
    steps: [...due, resume, settle, patched({ suspend: true }), lastYear, settle, resume, settle],
  },
  {
    name: "cron job loses an active job",
    steps: [...due, resume, settle, patched({ suspend: true }), { deletePods: {} }, { deleteAll: "jobs" }, settle],
  },
  {
    name: "cron job with jobs that it did not create",
    steps: [
      cron({ suspend: true }),
      settle,
      job({ suspend: true }),
      settle,
      {
        patch: ["jobs", "work"],
        with: {
          metadata: {
            ownerReferences: [
              { apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid: "UID:cronjobs/tick", controller: true },
            ],
          },
        },
      },
      settle,
    ],
  },
  {
    name: "cron job whose next job is refused",
    steps: [
      ...due,
      resume,
      settle,
      patched({ suspend: true }),
      quota({ "count/jobs.batch": "0" }),
      { until: ["resourcequotas", "limit"], has: { status: { hard: { "count/jobs.batch": "0" } } } },
      succeeded,
      settle,
      lastYear,
      settle,
      resume,
      settle,
    ],
  },
  {
    name: "cron job replaces a job and may not make another",
    steps: [
      ...due,
      patched({ suspend: false, concurrencyPolicy: "Replace" }),
      settle,
      // Held, as the real one may look for it before its cache shows what it wrote.
      { patch: ["jobs", thisYearsJob], with: { metadata: { finalizers: ["example.com/hold"] } } },
      patched({ suspend: true }),
      quota({ "count/jobs.batch": "0" }),
      { until: ["resourcequotas", "limit"], has: { status: { hard: { "count/jobs.batch": "0" } } } },
      lastYear,
      settle,
      patched({ suspend: false, schedule: "0 0 2 1 *" }),
      settle,
      // Upstream looks at another schedule when its time has come.
      { patch: ["cronjobs", "tick"], with: { metadata: { labels: { a: "b" } } } },
      settle,
    ],
  },
  {
    name: "cron job whose next job somebody else has made",
    steps: [
      { create: { ...bareJob, metadata: { name: thisYearsJob } } },
      ...due,
      resume,
      settle,
      { delete: ["jobs", thisYearsJob] },
      { until: ["cronjobs", "tick"], has: { status: { active: [{ name: thisYearsJob }] } } },
      settle,
    ],
  },
  {
    name: "cron job is given a time zone when it is due",
    steps: [
      ...due,
      patched({ suspend: false, timeZone: "Asia/Kathmandu" }),
      settle,
      { patch: ["cronjobs", "tick"], with: { metadata: { labels: { a: "b" } } } },
      settle,
    ],
  },
  {
    name: "cron job that has the name of another controller",
    steps: [
      { create: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "tick" } } },
      ...["running", "through"].map((name): Step => ({
        create: {
          ...bareJob,
          metadata: {
            name,
            ownerReferences: [
              { apiVersion: "v1", kind: "ConfigMap", name: "tick", uid: "UID:configmaps/tick", controller: true },
            ],
          },
        },
      })),
      settle,
      // Held, as the real one may miss a job that it has deleted before its cache shows it.
      {
        patch: ["jobs", "through"],
        with: { spec: { suspend: false }, metadata: { finalizers: ["example.com/hold"] } },
      },
      settle,
      succeeded,
      settle,
      cron({ suspend: true, successfulJobsHistoryLimit: 0 }),
      settle,
    ],
  },
  {
    name: "cron job recreated while a job of the previous one is held",
    steps: [
      ...due,
      resume,
      settle,
      { patch: ["jobs", thisYearsJob], with: { metadata: { finalizers: ["example.com/hold"] } } },
      { delete: ["cronjobs", "tick"] },
      settle,
      cron({ suspend: true }),
      settle,
      { patch: ["jobs", thisYearsJob], with: { metadata: { finalizers: null } } },
      settle,
    ],
  },
  {
    name: "cron job deleted with its jobs",
    steps: [...due, resume, settle, { delete: ["cronjobs", "tick"] }, settle],
  },
]
