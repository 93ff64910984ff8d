// Steps that scenarios of Services have in common whose endpoints are given to zones.

import type { Step } from "../scenario.ts"
import { patched } from "./service-steps.ts"
import { container, labels, scale, settle } from "./steps.ts"

export const auto: Step = patched({}, { annotations: { "service.kubernetes.io/topology-mode": "Auto" } })

/** Alike, so that it is no matter which of them is for another zone: that is left to chance. */
export const alike = (name: string, node: string, replicas = 1): Step => ({
  create: {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: { set: name } },
      template: {
        metadata: { labels: { ...labels, set: name } },
        spec: { nodeName: node, containers: [container("one")] },
      },
    },
  },
})
/** One pod after the other: how many that become ready together one round gathers is a matter of moments on both sides. */
export const withReady = (name: string, from: number, to: number): Step[] =>
  Array.from({ length: to - from }, (_, index) => [
    scale(from + index + 1, "replicasets", name),
    settle,
    { pods: "ready" } as const,
    settle,
  ]).flat()
