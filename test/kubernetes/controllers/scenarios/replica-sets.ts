// ReplicaSets and ReplicationControllers.

import type { Scenario, Step } from "../scenario.ts"
import { labels, owner, container, template, workload, scale, settle } from "./steps.ts"

const set = (spec: object = {}) => workload("ReplicaSet", { replicas: 2, ...spec })
const held = { ...template(), metadata: { labels, finalizers: ["example.com/hold"] } }
const podNamed = (name: string, more: object = {}) => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels, ...more },
    spec: { containers: [container("one")] },
  },
})

const adopting: Step[] = [
  {
    create: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "orphan", labels, ownerReferences: [owner], finalizers: ["example.com/hold"] },
      spec: { containers: [container("one")] },
    },
  },
  workload("ReplicaSet", { replicas: 2 }),
]

export const replicaSetScenarios: readonly Scenario[] = [
  {
    name: "replica set adopts and lets go of pods",
    nodes: "ready",
    steps: [
      {
        create: {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "orphan", labels },
          spec: { containers: [container("one")] },
        },
      },
      workload("ReplicaSet", { replicas: 2 }),
      settle,
      { patch: ["pods", "orphan"], with: { metadata: { labels: { app: "other" } } } },
      settle,
    ],
  },
  { name: "replica set adopts a pod of another owner", nodes: "ready", steps: [...adopting, settle] },
  {
    name: "replica set lets go of a pod of another owner",
    nodes: "ready",
    steps: [
      ...adopting,
      settle,
      { patch: ["pods", "orphan"], with: { metadata: { labels: { app: "other" } } } },
      settle,
    ],
  },
  {
    name: "replica set replaces failed pods",
    steps: [workload("ReplicaSet", { replicas: 2 }), settle, { pods: { exit: 1 }, count: 1 }, settle],
  },
  {
    name: "replication controller scales",
    nodes: "ready",
    steps: [
      {
        create: {
          apiVersion: "v1",
          kind: "ReplicationController",
          metadata: { name: "web" },
          spec: { replicas: 2, selector: labels, template: template() },
        },
      },
      settle,
      { patch: ["replicationcontrollers", "web"], with: { spec: { replicas: 1 } }, subresource: "scale" },
      settle,
    ],
  },
  {
    name: "replica set whose pods do not end",
    nodes: "bound",
    steps: [set({ template: held }), settle, scale(0, "replicasets"), settle],
  },
  {
    name: "replica set replaces pods that do not end",
    nodes: "bound",
    steps: [set({ template: held }), settle, { deletePods: labels, count: 1 }, settle],
  },
  {
    name: "replica set gives up those that are not ready first",
    nodes: "bound",
    steps: [
      set({ replicas: 5 }),
      settle,
      { pods: "ready", count: 2 },
      { pods: "unready", count: 1 },
      settle,
      scale(2, "replicasets"),
      settle,
    ],
  },
  {
    name: "replica set deletes pods with lower deletion cost first",
    nodes: "ready",
    steps: [
      podNamed("cheap", { annotations: { "controller.kubernetes.io/pod-deletion-cost": "-10" } }),
      podNamed("dear", { annotations: { "controller.kubernetes.io/pod-deletion-cost": "10" } }),
      podNamed("plain"),
      settle,
      set({ replicas: 3 }),
      settle,
      scale(1, "replicasets"),
      settle,
    ],
  },
  {
    name: "replica set with invalid deletion costs",
    nodes: "ready",
    steps: [
      podNamed("first", { annotations: { "controller.kubernetes.io/pod-deletion-cost": "0" } }),
      podNamed("second"),
      set({ replicas: 2 }),
      settle,
    ],
  },
  { name: "replica set available after a while", nodes: "ready", steps: [set({ minReadySeconds: 2 }), settle] },
  {
    name: "replica set counts what has all its labels",
    nodes: "ready",
    steps: [
      podNamed("plain"),
      set({ replicas: 2, template: { ...template(), metadata: { labels: { ...labels, tier: "a" } } } }),
      settle,
    ],
  },
  {
    name: "replica set whose pods are refused",
    steps: [set({ template: template("one", { serviceAccountName: "nobody" }) }), settle],
  },
  {
    name: "replica set with a changed template",
    nodes: "ready",
    steps: [
      set(),
      settle,
      { patch: ["replicasets", "web"], with: { spec: { template: template("two") } } },
      settle,
      { deletePods: labels, count: 1 },
      settle,
    ],
  },
  {
    name: "replica set beside another of the same selector",
    nodes: "ready",
    steps: [set(), settle, workload("ReplicaSet", { replicas: 1 }, { name: "other" }), settle],
  },
  {
    name: "replica set takes no pod of another's",
    nodes: "ready",
    steps: [
      podNamed("owned", {
        ownerReferences: [
          {
            apiVersion: "v1",
            kind: "Namespace",
            name: "default",
            uid: "UID:namespaces/default",
            controller: true,
          },
        ],
      }),
      set(),
      settle,
    ],
  },
  {
    name: "replica set deleted, its pods kept and taken by another",
    nodes: "ready",
    steps: [
      set(),
      settle,
      { delete: ["replicasets", "web"], policy: "Orphan" },
      { until: ["replicasets", "web"], has: null },
      settle,
      workload("ReplicaSet", { replicas: 3 }, { name: "other" }),
      settle,
    ],
  },
  {
    name: "replica set with pods that have succeeded",
    steps: [set(), settle, { pods: "succeeded", count: 1 }, settle],
  },
  {
    name: "replication controller adopts and lets go of pods",
    nodes: "ready",
    steps: [
      podNamed("orphan"),
      {
        create: {
          apiVersion: "v1",
          kind: "ReplicationController",
          metadata: { name: "web" },
          spec: { replicas: 2, selector: labels, template: template() },
        },
      },
      settle,
      { patch: ["pods", "orphan"], with: { metadata: { labels: { app: "other" } } } },
      settle,
    ],
  },
  {
    name: "replication controller whose pods are refused",
    steps: [
      {
        create: {
          apiVersion: "v1",
          kind: "ReplicationController",
          metadata: { name: "web" },
          spec: { replicas: 2, selector: labels, template: template("one", { serviceAccountName: "nobody" }) },
        },
      },
      settle,
    ],
  },
]
