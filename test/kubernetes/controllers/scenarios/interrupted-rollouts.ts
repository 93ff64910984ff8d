// Deployments that are changed in the middle of a rollout in more ways than one.

import type { Scenario } from "../scenario.ts"
import { deployment, image, made, rolled, scale, settle } from "./steps.ts"

export const interruptedRolloutScenarios: readonly Scenario[] = [
  {
    name: "deployment changes its strategy in the middle of a rollout",
    nodes: "bound",
    steps: [
      deployment({ replicas: 4 }),
      made(4),
      settle,
      { pods: "ready" },
      rolled(4),
      image("two"),
      settle,
      { patch: ["deployments", "web"], with: { spec: { strategy: { type: "Recreate", rollingUpdate: null } } } },
      settle,
    ],
  },
  {
    name: "deployment resized by more than its surge while its rollout is paused",
    nodes: "bound",
    steps: [
      deployment({ replicas: 6 }),
      made(6),
      settle,
      { pods: "ready" },
      rolled(6),
      image("two"),
      settle,
      { patch: ["deployments", "web"], with: { spec: { paused: true } } },
      settle,
      scale(13),
      settle,
      scale(5),
      settle,
      { patch: ["deployments", "web"], with: { spec: { paused: false } } },
      settle,
    ],
  },
]
