// PodDisruptionBudgets and HorizontalPodAutoscalers.

import type { Scenario, Step } from "../scenario.ts"
import { labels, container, deployment, made, rolled, scale, settle, workload } from "./steps.ts"

const budget = (spec: object): Step => ({
  create: {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "web" },
    spec: { selector: { matchLabels: labels }, ...spec },
  },
})

const named = (name: string, spec: object): Step => ({
  create: {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name },
    spec: { selector: { matchLabels: labels }, ...spec },
  },
})
const autoscaler = (spec: object = {}, name = "web"): Step => ({
  create: {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 5,
      ...spec,
    },
  },
})
const conditionReported = (type: string): Step => ({
  until: ["horizontalpodautoscalers", "web"],
  has: { status: { conditions: [{ type }] } },
})
const target = { type: "Utilization", averageUtilization: 50 }
const average = { type: "AverageValue", averageValue: "10" }
/** The metrics APIs, which no server of the tests has, report to an autoscaler why metrics are missing. */
const metric = (name: string, metrics: object): Scenario => ({
  name: `autoscaler by ${name}`,
  nodes: "ready",
  steps: [
    deployment({
      replicas: 2,
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "c", image: "one", resources: { requests: { cpu: "100m" } } }] },
      },
    }),
    rolled(2),
    autoscaler({ metrics: [metrics] }),
    conditionReported("ScalingActive"),
    settle,
  ],
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
    name: "disruption budget of pods without a controller",
    steps: [
      {
        create: {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "alone", labels },
          spec: { containers: [container("one")] },
        },
      },
      // The disruption controller must have observed the pod: it records an event if there is none.
      settle,
      budget({ maxUnavailable: 1 }),
      settle,
    ],
  },
  {
    name: "autoscaler without metrics",
    nodes: "ready",
    steps: [deployment({ replicas: 2 }), rolled(2), autoscaler(), conditionReported("ScalingActive")],
  },
  {
    name: "autoscaler that comes before its target",
    nodes: "ready",
    steps: [autoscaler(), settle, deployment({ replicas: 2 }), rolled(2), conditionReported("ScalingActive"), settle],
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
  {
    name: "disruption budgets of the same pods",
    nodes: "ready",
    steps: [deployment(), rolled(3), named("a", { minAvailable: 1 }), named("b", { minAvailable: 2 }), settle],
  },
  {
    name: "disruption budget that requires more pods than there are",
    nodes: "ready",
    steps: [deployment(), rolled(3), budget({ minAvailable: 5 }), settle],
  },
  {
    name: "disruption budget of all",
    nodes: "ready",
    steps: [deployment(), rolled(3), budget({ maxUnavailable: "100%", selector: {} }), settle],
  },
  {
    name: "disruption budget of none",
    nodes: "ready",
    steps: [deployment(), rolled(3), budget({ maxUnavailable: 1, selector: null }), settle],
  },
  {
    name: "disruption budget of a stateful set",
    nodes: "ready",
    steps: [
      workload("StatefulSet", { serviceName: "web", replicas: 3 }),
      settle,
      budget({ maxUnavailable: "34%" }),
      settle,
    ],
  },
  {
    name: "disruption budget of a replica set that is resized",
    nodes: "ready",
    steps: [
      workload("ReplicaSet", { replicas: 2 }),
      settle,
      budget({ maxUnavailable: 1 }),
      settle,
      scale(4, "replicasets"),
      settle,
    ],
  },
  {
    name: "disruption budget of a daemon set",
    nodes: "ready",
    steps: [workload("DaemonSet", {}), settle, budget({ maxUnavailable: 1 }), settle],
  },
  {
    name: "disruption budget of daemons by number",
    nodes: "ready",
    steps: [workload("DaemonSet", {}), settle, budget({ minAvailable: 1 }), settle],
  },
  {
    name: "disruption budget that changes its mind",
    nodes: "ready",
    steps: [
      deployment(),
      rolled(3),
      budget({ minAvailable: 1 }),
      settle,
      { patch: ["poddisruptionbudgets", "web"], with: { spec: { minAvailable: null, maxUnavailable: "50%" } } },
      settle,
    ],
  },
  {
    name: "disruption budget whose pods become unready",
    steps: [
      deployment({ replicas: 4 }),
      made(4),
      settle,
      { pods: "ready" },
      rolled(4),
      budget({ maxUnavailable: 2 }),
      settle,
      { pods: "unready", count: 3 },
      settle,
    ],
  },
  {
    name: "disruption budget of pods that are evicted",
    nodes: "bound",
    steps: [
      deployment(),
      made(3),
      settle,
      { pods: "ready" },
      rolled(3),
      budget({ maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow" }),
      settle,
      { evictPods: labels, count: 1 },
      settle,
    ],
  },
  metric("what its pods use", { type: "Resource", resource: { name: "cpu", target } }),
  metric("what its pods use of what they do not ask for", { type: "Resource", resource: { name: "memory", target } }),
  metric("what its pods use in absolute terms", {
    type: "Resource",
    resource: { name: "cpu", target: { type: "AverageValue", averageValue: "1" } },
  }),
  metric("what a container uses", {
    type: "ContainerResource",
    containerResource: { name: "cpu", container: "c", target },
  }),
  metric("a figure of its pods", { type: "Pods", pods: { metric: { name: "hits" }, target: average } }),
  metric("a figure of an object", {
    type: "Object",
    object: {
      metric: { name: "hits" },
      describedObject: { apiVersion: "v1", kind: "Service", name: "web" },
      target: { type: "Value", value: "10" },
    },
  }),
  metric("a figure from outside", {
    type: "External",
    external: { metric: { name: "queue", selector: { matchLabels: { a: "b" } } }, target: average },
  }),
  {
    name: "autoscaler above its largest size",
    nodes: "ready",
    steps: [deployment({ replicas: 4 }), rolled(4), autoscaler({ maxReplicas: 2 }), rolled(2), settle],
  },
  {
    name: "autoscaler of what is scaled to nothing",
    nodes: "ready",
    steps: [deployment({ replicas: 0 }), settle, autoscaler(), conditionReported("ScalingActive"), settle],
  },
  {
    name: "autoscaler that is said to have scaled to nothing",
    nodes: "ready",
    steps: [
      deployment({ replicas: 0 }),
      settle,
      autoscaler(),
      conditionReported("ScalingActive"),
      {
        patch: ["horizontalpodautoscalers", "web"],
        with: { status: { conditions: [{ type: "ScaledToZero", status: "True" }] } },
        subresource: "status",
      },
      conditionReported("ScalingActive"),
      settle,
    ],
  },
  {
    name: "autoscaler of nothing",
    steps: [autoscaler(), conditionReported("AbleToScale"), settle],
  },
  {
    name: "autoscaler of a kind that is not there",
    steps: [
      autoscaler({ scaleTargetRef: { apiVersion: "example.com/v1", kind: "Nothing", name: "web" } }),
      conditionReported("AbleToScale"),
      settle,
    ],
  },
  ...[
    { apiVersion: "scenarios.example.com/v1", kind: "Thing", name: "web" },
    { apiVersion: "apps/v1", kind: "DaemonSet", name: "web" },
  ].map((scaleTargetRef) => ({
    name: `autoscaler of a ${scaleTargetRef.kind}, which has no scale`,
    steps: [autoscaler({ scaleTargetRef }), conditionReported("AbleToScale"), settle],
  })),
  {
    name: "autoscalers of the same pods",
    nodes: "ready",
    steps: [
      deployment({ replicas: 2 }),
      rolled(2),
      autoscaler({ minReplicas: 2 }, "other"),
      settle,
      autoscaler({ minReplicas: 2 }),
      conditionReported("ScalingActive"),
      settle,
    ],
  },
  {
    name: "autoscaler of a stateful set",
    nodes: "ready",
    steps: [
      workload("StatefulSet", { serviceName: "web", replicas: 1 }),
      settle,
      autoscaler({ scaleTargetRef: { apiVersion: "apps/v1", kind: "StatefulSet", name: "web" }, minReplicas: 3 }),
      { until: ["statefulsets", "web"], has: { status: { readyReplicas: 3 } } },
      settle,
    ],
  },
]
