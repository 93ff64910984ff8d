// Conditions that say nothing of when, as users may write them.

import type { Scenario, Step } from "../scenario.ts"
import { daemon } from "./daemon-set-steps.ts"
import { stateful } from "./stateful-set-steps.ts"
import { deployment, job, labels, made, settle, workload } from "./steps.ts"

const pods = (status: object): Step => ({ patchPods: {}, with: { status }, subresource: "status" })
const ready = pods({ phase: "Running", conditions: [{ type: "Ready", status: "True" }] })
const failed = pods({ phase: "Failed", conditions: [{ type: "Ready", status: "False" }] })
const condition = (type: string): object => ({ type, status: "True", reason: "Mine", message: "so" })

export const missingTimeScenarios: readonly Scenario[] = [
  ...[
    workload("ReplicaSet", { replicas: 1, minReadySeconds: 1 }),
    stateful({ replicas: 1, minReadySeconds: 1 }),
    daemon({ minReadySeconds: 1 }),
  ].map((create): Scenario => ({
    name: `${(create as { create: { kind: string } }).create.kind} whose pods are ready since nobody knows when`,
    nodes: "bound",
    steps: [create, settle, ready, settle],
  })),
  {
    name: "deployment whose progress is of nobody knows when",
    nodes: "bound",
    steps: [
      deployment({ replicas: 1 }),
      made(1),
      settle,
      {
        patch: ["deployments", "web"],
        with: { status: { conditions: [condition("Progressing")] } },
        subresource: "status",
      },
      settle,
    ],
  },
  {
    name: "job whose pod has failed nobody knows when",
    nodes: "bound",
    steps: [job(), settle, failed, { until: ["jobs", "work"], has: { status: { active: 1, failed: 1 } } }, settle],
  },
  {
    name: "job that has failed nobody knows when, and is not kept",
    steps: [
      job({ suspend: true, ttlSecondsAfterFinished: 1 }),
      settle,
      {
        patch: ["jobs", "work"],
        with: { status: { conditions: [condition("FailureTarget"), condition("Failed")] } },
        subresource: "status",
        mayBeRefused: true,
      },
      settle,
      settle,
    ],
  },
  {
    name: "pod that is to be disrupted since nobody knows when",
    nodes: "bound",
    steps: [
      workload("ReplicaSet", { replicas: 1 }),
      settle,
      pods({ conditions: [condition("DisruptionTarget")] }),
      settle,
      { patchPods: labels, with: { metadata: { labels: { touched: "yes" } } } },
      settle,
    ],
  },
]
