// Deployments: rollouts and scaling.

import type { Scenario } from "../scenario.ts"
import { deployment, image, labels, quota, rolled, scale, settle, template } from "./steps.ts"

const ready = { ready: "yes" }

export const deploymentScenarios: readonly Scenario[] = [
  { name: "deployment becomes available", nodes: "ready", steps: [deployment(), rolled(3)] },
  {
    name: "deployment rolls to a new template",
    nodes: "ready",
    steps: [deployment(), rolled(3), image("two"), rolled(3)],
  },
  {
    name: "deployment that loses a pod, which another soon replaces",
    nodes: "ready",
    steps: [deployment(), rolled(3), settle, { deletePods: labels, count: 1 }, settle],
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
    // If old and new pods are never observed together, no progress is reported.
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
    name: "deployment that runs into a quota",
    nodes: "ready",
    steps: [
      quota({ pods: "2" }),
      { until: ["resourcequotas", "limit"], has: { status: { hard: { pods: "2" } } } },
      deployment(),
      settle,
    ],
  },
  {
    name: "deployment available after a while",
    nodes: "ready",
    steps: [deployment({ minReadySeconds: 2 }), rolled(3), settle, image("two"), rolled(3)],
  },
  {
    name: "deployment may be unavailable as a whole",
    nodes: "bound",
    steps: [
      deployment({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: "100%" } } }),
      settle,
      { pods: "ready" },
      rolled(3),
      image("two"),
      settle,
    ],
  },
  {
    name: "deployment scaled down in the middle of a rollout, and then with less surge",
    steps: [
      deployment({ replicas: 5, strategy: { rollingUpdate: { maxSurge: "34%", maxUnavailable: 1 } } }),
      settle,
      { pods: "ready" },
      rolled(5),
      { patchPods: labels, with: { metadata: { labels: ready } } },
      image("two"),
      settle,
      { patchPods: { ...labels, ...ready }, with: { metadata: { finalizers: ["example.com/hold"] } } },
      settle,
      scale(3),
      settle,
      {
        patch: ["deployments", "web"],
        with: { spec: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: "34%" } } } },
      },
      settle,
      // Pods without a node that are held fail sooner or later: the pod garbage collector of upstream looks every 20 s.
      { until: ["deployments", "web"], has: { status: { terminatingReplicas: 0 } } },
    ],
  },
  {
    name: "deployment that loses a pod in the middle of a rollout",
    steps: [
      deployment({ replicas: 6, strategy: { rollingUpdate: { maxSurge: "75%", maxUnavailable: "34%" } } }),
      settle,
      { pods: "ready" },
      rolled(6),
      { patchPods: labels, with: { metadata: { labels: ready } } },
      image("two"),
      settle,
      image("three"),
      settle,
      { patchPods: { ...labels, ...ready }, count: 1, with: { metadata: { labels: { app: "other" } } } },
      settle,
    ],
  },
  {
    name: "deployment rounds its limits",
    steps: [
      deployment({ replicas: 7, strategy: { rollingUpdate: { maxSurge: "30%", maxUnavailable: "30%" } } }),
      settle,
      { pods: "ready" },
      rolled(7),
      image("two"),
      settle,
    ],
  },
  {
    name: "deployment whose pods are refused",
    steps: [deployment({ template: template("one", { serviceAccountName: "nobody" }) }), settle],
  },
  {
    name: "deployment whose pods are refused misses its deadline",
    steps: [
      deployment({ progressDeadlineSeconds: 2, template: template("one", { priorityClassName: "nobody" }) }),
      { until: ["deployments", "web"], has: { status: { conditions: [{ reason: "ProgressDeadlineExceeded" }] } } },
      settle,
    ],
  },
  {
    name: "deployment that has missed its deadline goes on",
    steps: [
      deployment({ progressDeadlineSeconds: 2 }),
      { until: ["deployments", "web"], has: { status: { conditions: [{ reason: "ProgressDeadlineExceeded" }] } } },
      settle,
      { pods: "ready" },
      rolled(3),
      settle,
    ],
  },
  {
    name: "deployment that loses a pod after its rollout",
    steps: [
      deployment({ progressDeadlineSeconds: 2 }),
      settle,
      { pods: "ready" },
      rolled(3),
      settle,
      { pods: "unready", count: 2 },
      settle,
    ],
  },
  {
    name: "deployment with pods that do not end",
    nodes: "bound",
    steps: [
      deployment({ template: { ...template(), metadata: { labels, finalizers: ["example.com/hold"] } } }),
      settle,
      { pods: "ready" },
      rolled(3),
      settle,
      scale(1),
      settle,
    ],
  },
  {
    name: "deployment that recreates waits for pods that do not end",
    nodes: "bound",
    steps: [
      deployment({
        strategy: { type: "Recreate" },
        template: { ...template(), metadata: { labels, finalizers: ["example.com/hold"] } },
      }),
      settle,
      { pods: "ready" },
      rolled(3),
      settle,
      image("two"),
      settle,
    ],
  },
  {
    name: "deployment paused in the middle of a rollout is resized",
    steps: [
      deployment({ replicas: 6, strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 2 } } }),
      settle,
      { pods: "ready" },
      rolled(6),
      { patchPods: labels, with: { metadata: { labels: ready } } },
      image("two"),
      settle,
      { patch: ["deployments", "web"], with: { spec: { paused: true } } },
      scale(9),
      settle,
      image("three"),
      settle,
      { patch: ["deployments", "web"], with: { spec: { paused: false } } },
      settle,
    ],
  },
  {
    name: "deployment shrunk in the middle of a rollout",
    steps: [
      deployment({ replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } }),
      settle,
      { pods: "ready" },
      rolled(10),
      image("two"),
      settle,
      image("three"),
      settle,
      scale(5),
      settle,
    ],
  },
  {
    name: "deployment whose old pods are not well",
    steps: [
      deployment({ replicas: 4, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } }),
      settle,
      { pods: "ready" },
      rolled(4),
      settle,
      { pods: "unready", count: 3 },
      settle,
      image("two"),
      settle,
    ],
  },
  {
    name: "deployment without pods gets a template",
    nodes: "ready",
    steps: [deployment({ replicas: 0 }), settle, image("two"), settle, scale(2), settle],
  },
]
