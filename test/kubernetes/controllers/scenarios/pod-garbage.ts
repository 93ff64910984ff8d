// Pods that no other component deletes. Upstream checks every 20 s, and twice in 40 s whether a node is missing.

import type { Scenario, Step } from "../scenario.ts"
import { held, nodeNamed, own, podOn, says } from "./node-steps.ts"
import { container, settle } from "./steps.ts"

const podIs = (name: string, status: object): Step => ({ until: ["pods", name], has: { status }, late: true })
const isGone = (name: string): Step => ({ until: ["pods", name], has: null, late: true })
const remove = (name: string): Step => ({ delete: ["pods", name] })
const outOfService: Step = {
  patch: ["nodes", "NAMESPACE-a"],
  with: { spec: { taints: [own, { key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }] } },
}

export const podGarbageScenarios: readonly Scenario[] = [
  {
    name: "pods of a node that never was",
    steps: [podOn("gone", "goes"), podOn("gone", "held", held), isGone("goes"), podIs("held", { phase: "Failed" })],
  },
  {
    name: "pods of a node that is deleted",
    steps: [
      nodeNamed("a"),
      podOn("a", "goes"),
      podOn("a", "held", held),
      podOn("a", "ended", { labels: { ends: "yes" } }),
      podOn("a", "ended-held", { labels: { ends: "yes" }, ...held }),
      settle,
      { pods: "succeeded", labels: { ends: "yes" } },
      { pods: "ready" },
      settle,
      { delete: ["nodes", "NAMESPACE-a"] },
      isGone("goes"),
      isGone("ended"),
      podIs("held", { phase: "Failed" }),
      settle,
    ],
  },
  {
    name: "pod that is going as its node is deleted",
    steps: [
      nodeNamed("a"),
      podOn("a", "held", held),
      { pods: "ready" },
      // Twice: upstream looks at nodes every 5 s.
      settle,
      settle,
      remove("held"),
      { delete: ["nodes", "NAMESPACE-a"] },
      podIs("held", { phase: "Failed" }),
      settle,
    ],
  },
  {
    name: "pod that is to go before it had a node",
    steps: [
      {
        create: {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "held", ...held },
          spec: { containers: [container("one")] },
        },
      },
      settle,
      remove("held"),
      podIs("held", { phase: "Failed" }),
      settle,
    ],
  },
  {
    name: "pods that are going on a node that is out of service",
    steps: [
      nodeNamed("a"),
      says("a", ["Ready", "False"]),
      podOn("a", "stays"),
      podOn("a", "goes"),
      podOn("a", "held", held),
      settle,
      remove("goes"),
      remove("held"),
      settle,
      outOfService,
      isGone("goes"),
      podIs("held", { phase: "Failed" }),
      settle,
    ],
  },
  {
    name: "pod that is going on a node that is out of service and ready",
    steps: [
      nodeNamed("a"),
      says("a", ["Ready", "True"]),
      podOn("a", "held", held),
      { pods: "ready" },
      settle,
      remove("held"),
      outOfService,
      settle,
    ],
  },
]
