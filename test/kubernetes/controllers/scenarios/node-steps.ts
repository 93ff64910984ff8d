// Steps that scenarios of nodes and of what is on them have in common. A node keeps other scenarios' pods away, and is in a zone of
// its own: what becomes of the others is no matter.

import type { Step } from "../scenario.ts"
import { container } from "./steps.ts"

export const own = { key: "NAMESPACE", effect: "NoSchedule" }
export const tolerates = { key: "NAMESPACE", operator: "Exists", effect: "NoSchedule" }

/** Of those that others left, either. */
export const noNodes: Step = { deleteAll: "nodes" }
export const nodeNamed = (name: string, zone = "NAMESPACE"): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: `NAMESPACE-${name}`, labels: { "topology.kubernetes.io/zone": zone } },
    spec: { taints: [own] },
  },
})
export const podOn = (node: string, name: string, metadata: object = {}, spec: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    spec: {
      nodeName: `NAMESPACE-${node}`,
      containers: [container("one")],
      tolerations: [{ operator: "Exists" }],
      ...spec,
    },
  },
})
/** What the node's kubelet says, once. */
export const says = (node: string, ...conditions: [type: string, status: string][]): Step =>
  saysAt("2026-01-01T00:00:00Z", node, ...conditions)
/** It is taken for a sign of life if it says another time than the last. */
export const saysAt = (at: string, node: string, ...conditions: [type: string, status: string][]): Step => ({
  patch: ["nodes", `NAMESPACE-${node}`],
  with: {
    status: {
      conditions: conditions.map(([type, status]) => ({
        type,
        status,
        lastHeartbeatTime: at,
        lastTransitionTime: at,
      })),
    },
  },
  subresource: "status",
})
/** By a user, so that pods are evicted. */
export const taintedBy = (node: string, key: string): Step => ({
  patch: ["nodes", `NAMESPACE-${node}`],
  with: { spec: { taints: [own, { key, effect: "NoExecute" }] } },
})
export const held = { finalizers: ["example.com/hold"] }
