// Nodes that say nothing, or no longer: upstream waits 60 s for the first word, and 50 s for another.

import type { Scenario, Step } from "../scenario.ts"
import { held, nodeNamed, podOn, says, saysAt, taintedBy } from "./node-steps.ts"
import { settle } from "./steps.ts"

const isReady = (status: string, node = "a", when: { late?: true } = { late: true }): Step => ({
  until: ["nodes", `NAMESPACE-${node}`],
  has: { status: { conditions: [{ type: "Ready", status }] } },
  ...when,
})
const isTainted = (key: string): Step => ({
  until: ["nodes", "NAMESPACE-a"],
  has: { spec: { taints: [{ key, effect: "NoExecute" }] } },
})
const keys = { notReady: "node.kubernetes.io/not-ready", unreachable: "node.kubernetes.io/unreachable" }
const unreachable = isTainted(keys.unreachable)
/** Longer than upstream waits until it looks again. */
const seen = [settle, settle, settle]
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
  {
    // It has no more time than the former one had, so that it is unknown as soon as it is looked at.
    name: "node that is made again and says nothing",
    steps: [
      nodeNamed("a"),
      nodeNamed("b"),
      says("a", ["Ready", "True"]),
      says("b", ["Ready", "True"]),
      ...seen,
      { delete: ["nodes", "NAMESPACE-a"] },
      isReady("Unknown", "b"),
      ...seen,
      nodeNamed("a"),
      podOn("a", "one"),
      isReady("Unknown", "a", {}),
      unreachable,
      settle,
    ],
  },
  {
    name: "node that says nothing and that a user taints as its state would",
    steps: [nodeNamed("a"), podOn("a", "one"), ...seen, taintedBy("a", keys.notReady), ...seen],
  },
  {
    // It has both taints for a moment.
    name: "node that was not ready and falls silent, with a pod that does not go",
    steps: [
      nodeNamed("a"),
      says("a", ["Ready", "False"]),
      podOn("a", "one", held, {
        tolerations: [
          { operator: "Exists", effect: "NoSchedule" },
          { key: keys.notReady, operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 },
          { key: keys.unreachable, operator: "Exists" },
        ],
      }),
      isTainted(keys.notReady),
      settle,
      isReady("Unknown"),
      unreachable,
      settle,
    ],
  },
]
