// All nodes fall silent, so that the fault is taken to be with who looks at them: upstream marks none for eviction then. It marks nodes
// ten times a second while it finds that out, and does not see later what it has just marked, so it is compared once one speaks again.

import type { Scenario, Step } from "../scenario.ts"
import { nodeNamed, noNodes, podOn, says, saysAt, taintedBy } from "./node-steps.ts"
import { settle } from "./steps.ts"

const isReady = (node: string, status: string): Step => ({
  until: ["nodes", `NAMESPACE-${node}`],
  has: { status: { conditions: [{ type: "Ready", status }] } },
  late: true,
})
const isTainted = (node: string, effect: string): Step => ({
  until: ["nodes", `NAMESPACE-${node}`],
  has: { spec: { taints: [{ key: "node.kubernetes.io/unreachable", effect }] } },
})
/** In a zone each. */
const fallSilent: readonly Step[] = [
  noNodes,
  nodeNamed("a", "x"),
  nodeNamed("b", "y"),
  says("a", ["Ready", "True"]),
  says("b", ["Ready", "True"]),
  podOn("a", "one"),
  podOn("b", "two"),
  { pods: "ready" },
  settle,
  isReady("a", "Unknown"),
  isReady("b", "Unknown"),
  isTainted("a", "NoSchedule"),
  isTainted("b", "NoSchedule"),
  // Twice: upstream looks every 5 s.
  settle,
  settle,
]

/** The other one, which is ready, does not count. */
const downBesideOneApart: readonly Step[] = [
  noNodes,
  nodeNamed("a", "x"),
  nodeNamed("b", "y"),
  {
    patch: ["nodes", "NAMESPACE-a"],
    with: { metadata: { labels: { "node.kubernetes.io/exclude-disruption": "" } } },
  },
  says("a", ["Ready", "True"]),
  says("b", ["Ready", "True"]),
  settle,
  settle,
  saysAt("2026-01-01T00:01:00Z", "a", ["Ready", "True"]),
  saysAt("2026-01-01T00:01:00Z", "b", ["Ready", "False"]),
  {
    until: ["nodes", "NAMESPACE-b"],
    has: { spec: { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] } },
  },
  // Longer than upstream waits until it looks again.
  settle,
  settle,
  settle,
]

export const allNodesDownScenarios: readonly Scenario[] = [
  { name: "all nodes that count are down", steps: downBesideOneApart },
  {
    name: "all nodes that count are down and a user taints one as its state would",
    steps: [...downBesideOneApart, taintedBy("b", "node.kubernetes.io/not-ready"), settle, settle, settle],
  },
  {
    name: "all nodes fall silent and one speaks again",
    steps: [
      ...fallSilent,
      saysAt("2026-01-01T00:01:00Z", "a", ["Ready", "True"]),
      isReady("a", "True"),
      isTainted("b", "NoExecute"),
      settle,
    ],
  },
]
