// PodDisruptionBudgets of pods of several owners, whose owners, or names, are unusual, and that are not well.

import type { Scenario, Step } from "../scenario.ts"
import { pod } from "./service-steps.ts"
import { deployment, labels, made, rolled, scale, settle, workload } from "./steps.ts"

const budget = (spec: object): Step => ({
  create: {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "web" },
    spec: { selector: { matchLabels: labels }, ...spec },
  },
})
const owned = (name: string, owner: object, more: object = {}): Step =>
  pod(name, {}, { ownerReferences: [{ controller: true, ...owner }], ...more })

export const budgetOfOwnersScenarios: readonly Scenario[] = [
  {
    name: "disruption budget of a pod whose owner is of a version that is not served",
    steps: [
      { create: { apiVersion: "scenarios.example.com/v1", kind: "Thing", metadata: { name: "one" } } },
      owned("a", { apiVersion: "scenarios.example.com/v9", kind: "Thing", name: "one", uid: "UID:things/one" }),
      settle,
      budget({ maxUnavailable: 1 }),
      settle,
    ],
  },
  {
    name: "disruption budget of a pod whose owner's group was another",
    steps: [
      workload("ReplicaSet", { replicas: 0 }),
      // The set deletes it, as it has one pod too many.
      owned(
        "old",
        { apiVersion: "extensions/v1beta1", kind: "ReplicaSet", name: "web", uid: "UID:replicasets/web" },
        { finalizers: ["example.com/hold"] },
      ),
      { until: ["pods", "old"], has: { status: { phase: "Failed" } } },
      settle,
      budget({ maxUnavailable: 1 }),
      settle,
    ],
  },
  {
    name: "disruption budget of a pod by the name of what every object of JavaScript has",
    nodes: "bound",
    steps: [pod("constructor"), pod("other"), settle, { pods: "ready" }, settle, budget({ minAvailable: 1 }), settle],
  },
  ...["IfHealthyBudget", "AlwaysAllow"].map((unhealthyPodEvictionPolicy): Scenario => ({
    name: `disruption budget ${unhealthyPodEvictionPolicy} whose unready pods are evicted`,
    nodes: "bound",
    steps: [
      deployment({ replicas: 4 }),
      made(4),
      settle,
      { pods: "ready", count: 2 },
      settle,
      budget({ minAvailable: 3, unhealthyPodEvictionPolicy }),
      settle,
      { evictPods: labels, mayBeRefused: true },
      settle,
    ],
  })),
  {
    name: "disruption budget in percent of two kinds that are resized",
    nodes: "ready",
    steps: [
      deployment(),
      rolled(3),
      workload("StatefulSet", { serviceName: "web", replicas: 2 }),
      settle,
      budget({ maxUnavailable: "50%" }),
      settle,
      scale(5),
      settle,
      scale(1, "statefulsets"),
      settle,
    ],
  },
]
