// Steps that scenarios of DaemonSets have in common.

import type { Step } from "../scenario.ts"
import { workload } from "./steps.ts"

export const daemon = (spec: object = {}): Step => workload("DaemonSet", spec)

/** A node of the scenario's own, which no other's pods go to. */
export const taint = { key: "NAMESPACE", effect: "NoSchedule" }
export const ownNode = (name: string): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: `NAMESPACE-${name}`, labels: { of: "NAMESPACE" } },
    spec: { taints: [taint] },
  },
})
export const onOwn = { nodeSelector: { of: "NAMESPACE" }, tolerations: [{ key: "NAMESPACE", operator: "Exists" }] }
