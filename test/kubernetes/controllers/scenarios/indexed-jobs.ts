// Jobs whose pods have indexes.

import type { Scenario } from "../scenario.ts"
import { ended, held, index, indexed, patched } from "./job-steps.ts"
import { job, jobHas, settle } from "./steps.ts"

export const indexedJobScenarios: readonly Scenario[] = [
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
    name: "indexed job grows and shrinks",
    steps: [
      indexed(2),
      jobHas({ active: 2 }),
      patched({ completions: 4, parallelism: 4 }),
      jobHas({ active: 4 }),
      { pods: "succeeded", labels: index(3) },
      settle,
      patched({ completions: 2, parallelism: 2 }),
      settle,
      { pods: "succeeded" },
      ended("Complete"),
    ],
  },
  {
    name: "indexed job with a failure policy that fails an index",
    steps: [
      indexed(2, {
        backoffLimitPerIndex: 2,
        podFailurePolicy: { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [42] } }] },
      }),
      jobHas({ active: 2 }),
      { pods: { exit: 42 }, labels: index(1) },
      settle,
      { pods: { exit: 1 }, labels: index(0) },
      jobHas({ failed: 2, active: 1 }),
    ],
  },
  {
    name: "indexed job with a failure policy that ignores",
    steps: [
      indexed(2, {
        backoffLimitPerIndex: 0,
        podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }] },
      }),
      jobHas({ active: 2 }),
      { pods: { exit: 1, condition: "DisruptionTarget" }, labels: index(1) },
      jobHas({ active: 2 }),
      settle,
    ],
  },
  {
    name: "indexed job whose indexes all failed",
    steps: [
      indexed(2, { backoffLimitPerIndex: 0 }),
      jobHas({ active: 2 }),
      { pods: { exit: 1 } },
      ended("Failed"),
      settle,
    ],
  },
  {
    name: "indexed job with a success policy of several rules",
    nodes: "bound",
    steps: [
      indexed(4, {
        successPolicy: { rules: [{ succeededIndexes: "0-2", succeededCount: 2 }, { succeededIndexes: "3" }] },
      }),
      settle,
      { pods: "ready" },
      settle,
      { pods: "succeeded", labels: index(1) },
      settle,
      { pods: "succeeded", labels: index(3) },
      ended("Complete"),
      settle,
    ],
  },
  {
    name: "indexed job with fewer at a time than indexes",
    steps: [
      job({ completionMode: "Indexed", completions: 5, parallelism: 2 }),
      jobHas({ active: 2 }),
      { pods: "succeeded" },
      jobHas({ succeeded: 2, active: 2 }),
      settle,
      { pods: { exit: 1 }, count: 1 },
      jobHas({ failed: 1, active: 2 }),
    ],
  },
  {
    name: "indexed job that replaces only failed pods, which do not end",
    nodes: "bound",
    steps: [
      indexed(3, { podReplacementPolicy: "Failed", backoffLimitPerIndex: 2, ...held }),
      jobHas({ active: 3 }),
      settle,
      { deletePods: index(1) },
      settle,
      { deletePods: index(2) },
      settle,
    ],
  },
  {
    name: "indexed job suspended, made larger and made smaller",
    nodes: "bound",
    steps: [
      indexed(2),
      jobHas({ active: 2 }),
      settle,
      { pods: "succeeded", labels: index(0) },
      jobHas({ succeeded: 1 }),
      settle,
      patched({ suspend: true }),
      settle,
      patched({ completions: 4, parallelism: 4 }),
      settle,
      patched({ suspend: false }),
      settle,
      patched({ completions: 1, parallelism: 1 }),
      settle,
    ],
  },
]
