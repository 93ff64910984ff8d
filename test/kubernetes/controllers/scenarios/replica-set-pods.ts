// Which pods ReplicaSets count, delete and may not have.

import type { Scenario, Step } from "../scenario.ts"
import { admits, refusing } from "./refusals.ts"
import { container, labels, owner, scale, settle, template, workload } from "./steps.ts"

const set = (spec: object = {}): Step => workload("ReplicaSet", { replicas: 2, ...spec })
const podNamed = (name: string, more: object = {}, spec: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels, ...more },
    spec: { containers: [container("one")], ...spec },
  },
})
const held = { finalizers: ["example.com/hold"] }
const ownedBy = (resource: string, apiVersion: string, kind: string, more: object = {}): object => ({
  apiVersion,
  kind,
  name: "web",
  uid: `UID:${resource}/web`,
  ...more,
})
const controller = (name: string): Step => ({
  create: {
    apiVersion: "v1",
    kind: "ReplicationController",
    metadata: { name },
    spec: { replicas: 3, selector: labels, template: template() },
  },
})
const last = { last: "yes" }
/** Two on one node, and one on another that is ready for a shorter time. */
const crowded: Step[] = [
  podNamed("a", {}, { nodeName: "n1" }),
  podNamed("b", {}, { nodeName: "n1" }),
  { pods: "ready" },
  settle,
  settle,
  podNamed("c", { labels: { ...labels, ...last } }, { nodeName: "n2" }),
  { pods: "ready", labels: last },
]

export const replicaSetPodScenarios: readonly Scenario[] = [
  {
    name: "replica set whose pods would have no labels",
    steps: [
      workload("ReplicaSet", {
        replicas: 2,
        selector: { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] },
        template: { ...template(), metadata: {} },
      }),
      settle,
    ],
  },
  {
    name: "replica set gives up the pod that was ready last, however many are on its node",
    steps: [...crowded, set({ replicas: 3 }), settle, scale(2, "replicasets"), settle],
  },
  {
    name: "replication controller gives up the pod that was ready last, however many are on its node",
    steps: [...crowded, controller("web"), settle, scale(2, "replicationcontrollers"), settle],
  },
  {
    name: "replica set does not count pods that are going and have lost its labels",
    nodes: "bound",
    steps: [
      podNamed("going", held),
      set(),
      settle,
      { delete: ["pods", "going"] },
      settle,
      { patch: ["pods", "going"], with: { metadata: { labels: { app: "other" } } } },
      settle,
    ],
  },
  {
    name: "replica set loses a pod whose owner is written in another version",
    steps: [
      set({ replicas: 1, template: template("one", { serviceAccountName: "nobody" }) }),
      settle,
      podNamed("old", {
        ownerReferences: [ownedBy("replicasets", "apps/v1beta2", "ReplicaSet", { controller: true })],
      }),
      { until: ["replicasets", "web"], has: { status: { replicas: 1 } } },
      settle,
      { delete: ["pods", "old"] },
      settle,
    ],
  },
  {
    name: "replica set takes pods that it owned without controlling them",
    steps: [
      set({ replicas: 0 }),
      settle,
      podNamed("orphan", { ownerReferences: [owner, ownedBy("replicasets", "apps/v1", "ReplicaSet")] }),
      settle,
    ],
  },
  {
    name: "replica set may not take one of the pods",
    steps: [
      ...refusing("pods", ["UPDATE"], "object.metadata.name != 'b'"),
      podNamed("a"),
      podNamed("b"),
      podNamed("c"),
      settle,
      set({ replicas: 4 }),
      settle,
    ],
  },
  {
    name: "replica set may not delete its pods",
    steps: [...refusing("pods", ["DELETE"], "false"), set(), settle, scale(1, "replicasets"), settle],
  },
  {
    name: "replica set may delete its pods again",
    steps: [...refusing("pods", ["DELETE"], "false"), set(), settle, scale(1, "replicasets"), settle, admits, settle],
  },
]
