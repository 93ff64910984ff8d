// Jobs of several policies at once, which are suspended in between, and times to go that change after a Job has ended.

import type { Scenario, Step } from "../scenario.ts"
import { ended, held, index, indexed, patched } from "./job-steps.ts"
import { job, jobHas, settle } from "./steps.ts"

const letGo: Step = { patchPods: {}, with: { metadata: { finalizers: null } } }
const perIndex = { backoffLimitPerIndex: 1, maxFailedIndexes: 3, podReplacementPolicy: "Failed" }

export const jobPolicyScenarios: readonly Scenario[] = [
  {
    name: "job that has ended is given more time to go, none, and little",
    nodes: "bound",
    steps: [
      job({ ttlSecondsAfterFinished: 3600 }),
      settle,
      { pods: "succeeded" },
      ended("Complete"),
      settle,
      patched({ ttlSecondsAfterFinished: 7200 }),
      settle,
      patched({ ttlSecondsAfterFinished: null }),
      settle,
      patched({ ttlSecondsAfterFinished: 1 }),
      { until: ["jobs", "work"], has: null },
      settle,
    ],
  },
  {
    name: "job that was to go and is held is given more time",
    nodes: "bound",
    steps: [
      job({ ttlSecondsAfterFinished: 1 }),
      { patch: ["jobs", "work"], with: { metadata: { finalizers: ["example.com/hold"] } } },
      settle,
      { pods: "succeeded" },
      settle,
      settle,
      patched({ ttlSecondsAfterFinished: 3600 }),
      settle,
    ],
  },
  {
    name: "job without time to go is suspended and fails",
    nodes: "bound",
    steps: [
      job({ ttlSecondsAfterFinished: 0, suspend: true }),
      settle,
      patched({ suspend: false }),
      settle,
      { pods: { exit: 1 } },
      settle,
      patched({ suspend: true }),
      settle,
    ],
  },
  {
    name: "job that somebody else looks after ends and goes",
    steps: [
      job({ ttlSecondsAfterFinished: 1, managedBy: "example.com/other" }),
      settle,
      { patch: ["jobs", "work"], with: { status: endedElsewhere() }, subresource: "status" },
      { until: ["jobs", "work"], has: null },
      settle,
    ],
  },
  {
    name: "job of all policies is suspended while its pods do not end",
    nodes: "bound",
    steps: [
      indexed(4, { ...perIndex, successPolicy: { rules: [{ succeededIndexes: "0-2", succeededCount: 2 }] }, ...held }),
      jobHas({ active: 4 }),
      settle,
      { pods: "ready" },
      settle,
      { pods: "succeeded", labels: index(1) },
      settle,
      { deletePods: index(0) },
      settle,
      patched({ suspend: true }),
      settle,
      letGo,
      settle,
      patched({ suspend: false }),
      settle,
      { pods: "ready" },
      settle,
      { pods: { exit: 1 }, labels: index(3) },
      settle,
      { pods: "succeeded", labels: index(0) },
      settle,
      letGo,
      settle,
    ],
  },
  {
    name: "job of all policies fails an index, is suspended, and may fail none",
    nodes: "bound",
    steps: [
      indexed(3, {
        ...perIndex,
        podFailurePolicy: { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [42] } }] },
        successPolicy: { rules: [{ succeededCount: 2 }] },
      }),
      jobHas({ active: 3 }),
      settle,
      { pods: "ready" },
      settle,
      { pods: { exit: 42 }, labels: index(0) },
      settle,
      patched({ suspend: true }),
      settle,
      patched({ suspend: false, maxFailedIndexes: 0 }),
      settle,
    ],
  },
]

function endedElsewhere(): object {
  const at = "2026-01-01T00:00:01Z"
  const conditions = ["SuccessCriteriaMet", "Complete"].map((type) => ({
    type,
    status: "True",
    lastTransitionTime: at,
  }))
  return { startTime: "2026-01-01T00:00:00Z", completionTime: at, succeeded: 1, conditions }
}
