// Garbage collection, and what quotas count.

import type { Scenario, Step } from "../scenario.ts"
import { deployment, rolled, quota, settle } from "./steps.ts"

const config = (name: string, owners: object[] = []): Step => ({
  create: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ownerReferences: owners } },
})

export const deletionScenarios: readonly Scenario[] = [
  {
    name: "quota counts",
    nodes: "ready",
    steps: [
      quota({ pods: "10", configmaps: "10", "count/deployments.apps": "5" }),
      settle,
      deployment(),
      rolled(3),
      config("a"),
      settle,
    ],
  },
  {
    name: "deletion in the background",
    nodes: "ready",
    steps: [deployment(), rolled(3), { delete: ["deployments", "web"] }, settle],
  },
  {
    name: "deletion in the foreground",
    nodes: "ready",
    steps: [
      deployment(),
      rolled(3),
      { delete: ["deployments", "web"], policy: "Foreground" },
      { until: ["deployments", "web"], has: null },
    ],
  },
  {
    name: "deletion that leaves orphans",
    nodes: "ready",
    steps: [
      deployment(),
      rolled(3),
      { delete: ["deployments", "web"], policy: "Orphan" },
      { until: ["deployments", "web"], has: null },
    ],
  },
  {
    name: "dependent of an owner that never was",
    steps: [
      config("stays"),
      config("goes", [
        { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "11111111-1111-4111-8111-111111111111" },
      ]),
      settle,
    ],
  },
]
