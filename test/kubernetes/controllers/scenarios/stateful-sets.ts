// StatefulSets: order, identity, size.

import type { Scenario } from "../scenario.ts"
import { claims, held, patched, podNamed, stateful } from "./stateful-set-steps.ts"
import { image, labels, scale, settle, template } from "./steps.ts"

export const statefulSetScenarios: readonly Scenario[] = [
  { name: "stateful set starts one after the other", nodes: "ready", steps: [stateful(), settle] },
  { name: "stateful set waits for the first", steps: [stateful(), settle] },
  { name: "stateful set in parallel", steps: [stateful({ podManagementPolicy: "Parallel" }), settle] },
  {
    name: "stateful set shrinks from the end",
    nodes: "ready",
    steps: [stateful(), settle, scale(1, "statefulsets"), settle],
  },
  {
    name: "stateful set replaces a failed pod",
    nodes: "ready",
    steps: [stateful(), settle, { pods: { exit: 1 }, count: 1 }, settle],
  },
  {
    name: "stateful set begins elsewhere",
    nodes: "ready",
    steps: [stateful({ replicas: 2, ordinals: { start: 3 } }), settle],
  },
  {
    name: "stateful set deleted and its pods kept",
    nodes: "ready",
    steps: [stateful({ replicas: 2 }), settle, { delete: ["statefulsets", "web"], policy: "Orphan" }, settle],
  },
  {
    name: "stateful set finds a pod of its name",
    nodes: "ready",
    steps: [podNamed("web-0", { labels }), settle, stateful({ replicas: 1 }), settle],
  },
  {
    name: "stateful set finds a stranger of its pod's name",
    nodes: "ready",
    steps: [podNamed("web-0"), settle, stateful({ replicas: 1 }), settle],
  },
  {
    name: "stateful set finds a pod of its labels",
    nodes: "ready",
    steps: [podNamed("other", { labels }), settle, stateful({ replicas: 1 }), settle],
  },
  {
    name: "stateful set lets go of a pod",
    nodes: "ready",
    steps: [
      stateful({ replicas: 1 }),
      settle,
      { patch: ["pods", "web-0"], with: { metadata: { labels: { app: "other" } } } },
      settle,
    ],
  },
  {
    name: "stateful set names its pods again",
    nodes: "ready",
    steps: [
      stateful({ replicas: 1, volumeClaimTemplates: claims }),
      settle,
      {
        patch: ["pods", "web-0"],
        with: {
          metadata: { labels: { "statefulset.kubernetes.io/pod-name": "x", "apps.kubernetes.io/pod-index": "7" } },
        },
      },
      settle,
    ],
  },
  {
    name: "stateful set available after a while",
    nodes: "ready",
    steps: [stateful({ minReadySeconds: 2, replicas: 2 }), settle, image("two", "statefulsets"), settle],
  },
  {
    name: "stateful set whose pods do not end",
    nodes: "bound",
    steps: [stateful({ podManagementPolicy: "Parallel", template: held }), settle, scale(1, "statefulsets"), settle],
  },
  {
    name: "stateful set whose pod was deleted and does not end",
    nodes: "ready",
    steps: [stateful({ replicas: 2, template: held }), settle, { deletePods: labels, count: 1 }, settle],
  },
  {
    name: "stateful set whose pods are refused",
    steps: [stateful({ template: template("one", { serviceAccountName: "nobody" }) }), settle],
  },
  {
    name: "stateful set with a pod that has succeeded",
    nodes: "bound",
    steps: [stateful({ replicas: 2 }), settle, { pods: "succeeded", count: 1 }, settle],
  },
  {
    name: "stateful set moves to other ordinals",
    nodes: "ready",
    steps: [stateful({ replicas: 2 }), settle, patched({ ordinals: { start: 1 } }), settle],
  },
  {
    name: "stateful set without pods",
    nodes: "ready",
    steps: [stateful({ replicas: 2 }), settle, scale(0, "statefulsets"), settle, image("two", "statefulsets"), settle],
  },
  {
    name: "stateful set without a service",
    nodes: "ready",
    steps: [stateful({ serviceName: "" }), settle],
  },
  {
    name: "stateful set whose first pod is not ready any more",
    nodes: "bound",
    steps: [
      stateful({ replicas: 2, podManagementPolicy: "Parallel" }),
      settle,
      { pods: "ready" },
      settle,
      { pods: "unready", count: 1 },
      settle,
      scale(3, "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set in order is grown and shrunk while one is not ready",
    nodes: "bound",
    steps: [
      stateful({ replicas: 2 }),
      settle,
      { pods: "ready" },
      settle,
      scale(4, "statefulsets"),
      settle,
      scale(1, "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set deleted, its pods kept and taken by another",
    nodes: "ready",
    steps: [
      stateful({ replicas: 2 }),
      settle,
      { delete: ["statefulsets", "web"], policy: "Orphan" },
      { until: ["statefulsets", "web"], has: null },
      settle,
      stateful({ replicas: 3 }),
      settle,
    ],
  },
  {
    name: "stateful set waits for the name of its pod",
    nodes: "ready",
    steps: [
      podNamed("web-0"),
      stateful({ replicas: 1 }),
      settle,
      { delete: ["pods", "web-0"] },
      { until: ["statefulsets", "web"], has: { status: { readyReplicas: 1 } } },
    ],
  },
  {
    name: "stateful set deleted and recreated immediately",
    nodes: "ready",
    steps: [
      stateful({ replicas: 2 }),
      settle,
      { delete: ["statefulsets", "web"] },
      stateful({ replicas: 2 }),
      settle,
      { until: ["statefulsets", "web"], has: { status: { readyReplicas: 2 } } },
    ],
  },
  {
    name: "stateful set shrinks where several do not work",
    nodes: "bound",
    steps: [
      stateful({ replicas: 4, podManagementPolicy: "Parallel", template: held }),
      settle,
      { pods: "ready" },
      { pods: "unready", count: 1 },
      settle,
      { delete: ["pods", "web-2"] },
      scale(1, "statefulsets"),
      settle,
    ],
  },
]
