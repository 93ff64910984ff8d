// Jobs and CronJobs with times beyond what Go counts.

import type { Scenario } from "../scenario.ts"
import { cron, lastYear, patched as patchedCron } from "./cron-job-steps.ts"
import { job, settle } from "./steps.ts"

/** In seconds: 64 bits of nanoseconds are 292 years. */
const eternities = [9_223_372_036, 9_223_372_037]

export const oddJobScenarios: readonly Scenario[] = [
  ...eternities.map((seconds) => ({
    name: `job that may take ${seconds} seconds`,
    nodes: "ready" as const,
    steps: [job({ activeDeadlineSeconds: seconds }), settle],
  })),
  ...eternities.map((seconds) => ({
    name: `cron job that may be late by ${seconds} seconds`,
    steps: [
      cron({ suspend: true, startingDeadlineSeconds: seconds }),
      settle,
      lastYear,
      settle,
      patchedCron({ suspend: false }),
      settle,
    ],
  })),
]
