// ReplicaSets and ReplicationControllers.

import type { Scenario } from "../scenario.ts"
import { labels, container, template, workload, settle } from "./steps.ts"

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
]
