// Jobs and CronJobs with times beyond what Go counts, and indexes that only Go reads.

import type { Scenario, Step } from "../scenario.ts"
import { cron, lastYear, patched as patchedCron } from "./cron-job-steps.ts"
import { indexed } from "./job-steps.ts"
import { container, job, settle } from "./steps.ts"

/** In seconds: 64 bits of nanoseconds are 292 years. */
const eternities = [9_223_372_036, 9_223_372_037]

const own = { work: "own" }
const spec = { restartPolicy: "Never", containers: [container("one")] }
const podOfIndex = (text: string): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "strange", labels: own, annotations: { "batch.kubernetes.io/job-completion-index": text } },
    spec,
  },
})

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
  ...["+1", "x"].map((text) => ({
    name: `indexed job takes a pod of index ${text}`,
    steps: [
      podOfIndex(text),
      indexed(2, {
        manualSelector: true,
        selector: { matchLabels: own },
        template: { metadata: { labels: own }, spec },
      }),
      settle,
      { pods: "succeeded" as const },
      settle,
    ],
  })),
]
