// StatefulSets: order, identity, claims.

import type { Scenario, Step } from "../scenario.ts"
import { labels, workload, image, scale, settle } from "./steps.ts"

const stateful = (spec: object = {}): Step => workload("StatefulSet", { serviceName: "web", replicas: 3, ...spec })
const claims = [
  { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
]

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
    name: "stateful set rolls to a new template",
    nodes: "ready",
    steps: [stateful(), settle, image("two", "statefulsets"), settle],
  },
  {
    name: "stateful set rolls only beyond its partition",
    nodes: "ready",
    steps: [
      stateful({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } }),
      settle,
      image("two", "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set on delete",
    nodes: "ready",
    steps: [
      stateful({ updateStrategy: { type: "OnDelete" } }),
      settle,
      image("two", "statefulsets"),
      settle,
      { deletePods: labels, count: 1 },
      settle,
    ],
  },
  {
    name: "stateful set makes claims",
    nodes: "ready",
    steps: [stateful({ replicas: 2, volumeClaimTemplates: claims }), settle],
  },
  {
    name: "stateful set deletes claims when told",
    nodes: "ready",
    steps: [
      stateful({
        replicas: 2,
        volumeClaimTemplates: claims,
        persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete", whenDeleted: "Retain" },
      }),
      settle,
      scale(1, "statefulsets"),
      settle,
    ],
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
]
