// Steps that scenarios of CronJobs have in common. Their schedule is once a year, and their status says when it was last followed, so that
// what is due does not depend on the minute.

import type { Step } from "../scenario.ts"
import { container } from "./steps.ts"

const yearly = "0 0 1 1 *"
export const thisYear = new Date().getUTCFullYear()
export const cron = (spec: object = {}): Step => ({
  create: {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "tick" },
    spec: {
      schedule: yearly,
      jobTemplate: { spec: { template: { spec: { restartPolicy: "Never", containers: [container("one")] } } } },
      ...spec,
    },
  },
})
export const patched = (spec: object): Step => ({ patch: ["cronjobs", "tick"], with: { spec } })
/** In the year before last one; more than one time is due. */
export const last = (lastScheduleTime: string): Step => ({
  patch: ["cronjobs", "tick"],
  with: { status: { lastScheduleTime } },
  subresource: "status",
})
export const lastYear = last(`${thisYear - 1}-06-01T00:00:00Z`)
