// Statuses of workloads that users have written, which stay until something else changes, or until the workload is looked at again.

import type { Scenario, Step } from "../scenario.ts"
import { cron } from "./cron-job-steps.ts"
import { daemon } from "./daemon-set-steps.ts"
import { stateful } from "./stateful-set-steps.ts"
import { job, owner, settle } from "./steps.ts"

const status = (resource: string, name: string, fields: object): Step => ({
  patch: [resource, name],
  with: { status: fields },
  subresource: "status",
})
const held: Step = { patch: ["statefulsets", "web"], with: { metadata: { finalizers: ["example.com/hold"] } } }
/** Whether a set has written that it goes, and that it has no pods, before its history is taken from it, is a matter of moments. */
const counted = {
  observedGeneration: 2,
  replicas: 1,
  readyReplicas: 1,
  availableReplicas: 1,
  currentReplicas: 1,
  updatedReplicas: 1,
}

export const meddledStatusScenarios: readonly Scenario[] = [
  {
    name: "daemon set that has observed a generation to come",
    nodes: "ready",
    steps: [daemon(), settle, status("daemonsets", "web", { observedGeneration: 5 }), settle],
  },
  {
    name: "cron job whose active job is none",
    steps: [cron({ suspend: true }), settle, status("cronjobs", "tick", { active: [owner] }), settle],
  },
  {
    name: "job without uncounted pods in its status",
    nodes: "bound",
    steps: [job(), settle, status("jobs", "work", { uncountedTerminatedPods: null }), settle],
  },
  ...(["Foreground", "Orphan"] as const).map((policy): Scenario => ({
    name: `stateful set that goes, by ${policy}, and is held, and whose status is changed`,
    nodes: "ready",
    steps: [
      stateful({ replicas: 1 }),
      settle,
      held,
      { delete: ["statefulsets", "web"], policy },
      settle,
      status("statefulsets", "web", { updateRevision: "web-other", ...(policy === "Orphan" ? counted : {}) }),
      settle,
    ],
  })),
]
