// The reasons why a pod cannot run on a node, in the words of kube-scheduler's plugins. Pure; checks against other pods are in
// topology.ts.

import { matchesNode, toleranceOf, toleratesTaints, type TolerationOf } from "../../apimachinery/core/node-selection.ts"
import type { Node, Pod } from "../../apimachinery/object.ts"
import { hostPorts, podRequests, type NodeState, type Resources } from "./node-state.ts"

/** A pod with the derived data that the check of each node needs. */
export interface Candidate {
  pod: Pod
  requests: Resources
  ports: readonly string[]
  tolerationOf: TolerationOf
  /** Checks against other pods and volumes, which run after those of the node itself. */
  checks: readonly ((node: Node) => string | undefined)[]
}

export function candidate(pod: Pod, checks: Candidate["checks"] = []): Candidate {
  const { spec } = pod
  return {
    pod,
    requests: podRequests(spec),
    ports: hostPorts(spec),
    tolerationOf: toleranceOf(spec?.tolerations),
    checks,
  }
}

/** Empty if the node fits. Like upstream, only the reasons of the first plugin that rejects. */
export function reasons(one: Candidate, state: NodeState): string[] {
  const { pod, tolerationOf } = one
  const { node } = state
  if (
    node.spec?.unschedulable === true &&
    tolerationOf({ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }) === undefined
  ) {
    return ["node(s) were unschedulable"]
  }
  if (!toleratesTaints(tolerationOf, node.spec?.taints)) return ["node(s) had untolerated taint(s)"]
  if (!matchesNode(pod.spec, node)) return ["node(s) didn't match Pod's node affinity/selector"]
  if (one.ports.some((port) => state.ports.has(port)))
    return ["node(s) didn't have free ports for the requested pod ports"]
  const short = insufficient(one.requests, state)
  if (short.length > 0) return short
  for (const check of one.checks) {
    const fault = check(node)
    if (fault !== undefined) return [fault]
  }
  return []
}

function insufficient(requests: Resources, state: NodeState): string[] {
  const short: string[] = []
  if (state.size >= (state.allocatable.get("pods") ?? Number.POSITIVE_INFINITY)) short.push("Too many pods")
  for (const [name, value] of requests) {
    if (value > 0 && (state.requested.get(name) ?? 0) + value > (state.allocatable.get(name) ?? 0))
      short.push(`Insufficient ${name}`)
  }
  return short
}
