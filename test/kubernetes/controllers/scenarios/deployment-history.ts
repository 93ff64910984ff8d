// Deployments and their ReplicaSets: which they have, which they keep, which they go back to.

import type { Scenario, Step } from "../scenario.ts"
import { annotated, rollBackTo } from "./deployment-steps.ts"
import { container, deployment, image, labels, made, rolled, settle, template, workload } from "./steps.ts"

const madeFrom: Readonly<Record<string, Step>> = {
  deployments: deployment(),
  daemonsets: workload("DaemonSet", {}),
  statefulsets: workload("StatefulSet", { replicas: 2, serviceName: "web" }),
}
const memory = (amount: string, resource = "deployments"): Step => ({
  patch: [resource, "web"],
  with: {
    spec: {
      template: { spec: { containers: [{ ...container("one"), resources: { limits: { memory: amount } } }] } },
    },
  },
})

export const deploymentHistoryScenarios: readonly Scenario[] = [
  ...["deployments", "daemonsets", "statefulsets"].map((resource) => ({
    name: `template of ${resource} gets the same amount in another text`,
    nodes: "ready" as const,
    steps: [
      madeFrom[resource] ?? deployment(),
      settle,
      memory("1Gi", resource),
      settle,
      memory("1073741824", resource),
      settle,
      memory("2Gi", resource),
      settle,
    ],
  })),
  {
    name: "deployment rolls back by template",
    nodes: "ready",
    steps: [deployment(), rolled(3), image("two"), rolled(3), settle, image("one"), rolled(3)],
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
    name: "deployment rolls back to its last revision by annotation",
    nodes: "ready",
    steps: [deployment(), rolled(3), image("two"), rolled(3), settle, rollBackTo("0"), settle, rolled(3)],
  },
  {
    name: "deployment rolls back to a revision by annotation",
    nodes: "ready",
    steps: [
      deployment({}, { annotations: { "kubernetes.io/change-cause": "one" } }),
      rolled(3),
      // The annotations of a revision are those that were seen while it was the latest.
      annotated({ "kubernetes.io/change-cause": "two" }),
      settle,
      image("two"),
      rolled(3),
      settle,
      annotated({ "kubernetes.io/change-cause": "three", other: "x" }),
      settle,
      image("three"),
      rolled(3),
      settle,
      rollBackTo("1"),
      settle,
      rolled(3),
    ],
  },
  {
    name: "deployment rolls back to a revision that is not there",
    nodes: "ready",
    steps: [deployment(), rolled(3), settle, rollBackTo("7"), settle],
  },
  {
    name: "deployment without a last revision is rolled back",
    nodes: "ready",
    steps: [deployment(), rolled(3), settle, rollBackTo("0"), settle],
  },
  {
    name: "deployment is rolled back to what it is",
    nodes: "ready",
    steps: [deployment(), rolled(3), image("two"), rolled(3), settle, rollBackTo("2"), settle],
  },
  {
    name: "deployment adopts a replica set of its template",
    nodes: "ready",
    steps: [workload("ReplicaSet", { replicas: 2 }, { labels }), settle, deployment({ replicas: 3 }), settle],
  },
  {
    name: "deployment adopts what one before it left",
    nodes: "ready",
    steps: [
      deployment(),
      rolled(3),
      { delete: ["deployments", "web"], policy: "Orphan" },
      { until: ["deployments", "web"], has: null },
      settle,
      deployment({ replicas: 2 }),
      rolled(2),
      settle,
    ],
  },
  {
    name: "deployment that keeps no history",
    nodes: "ready",
    steps: [deployment({ revisionHistoryLimit: 0 }), rolled(3), image("two"), rolled(3), settle],
  },
  {
    name: "deployment whose annotations are copied",
    nodes: "ready",
    steps: [
      deployment(
        {},
        {
          annotations: {
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
            "deployment.kubernetes.io/revision": "40",
            a: "b",
          },
        },
      ),
      rolled(3),
      settle,
      annotated({ a: "c", d: "e" }),
      settle,
      annotated({ a: null }),
      settle,
    ],
  },
  {
    name: "deployment whose replica set is resized by hand",
    nodes: "ready",
    steps: [
      workload("ReplicaSet", { replicas: 3 }),
      settle,
      deployment(),
      rolled(3),
      settle,
      { patch: ["replicasets", "web"], with: { spec: { replicas: 1 } } },
      settle,
      rolled(3),
    ],
  },
  {
    name: "deployment goes back and forth before it is through",
    steps: [
      deployment({ replicas: 4 }),
      made(4),
      settle,
      { pods: "ready" },
      rolled(4),
      settle,
      image("two"),
      settle,
      image("one"),
      settle,
      image("two"),
      settle,
      image("three"),
      settle,
    ],
  },
  {
    name: "two deployments of the same selector",
    nodes: "ready",
    steps: [
      deployment({ replicas: 1 }),
      rolled(1),
      settle,
      workload("Deployment", { replicas: 2, template: template("two") }, { name: "other" }),
      settle,
    ],
  },
  {
    name: "deployment of another selector's labels",
    nodes: "ready",
    steps: [
      deployment({
        template: { ...template(), metadata: { labels: { ...labels, tier: "a" }, annotations: { note: "x" } } },
      }),
      rolled(3),
      settle,
      {
        patch: ["deployments", "web"],
        with: { spec: { template: { metadata: { labels: { tier: "b" }, annotations: { note: "y" } } } } },
      },
      rolled(3),
      settle,
    ],
  },
]
