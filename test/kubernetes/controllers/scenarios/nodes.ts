// Nodes that repel pods, or are gone.

import type { Scenario, Step } from "../scenario.ts"
import { nodeNamed, own, says, tolerates } from "./node-steps.ts"
import { container, settle } from "./steps.ts"

const name = "NAMESPACE-a"
const node = nodeNamed("a")
const tainted = (...taints: object[]): Step => ({
  patch: ["nodes", name],
  with: { spec: { taints: [own, ...taints] } },
})
const pod = (podName: string, tolerations: object[] = [], metadata: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: podName, ...metadata },
    spec: { nodeName: name, containers: [container("one")], tolerations: [tolerates, ...tolerations] },
  },
})
const leave = { key: "leave", effect: "NoExecute" }
const now = { key: "now", effect: "NoExecute" }
const after = (key: string, tolerationSeconds: number): object => ({
  key,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds,
})

const notReady = (value: string): object => ({ key: "node.kubernetes.io/not-ready", effect: "NoExecute", value })
/** Longer than upstream waits until it looks again. */
const seen = [settle, settle, settle]

const evicts = { key: "node.kubernetes.io/not-ready", effect: "NoExecute" }
/** It is not ready, and tainted for that by another. */
const madeTainted = (name: string): Step => {
  const { create } = nodeNamed(name) as { create: object }
  const status = { conditions: [{ type: "Ready", status: "False" }] }
  return { create: { ...create, spec: { taints: [own, notReady("theirs")] }, status } }
}
/** Nodes of a zone have their turns every ten seconds. */
const turns: readonly Step[] = [
  madeTainted("a"),
  { until: ["nodes", name], has: { spec: { taints: [evicts] } }, lacks: { spec: { taints: [notReady("theirs")] } } },
  madeTainted("b"),
  { until: ["nodes", "NAMESPACE-b"], has: {}, lacks: { spec: { taints: [evicts] } } },
  { until: ["nodes", "NAMESPACE-b"], has: { spec: { taints: [evicts] } } },
  settle,
]

export const nodeScenarios: readonly Scenario[] = [
  {
    name: "node that sends its pods away",
    steps: [
      node,
      pod("stays", [{ operator: "Exists", effect: "NoExecute" }]),
      pod("goes"),
      pod("later", [{ key: "leave", operator: "Exists", effect: "NoExecute", tolerationSeconds: 3600 }]),
      pod("soon", [{ key: "leave", operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 }]),
      settle,
      tainted(leave),
      settle,
    ],
  },
  {
    name: "node that thinks better of it",
    steps: [
      node,
      pod("later", [{ key: "leave", operator: "Exists", effect: "NoExecute", tolerationSeconds: 3600 }]),
      settle,
      tainted(leave),
      settle,
      tainted(),
      settle,
    ],
  },
  {
    name: "pod that was to leave its node later is deleted before",
    steps: [node, pod("later", [after("leave", 3600)]), settle, tainted(leave), settle, { deletePods: {} }, settle],
  },
  {
    name: "node that sends its pods away for one more reason",
    steps: [
      node,
      pod("goes", [after("leave", 3600)]),
      // What was decided stays, though the next is tolerated for no time.
      pod("later", [after("leave", 3600), after("now", 0)]),
      settle,
      tainted(leave),
      settle,
      tainted(leave, now),
      settle,
    ],
  },
  {
    name: "node that is gone before its pods are to leave it",
    steps: [
      node,
      pod("soon", [after("leave", 9)], { finalizers: ["example.com/hold"] }),
      settle,
      tainted(leave),
      // Upstream looks for new nodes every five seconds.
      settle,
      { patch: ["nodes", name], with: { metadata: { labels: { touched: "yes" } } } },
      settle,
      { delete: ["nodes", name] },
      { until: ["pods", "soon"], has: { status: { conditions: [{ type: "DisruptionTarget" }] } } },
      settle,
    ],
  },
  {
    name: "node that sends away a pod that goes already",
    steps: [
      node,
      pod("going", [], { finalizers: ["example.com/hold"] }),
      settle,
      { delete: ["pods", "going"] },
      settle,
      tainted(leave),
      settle,
      tainted(leave, now),
      settle,
    ],
  },
  {
    name: "pod that comes to a node that sends away",
    steps: [node, tainted(leave), pod("goes"), settle],
  },
  {
    name: "pod that is sent away and does not end",
    steps: [node, pod("held", [], { finalizers: ["example.com/hold"] }), settle, tainted(leave), settle],
  },
  {
    name: "node with conditions",
    steps: [
      node,
      settle,
      {
        patch: ["nodes", name],
        with: {
          status: {
            conditions: [
              { type: "Ready", status: "True" },
              { type: "MemoryPressure", status: "True" },
              { type: "DiskPressure", status: "True" },
              { type: "PIDPressure", status: "False" },
              { type: "NetworkUnavailable", status: "True" },
            ],
          },
        },
        subresource: "status",
      },
      settle,
    ],
  },
  {
    name: "node that reports not ready",
    steps: [
      node,
      {
        patch: ["nodes", name],
        with: { status: { conditions: [{ type: "Ready", status: "True" }] } },
        subresource: "status",
      },
      pod("a"),
      pod("b", [{ operator: "Exists" }]),
      settle,
      { pods: "ready" },
      settle,
      {
        patch: ["nodes", name],
        with: { status: { conditions: [{ type: "Ready", status: "False" }] } },
        subresource: "status",
      },
      {
        until: ["nodes", name],
        has: { spec: { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoExecute" }] } },
      },
      settle,
    ],
  },
  {
    name: "node that a user taints before and after it is not ready",
    steps: [
      node,
      ...seen,
      tainted(notReady("before")),
      settle,
      says("a", ["Ready", "False"]),
      ...seen,
      tainted(notReady("after")),
      ...seen,
    ],
  },
  {
    name: "nodes not ready, in a zone by its former label",
    steps: [
      ...["a", "b", "c", "d"].map((each) => nodeNamed(each)),
      {
        patch: ["nodes", name],
        with: { metadata: { labels: { "failure-domain.beta.kubernetes.io/zone": "NAMESPACE-other" } } },
      },
      ...["a", "b", "c"].map((each) => says(each, ["Ready", "False"])),
      says("d", ["Ready", "True"]),
      ...["a", "b", "c"].map((each): Step => ({
        until: ["nodes", `NAMESPACE-${each}`],
        has: { spec: { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoExecute" }] } },
      })),
      settle,
    ],
  },
  {
    name: "node that cannot be scheduled",
    steps: [
      node,
      { patch: ["nodes", name], with: { spec: { unschedulable: true } } },
      settle,
      { patch: ["nodes", name], with: { spec: { unschedulable: null } } },
      settle,
    ],
  },
  {
    name: "node with labels of old names",
    steps: [
      {
        create: {
          apiVersion: "v1",
          kind: "Node",
          metadata: { name, labels: { "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64" } },
          spec: { taints: [own] },
        },
      },
      settle,
    ],
  },
  { name: "new nodes that are not ready and tainted for it already are evicted in their turns", steps: turns },
]
