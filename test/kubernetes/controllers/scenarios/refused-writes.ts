// Writes of the controllers of workloads that are refused, and then not any more.

import type { Scenario } from "../scenario.ts"
import { cron, lastYear, patched as patchedCron } from "./cron-job-steps.ts"
import { daemon } from "./daemon-set-steps.ts"
import { ended, patched } from "./job-steps.ts"
import { admits, refusing } from "./refusals.ts"
import { stateful } from "./stateful-set-steps.ts"
import { deployment, image, job, rolled, settle } from "./steps.ts"

const noDeletion = (resource: string) => refusing(resource, ["DELETE"], "false")
const keepsFinalizers = refusing(
  "pods",
  ["UPDATE"],
  "has(object.metadata.finalizers) || !has(oldObject.metadata.finalizers)",
)
const due = [cron({ suspend: true }), settle, lastYear, settle] as const
const again = [patchedCron({ suspend: true }), lastYear, settle] as const

export const refusedWriteScenarios: readonly Scenario[] = [
  {
    name: "deployment whose replica set is refused",
    nodes: "ready",
    steps: [...refusing("replicasets", ["CREATE"], "false"), deployment(), settle],
  },
  {
    name: "deployment may not shrink its old replica set",
    nodes: "ready",
    steps: [
      deployment(),
      rolled(3),
      settle,
      ...refusing("replicasets", ["UPDATE"], "object.spec.replicas >= oldObject.spec.replicas"),
      image("two"),
      settle,
    ],
  },
  {
    name: "deployment may not let its new replica set grow",
    nodes: "ready",
    steps: [
      deployment(),
      rolled(3),
      settle,
      ...refusing("replicasets", ["UPDATE"], "object.spec.replicas <= oldObject.spec.replicas"),
      image("two"),
      settle,
    ],
  },
  {
    name: "stateful set may not delete its pods",
    nodes: "ready",
    steps: [stateful({ replicas: 2 }), settle, ...noDeletion("pods"), image("two", "statefulsets"), settle],
  },
  {
    name: "daemon set may not delete its pods",
    nodes: "ready",
    steps: [daemon(), settle, ...noDeletion("pods"), image("two", "daemonsets"), settle],
  },
  {
    name: "job fails and may not delete its pods",
    nodes: "ready",
    steps: [
      ...noDeletion("pods"),
      job({ completions: 2, parallelism: 2 }),
      settle,
      patched({ activeDeadlineSeconds: 1 }),
      settle,
    ],
  },
  {
    name: "job is suspended and may not delete its pods",
    nodes: "ready",
    steps: [...noDeletion("pods"), job({ completions: 2, parallelism: 2 }), settle, patched({ suspend: true }), settle],
  },
  {
    name: "job may not release its pods",
    steps: [...keepsFinalizers, job({ completions: 2, parallelism: 2 }), settle, { pods: "succeeded" }, settle],
  },
  {
    name: "job may release its pods again",
    steps: [
      ...keepsFinalizers,
      job({ completions: 2, parallelism: 2 }),
      settle,
      { pods: "succeeded" },
      settle,
      admits,
      ended("Complete"),
      settle,
    ],
  },
  {
    name: "job is suspended and may not release its pods",
    nodes: "bound",
    steps: [
      ...keepsFinalizers,
      job({ completions: 2, parallelism: 2 }),
      settle,
      { pods: "ready" },
      settle,
      patched({ suspend: true }),
      settle,
    ],
  },
  {
    name: "cron job may not delete jobs that are through",
    steps: [
      ...noDeletion("jobs"),
      ...due,
      patchedCron({ suspend: false, successfulJobsHistoryLimit: 0 }),
      settle,
      { pods: "succeeded" },
      settle,
    ],
  },
  {
    name: "cron job may not replace its job",
    steps: [
      ...noDeletion("jobs"),
      ...due,
      patchedCron({ suspend: false, concurrencyPolicy: "Replace" }),
      settle,
      ...again,
      patchedCron({ suspend: false, schedule: "0 0 2 1 *" }),
      settle,
    ],
  },
]
