// PodDisruptionBudgets of pods whose owners, or names, are unusual.

import type { Scenario, Step } from "../scenario.ts"
import { pod } from "./service-steps.ts"
import { labels, settle, workload } from "./steps.ts"

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
]
