// PodDisruptionBudgets and HorizontalPodAutoscalers.

import type { Scenario, Step } from "../scenario.ts"
import { labels, container, deployment, rolled, settle } from "./steps.ts"

const budget = (spec: object): Step => ({
  create: {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "web" },
    spec: { selector: { matchLabels: labels }, ...spec },
  },
})

export const disruptionScenarios: readonly Scenario[] = [
  {
    name: "disruption budget of a deployment",
    nodes: "ready",
    steps: [deployment(), rolled(3), budget({ maxUnavailable: 1 }), settle],
  },
  {
    name: "disruption budget in percent",
    steps: [deployment(), settle, { pods: "ready", count: 2 }, settle, budget({ minAvailable: "50%" }), settle],
  },
  { name: "disruption budget without pods", steps: [budget({ minAvailable: 1 }), settle] },
  {
    name: "disruption budget of pods nobody controls",
    steps: [
      {
        create: {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "alone", labels },
          spec: { containers: [container("one")] },
        },
      },
      // Who looks after budgets has to have seen the pod: it tells when there is none.
      settle,
      budget({ maxUnavailable: 1 }),
      settle,
    ],
  },
  {
    name: "autoscaler without metrics",
    nodes: "ready",
    steps: [
      deployment({ replicas: 2 }),
      rolled(2),
      {
        create: {
          apiVersion: "autoscaling/v2",
          kind: "HorizontalPodAutoscaler",
          metadata: { name: "web" },
          spec: {
            scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
            minReplicas: 1,
            maxReplicas: 5,
          },
        },
      },
      { until: ["horizontalpodautoscalers", "web"], has: { status: { conditions: [{ type: "ScalingActive" }] } } },
    ],
  },
  {
    name: "autoscaler below its least size",
    nodes: "ready",
    steps: [
      deployment({ replicas: 1 }),
      rolled(1),
      {
        create: {
          apiVersion: "autoscaling/v2",
          kind: "HorizontalPodAutoscaler",
          metadata: { name: "web" },
          spec: {
            scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
            minReplicas: 2,
            maxReplicas: 5,
          },
        },
      },
      rolled(2),
    ],
  },
]
