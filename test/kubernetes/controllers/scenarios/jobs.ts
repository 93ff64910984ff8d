// Jobs and CronJobs: completions, indexes, policies, deadlines.

import type { Scenario } from "../scenario.ts"
import { container, job, jobHas, settle } from "./steps.ts"

export const jobScenarios: readonly Scenario[] = [
  { name: "job completes", steps: [job(), settle, { pods: "succeeded" }, jobHas({ succeeded: 1 })] },
  {
    name: "job of several completions",
    steps: [
      job({ completions: 3, parallelism: 2 }),
      jobHas({ active: 2 }),
      { pods: "succeeded" },
      jobHas({ succeeded: 2, active: 1 }),
      { pods: "succeeded" },
      jobHas({ succeeded: 3 }),
    ],
  },
  {
    name: "job without completions ends with its last pod",
    steps: [
      job({ parallelism: 2 }),
      jobHas({ active: 2 }),
      { pods: "succeeded", count: 1 },
      jobHas({ succeeded: 1 }),
      settle,
      { pods: "succeeded" },
      jobHas({ succeeded: 2 }),
    ],
  },
  {
    name: "job fails at its limit",
    steps: [job({ backoffLimit: 0 }), jobHas({ active: 1 }), { pods: { exit: 1 } }, jobHas({ failed: 1 })],
  },
  {
    name: "job at its deadline",
    steps: [job({ activeDeadlineSeconds: 2 }), jobHas({ conditions: [{ type: "Failed" }] })],
  },
  {
    name: "job suspended and resumed",
    steps: [
      job({ suspend: true, parallelism: 2, completions: 2 }),
      settle,
      { patch: ["jobs", "work"], with: { spec: { suspend: false } } },
      jobHas({ active: 2 }),
      settle,
      { patch: ["jobs", "work"], with: { spec: { suspend: true } } },
      settle,
    ],
  },
  {
    name: "indexed job",
    steps: [
      job({ completionMode: "Indexed", completions: 3, parallelism: 3 }),
      jobHas({ active: 3 }),
      { pods: "succeeded", labels: { "batch.kubernetes.io/job-completion-index": "1" } },
      jobHas({ completedIndexes: "1" }),
      settle,
    ],
  },
  {
    name: "indexed job with a limit per index",
    steps: [
      job({ completionMode: "Indexed", completions: 2, parallelism: 2, backoffLimitPerIndex: 0 }),
      jobHas({ active: 2 }),
      { pods: { exit: 1 }, labels: { "batch.kubernetes.io/job-completion-index": "0" } },
      jobHas({ failedIndexes: "0" }),
      { pods: "succeeded" },
      jobHas({ conditions: [{ type: "Failed" }] }),
    ],
  },
  {
    name: "indexed job with too many failed indexes",
    steps: [
      job({ completionMode: "Indexed", completions: 3, parallelism: 3, backoffLimitPerIndex: 0, maxFailedIndexes: 1 }),
      jobHas({ active: 3 }),
      { pods: { exit: 1 }, count: 2 },
      jobHas({ conditions: [{ type: "Failed" }] }),
    ],
  },
  {
    name: "indexed job with a success policy",
    steps: [
      job({
        completionMode: "Indexed",
        completions: 3,
        parallelism: 3,
        successPolicy: { rules: [{ succeededIndexes: "0", succeededCount: 1 }] },
      }),
      jobHas({ active: 3 }),
      { pods: "succeeded", labels: { "batch.kubernetes.io/job-completion-index": "0" } },
      jobHas({ conditions: [{ type: "Complete" }] }),
    ],
  },
  {
    name: "job with a failure policy that fails it",
    steps: [
      job({
        backoffLimit: 6,
        podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [42] } }] },
      }),
      jobHas({ active: 1 }),
      { pods: { exit: 42 } },
      jobHas({ conditions: [{ type: "Failed" }] }),
    ],
  },
  {
    name: "job with a failure policy that ignores",
    steps: [
      job({
        backoffLimit: 0,
        podFailurePolicy: {
          rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
        },
      }),
      jobHas({ active: 1 }),
      { pods: { exit: 1, condition: "DisruptionTarget" } },
      settle,
      jobHas({ active: 1 }),
    ],
  },
  {
    name: "job whose pod is deleted",
    steps: [job({ backoffLimit: 6 }), jobHas({ active: 1 }), { deletePods: {}, count: 1 }, jobHas({ failed: 1 })],
  },
  {
    name: "job deleted with its pods",
    steps: [job(), jobHas({ active: 1 }), { delete: ["jobs", "work"] }, { until: ["jobs", "work"], has: null }],
  },
  {
    name: "job parallelism reduced",
    steps: [
      job({ parallelism: 3, completions: 5 }),
      jobHas({ active: 3 }),
      { patch: ["jobs", "work"], with: { spec: { parallelism: 1 } } },
      jobHas({ active: 1 }),
    ],
  },
  {
    name: "cron job suspended",
    steps: [
      {
        create: {
          apiVersion: "batch/v1",
          kind: "CronJob",
          metadata: { name: "tick" },
          spec: {
            schedule: "* * * * *",
            suspend: true,
            jobTemplate: { spec: { template: { spec: { restartPolicy: "Never", containers: [container("one")] } } } },
          },
        },
      },
      settle,
    ],
  },
]
