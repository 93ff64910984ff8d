// Deployments whose ReplicaSets have annotations that somebody else wrote, and sizes beyond 32 bits.

import type { Scenario, Step } from "../scenario.ts"
import { annotated, rollBackTo } from "./deployment-steps.ts"
import { deployment, image, labels, quota, rolled, settle, template, workload } from "./steps.ts"

const revision = "deployment.kubernetes.io/revision"
const desired = "deployment.kubernetes.io/desired-replicas"
const most = "deployment.kubernetes.io/max-replicas"
/** One that the Deployment adopts. */
const set = (annotations: object, spec: object = {}, name = "web"): Step =>
  workload("ReplicaSet", { replicas: 1, ...spec }, { name, labels, annotations })
const old = { template: template("zero") }
const paused = (more: object): Step => ({ patch: ["deployments", "web"], with: { spec: { paused: true, ...more } } })

export const deploymentAnnotationScenarios: readonly Scenario[] = [
  ...[
    ["a word", "x"],
    ["nothing", ""],
  ].map(([what, text = ""]) => ({
    name: `deployment finds its revision to be ${what}`,
    nodes: "ready" as const,
    steps: [set({ [revision]: text, note: "x" }), settle, deployment({}, { annotations: { note: "y" } }), settle],
  })),
  ...["x", "9223372036854775807"].map((text) => ({
    name: `deployment finds an old revision ${text}`,
    nodes: "ready" as const,
    steps: [set({ [revision]: text }, { ...old, replicas: 0 }), settle, deployment(), settle],
  })),
  ...["7", "4294967295", "3000000000"].map((text) => ({
    name: `deployment finds an old set said to be of ${text}`,
    nodes: "ready" as const,
    steps: [set({ [desired]: text }, old), settle, deployment(), settle],
  })),
  ...["8", "1e1", "3000000000"].map((text) => ({
    name: `deployment finds its set said to be of at most ${text}`,
    steps: [
      set({}, { ...old, replicas: 4 }, "old"),
      set({ [most]: text }, { replicas: 2 }),
      settle,
      deployment({ replicas: 20, paused: true }),
      settle,
    ],
  })),
  {
    name: "deployment on hold that is to roll back keeps its history",
    nodes: "ready",
    steps: [
      deployment(),
      rolled(3),
      image("two"),
      rolled(3),
      settle,
      paused({}),
      settle,
      rollBackTo("1"),
      settle,
      paused({ revisionHistoryLimit: 0 }),
      settle,
    ],
  },
  {
    name: "deployment that is going passes on its annotations",
    nodes: "ready",
    steps: [
      deployment({}, { finalizers: ["example.com/hold"] }),
      rolled(3),
      settle,
      { delete: ["deployments", "web"] },
      settle,
      annotated({ note: "x" }),
      settle,
    ],
  },
  {
    name: "deployment of more pods than can be counted",
    steps: [quota({ pods: "0" }), deployment({ replicas: 2_147_483_647 }), settle],
  },
  {
    name: "deployment that may have more pods than can be counted",
    steps: [
      deployment({
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 2_147_483_647, maxUnavailable: 1 } },
      }),
      settle,
    ],
  },
]
