// Nodes that say nothing, or no longer: upstream waits 60 s for the first word, and 50 s for another.

import type { Scenario, Step } from "../scenario.ts"
import { nodeNamed, podOn, says, saysAt } from "./node-steps.ts"
import { settle } from "./steps.ts"

const isReady = (status: string): Step => ({
  until: ["nodes", "NAMESPACE-a"],
  has: { status: { conditions: [{ type: "Ready", status }] } },
  late: true,
})
const unreachable: Step = {
  until: ["nodes", "NAMESPACE-a"],
  has: { spec: { taints: [{ key: "node.kubernetes.io/unreachable", effect: "NoExecute" }] } },
}
const service: Step = {
  create: {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web" },
    spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
  },
}
const labelled = { labels: { app: "web" } }

export const silentNodeScenarios: readonly Scenario[] = [
  {
    name: "node that never reports",
    steps: [nodeNamed("a"), podOn("a", "one"), isReady("Unknown"), unreachable, settle],
  },
  {
    name: "node that falls silent",
    steps: [
      nodeNamed("a"),
      says("a", ["Ready", "True"], ["MemoryPressure", "False"], ["NetworkUnavailable", "False"]),
      service,
      podOn("a", "one", labelled),
      podOn("a", "soon", labelled, { tolerations: null }),
      { pods: "ready" },
      podOn("a", "unready", labelled),
      podOn("a", "unsure", labelled),
      {
        patch: ["pods", "unsure"],
        with: { status: { conditions: [{ type: "Ready", status: "Unknown" }] } },
        subresource: "status",
      },
      settle,
      isReady("Unknown"),
      unreachable,
      settle,
    ],
  },
  {
    name: "node that was not ready and falls silent",
    steps: [
      nodeNamed("a"),
      says("a", ["Ready", "False"], ["DiskPressure", "True"]),
      podOn("a", "one"),
      settle,
      isReady("Unknown"),
      unreachable,
      settle,
    ],
  },
  {
    name: "node that falls silent and speaks again",
    steps: [
      nodeNamed("a"),
      says("a", ["Ready", "True"]),
      podOn("a", "one"),
      { pods: "ready" },
      isReady("Unknown"),
      unreachable,
      settle,
      saysAt("2026-01-01T00:01:00Z", "a", ["Ready", "True"], ["MemoryPressure", "False"]),
      isReady("True"),
      settle,
    ],
  },
]
