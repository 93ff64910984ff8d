// CronJobs whose times are due, under any policies, and their Jobs.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { cron, last, lastYear, patched, thisYear } from "../scenarios/cron-job-steps.ts"
import { container } from "../scenarios/steps.ts"
import { type Family, maybe, oneByOne, reported, some } from "./family.ts"

export const cronJobs: Family = (random) => {
  let day = 1
  // Not the same time twice: what upstream does when it finds the Job made is in docs/controllers.md.
  const due = (): Step[] => {
    day++
    const last = pick(random, [lastYear, lastYear, beforeThat])
    const schedule = { schedule: `0 0 ${day} 1 *` }
    // Changed together, the times before are not missed.
    return chance(random, 0.4)
      ? [patched({ suspend: true }), last, patched({ suspend: false, ...schedule })]
      : [patched({ suspend: true, ...schedule }), last, patched({ suspend: false })]
  }
  const otherwise = (): Step[] => {
    const schedule = pick(random, schedules)
    return [patched({ suspend: true }), pick(random, [lastYear, beforeThat]), patched({ suspend: false, schedule })]
  }
  const create = (): Step => cron({ suspend: true, ...randomSettings(random), jobTemplate: randomTemplate(random) })
  const steps: (() => Step[])[] = [
    due,
    due,
    due,
    otherwise,
    () => [patched({ suspend: chance(random, 0.5) })],
    () => [patched(randomSettings(random))],
    () => [patched({ jobTemplate: randomTemplate(random) })],
    () => [reported(random, ["ready", "succeeded", "succeeded", { exit: 1 }])],
    () => [reported(random, ["succeeded", { exit: 1 }])],
    () => [reported(random, ["succeeded", { exit: 1 }])],
    () => [{ deletePods: {}, count: 1 + random(2) }],
    () => [{ patchAll: "jobs", with: pick<object>(random, ofJobs) }],
    () => [{ patchAll: "jobs", with: { spec: { suspend: chance(random, 0.5) } } }],
    () => [{ deletePods: {} }, { deleteAll: "jobs" }],
    () => [{ delete: ["cronjobs", "tick"], policy: pick(random, ["Background", "Foreground", "Orphan"]) }],
    () => [create()],
  ]
  const turns = [[create()], due(), ...some(random, 4, 8, () => pick(random, steps)())].flat()
  return {
    nodes: pick(random, ["bound", "ready"] as const),
    steps: oneByOne(turns.map((step): Step => ({ ...step, mayBeRefused: true }))),
  }
}

/** They are taken from it, held, and look like something else. */
const ofJobs = [
  { metadata: { ownerReferences: null } },
  { metadata: { labels: { a: "c" }, annotations: { "batch.kubernetes.io/cronjob-scheduled-timestamp": null } } },
  { metadata: { finalizers: ["example.com/hold"] } },
  { metadata: { finalizers: null } },
]

/** Due once a year or day, every so many hours, in leap years, or never. */
const schedules = [
  "@yearly",
  "@daily",
  "@every 8760h",
  "@every 24h0m30s",
  "0 0 29 2 *",
  "0 0 30 2 *",
  "0 0 1 JAN-MAR ?",
  "0 0 13 1 FRI",
  "TZ=Asia/Kathmandu 0 0 1 1 *",
  "30 2 29 3 *",
]

const beforeThat = last(`${thisYear - 5}-06-01T00:00:00Z`)

const randomSettings = (random: Random): object => ({
  ...maybe(random, 0.7, { concurrencyPolicy: pick(random, ["Allow", "Forbid", "Replace"]) }),
  ...maybe(random, 0.4, { successfulJobsHistoryLimit: random(4) }),
  ...maybe(random, 0.4, { failedJobsHistoryLimit: random(3) }),
  ...maybe(random, 0.15, { startingDeadlineSeconds: pick(random, [30, 400 * 24 * 3600]) }),
  ...maybe(random, 0.3, {
    timeZone: pick(random, ["Asia/Kathmandu", "Etc/UTC", "America/St_Johns", "Local", "Nowhere", null]),
  }),
})

const randomTemplate = (random: Random): object => ({
  metadata: pick(random, [{}, { labels: { a: "b" } }, { annotations: { c: "d" } }]),
  spec: {
    backoffLimit: 0,
    ...maybe(random, 0.2, { suspend: true }),
    template: { spec: { restartPolicy: "Never", containers: [container(pick(random, ["one", "two"]))] } },
  },
})
