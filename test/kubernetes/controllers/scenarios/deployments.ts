// Deployments: rollouts, rollbacks, scaling.

import type { Scenario } from "../scenario.ts"
import { deployment, image, scale, rolled, quota, settle } from "./steps.ts"

export const deploymentScenarios: readonly Scenario[] = [
  { name: "deployment becomes available", nodes: "ready", steps: [deployment(), rolled(3)] },
  {
    name: "deployment rolls to a new template",
    nodes: "ready",
    steps: [deployment(), rolled(3), image("two"), rolled(3)],
  },
  {
    name: "deployment rolls back by template",
    nodes: "ready",
    steps: [deployment(), rolled(3), image("two"), rolled(3), settle, image("one"), rolled(3)],
  },
  {
    name: "deployment stuck by unready pods keeps its surge limits",
    steps: [
      deployment({ replicas: 4, strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } } }),
      settle,
      { pods: "ready" },
      rolled(4),
      image("two"),
      settle,
    ],
  },
  {
    name: "deployment that recreates waits for old pods",
    // When old and new pods are never seen together, it tells of no progress at all.
    ignoreConditions: ["Progressing"],
    nodes: "ready",
    steps: [deployment({ strategy: { type: "Recreate" } }), rolled(3), image("two"), rolled(3)],
  },
  {
    name: "deployment paused takes a size but no template",
    nodes: "ready",
    steps: [
      deployment(),
      rolled(3),
      { patch: ["deployments", "web"], with: { spec: { paused: true } } },
      image("two"),
      scale(5),
      settle,
    ],
  },
  {
    name: "deployment resumed rolls on",
    nodes: "ready",
    steps: [
      deployment({ paused: true }),
      settle,
      { patch: ["deployments", "web"], with: { spec: { paused: false } } },
      rolled(3),
    ],
  },
  {
    name: "deployment scaled in the middle of a rollout spreads the change",
    steps: [
      deployment({ replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } }),
      settle,
      { pods: "ready" },
      rolled(10),
      image("two"),
      settle,
      scale(15),
      settle,
    ],
  },
  { name: "deployment scaled to nothing", nodes: "ready", steps: [deployment(), rolled(3), scale(0), settle] },
  {
    name: "deployment misses its deadline",
    steps: [
      deployment({ progressDeadlineSeconds: 3 }),
      settle,
      { until: ["deployments", "web"], has: { status: { conditions: [{ reason: "ProgressDeadlineExceeded" }] } } },
    ],
  },
  {
    name: "deployment keeps as much history as it should",
    nodes: "ready",
    steps: [
      deployment({ revisionHistoryLimit: 1 }),
      rolled(3),
      image("two"),
      rolled(3),
      settle,
      image("three"),
      rolled(3),
      settle,
      image("four"),
      rolled(3),
    ],
  },
  {
    name: "deployment that runs into a quota",
    nodes: "ready",
    steps: [
      quota({ pods: "2" }),
      { until: ["resourcequotas", "limit"], has: { status: { hard: { pods: "2" } } } },
      deployment(),
      settle,
    ],
  },
]
