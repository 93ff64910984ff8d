// Jobs whose pods fail, are disrupted or refused, and those that come to their deadline.

import type { Scenario } from "../scenario.ts"
import { ended, held, index, indexed, patched, pod } from "./job-steps.ts"
import { job, jobHas, labels, quota, settle } from "./steps.ts"

export const failingJobScenarios: readonly Scenario[] = [
  {
    name: "job fails at its limit",
    steps: [job({ backoffLimit: 0 }), jobHas({ active: 1 }), { pods: { exit: 1 } }, jobHas({ failed: 1 })],
  },
  {
    name: "job of several pods that fail together",
    nodes: "bound",
    steps: [
      job({ parallelism: 4, completions: 4, backoffLimit: 0 }),
      settle,
      { pods: { exit: 1 }, count: 3 },
      ended("Failed"),
      settle,
    ],
  },
  {
    name: "job of indexes that succeed and fail together",
    nodes: "bound",
    steps: [
      indexed(4, { backoffLimitPerIndex: 0, maxFailedIndexes: 0 }),
      settle,
      { pods: { exit: 1 }, labels: index(1) },
      { pods: "succeeded", labels: index(0) },
      { pods: { exit: 1 }, labels: index(3) },
      ended("Failed"),
      settle,
    ],
  },
  {
    name: "job at its deadline",
    steps: [job({ activeDeadlineSeconds: 2 }), jobHas({ conditions: [{ type: "Failed" }] })],
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
    name: "job without completions whose pods fail",
    steps: [
      job({ parallelism: 2, backoffLimit: 1 }),
      jobHas({ active: 2 }),
      { pods: "succeeded", count: 1 },
      jobHas({ succeeded: 1 }),
      { pods: { exit: 1 } },
      settle,
    ],
  },
  { name: "job somebody else looks after", steps: [job({ managedBy: "example.com/other" }), settle] },
  {
    name: "job that failed goes after its end",
    steps: [
      job({ ttlSecondsAfterFinished: 1, backoffLimit: 0 }),
      jobHas({ active: 1 }),
      { pods: { exit: 1 } },
      { until: ["jobs", "work"], has: null },
      settle,
    ],
  },
  {
    name: "job waits until pods have failed before it makes others",
    nodes: "bound",
    steps: [
      job({ podReplacementPolicy: "Failed", parallelism: 2, completions: 2, ...held }),
      jobHas({ active: 2 }),
      settle,
      { deletePods: {}, count: 1 },
      settle,
    ],
  },
  {
    name: "job fails while pods do not end",
    nodes: "bound",
    steps: [
      job({ parallelism: 2, completions: 2, backoffLimit: 0, ...held }),
      settle,
      { pods: "ready" },
      settle,
      { pods: { exit: 1 }, count: 1 },
      settle,
    ],
  },
  {
    name: "job suspended at its deadline",
    steps: [
      job({ activeDeadlineSeconds: 2 }),
      jobHas({ active: 1 }),
      patched({ suspend: true }),
      settle,
      patched({ suspend: false }),
      ended("Failed"),
      settle,
    ],
  },
  {
    name: "job retries and fails",
    steps: [
      job({ backoffLimit: 1, parallelism: 2, completions: 2 }),
      jobHas({ active: 2 }),
      { pods: { exit: 1 }, count: 1 },
      jobHas({ failed: 1, active: 2 }),
      { pods: { exit: 2 }, count: 1 },
      ended("Failed"),
      settle,
    ],
  },
  {
    name: "job whose containers restart too often",
    nodes: "bound",
    steps: [
      job({ backoffLimit: 1, ...pod({ restartPolicy: "OnFailure" }) }),
      settle,
      { pods: { restarts: 1 } },
      settle,
      { pods: { restarts: 3 } },
      ended("Failed"),
      settle,
    ],
  },
  {
    name: "job with a failure policy for conditions",
    steps: [
      job({
        backoffLimit: 3,
        podFailurePolicy: {
          rules: [
            { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "False" }] },
            { action: "FailJob", onPodConditions: [{ type: "ConfigIssue", status: "True" }] },
          ],
        },
      }),
      jobHas({ active: 1 }),
      { pods: { exit: 1, condition: "ConfigIssue" } },
      ended("Failed"),
      settle,
    ],
  },
  {
    name: "job with a failure policy that counts",
    steps: [
      job({
        backoffLimit: 1,
        podFailurePolicy: {
          rules: [
            { action: "Count", onExitCodes: { containerName: "c", operator: "In", values: [1] } },
            { action: "FailJob", onExitCodes: { operator: "NotIn", values: [1, 2] } },
          ],
        },
      }),
      jobHas({ active: 1 }),
      { pods: { exit: 1 } },
      jobHas({ failed: 1, active: 1 }),
      { pods: { exit: 3 } },
      ended("Failed"),
      settle,
    ],
  },
  {
    name: "job whose pods are refused",
    steps: [job(pod({ serviceAccountName: "nobody" })), settle],
  },
  {
    name: "job that runs into a quota",
    steps: [
      quota({ pods: "1" }),
      { until: ["resourcequotas", "limit"], has: { status: { hard: { pods: "1" } } } },
      job({ parallelism: 2, completions: 2 }),
      settle,
    ],
  },
  {
    name: "job with a pod that ran and was disrupted",
    nodes: "bound",
    steps: [
      job({ backoffLimit: 2 }),
      settle,
      { pods: "ready" },
      settle,
      { pods: { exit: 137, condition: "DisruptionTarget" } },
      jobHas({ failed: 1, active: 1 }),
    ],
  },
  {
    name: "job whose pods are evicted, which is ignored",
    nodes: "ready",
    steps: [
      job({
        parallelism: 2,
        completions: 2,
        podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }] },
        ...pod({}, { labels }),
      }),
      jobHas({ active: 2 }),
      settle,
      { evictPods: labels, count: 1 },
      settle,
    ],
  },
  {
    name: "job whose limit is lowered while it fails",
    nodes: "bound",
    steps: [
      job({ parallelism: 2, completions: 2 }),
      jobHas({ active: 2 }),
      settle,
      { pods: { exit: 1 }, count: 1 },
      jobHas({ failed: 1 }),
      patched({ backoffLimit: 0 }),
      ended("Failed"),
      settle,
    ],
  },
  {
    name: "job whose deadline is shortened",
    nodes: "bound",
    steps: [
      job({ activeDeadlineSeconds: 3600 }),
      jobHas({ active: 1 }),
      settle,
      patched({ activeDeadlineSeconds: 1 }),
      ended("Failed"),
      settle,
    ],
  },
  {
    name: "job that has ended is given a time to go",
    steps: [
      job(),
      jobHas({ active: 1 }),
      { pods: "succeeded" },
      ended("Complete"),
      settle,
      patched({ ttlSecondsAfterFinished: 3600 }),
      settle,
      patched({ ttlSecondsAfterFinished: 0 }),
      { until: ["jobs", "work"], has: null },
      settle,
    ],
  },
]
