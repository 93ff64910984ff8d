// Why a pod cannot go to a node, in the words of kube-scheduler's plugins. Pure; what looks at other pods is in topology.ts.

import type { Node, Pod } from "../../apimachinery/object.ts"
import { hostPorts, podRequests, type NodeState, type Resources } from "./node-state.ts"

type Taint = NonNullable<NonNullable<Node["spec"]>["taints"]>[number]
type NodeAffinity = NonNullable<NonNullable<NonNullable<Pod["spec"]>["affinity"]>["nodeAffinity"]>
export type NodeSelectorTerm = NonNullable<
  NonNullable<NodeAffinity["requiredDuringSchedulingIgnoredDuringExecution"]>["nodeSelectorTerms"]
>[number]

/** A pod with what every node needs of it, worked out once. */
export interface Candidate {
  pod: Pod
  requests: Resources
  ports: readonly string[]
  /** Checks against other pods and against volumes, after the node's own. */
  checks: readonly ((node: Node) => string | undefined)[]
}

export function candidate(pod: Pod, checks: Candidate["checks"] = []): Candidate {
  return { pod, requests: podRequests(pod.spec), ports: hostPorts(pod.spec), checks }
}

/** Empty: the node fits. One plugin's faults at a time, as upstream stops at the first that refuses. */
export function reasons(one: Candidate, state: NodeState): string[] {
  const { pod } = one
  const { node } = state
  if (
    node.spec?.unschedulable === true &&
    !tolerates(pod, { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" })
  ) {
    return ["node(s) were unschedulable"]
  }
  const repelled = (node.spec?.taints ?? []).some(
    (taint) => taint.effect !== "PreferNoSchedule" && !tolerates(pod, taint),
  )
  if (repelled) return ["node(s) had untolerated taint(s)"]
  if (!matchesNode(pod, node)) return ["node(s) didn't match Pod's node affinity/selector"]
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

export function tolerates(pod: Pod, taint: Pick<Taint, "key" | "effect"> & { value?: string }): boolean {
  return (pod.spec?.tolerations ?? []).some(({ key = "", operator = "Equal", value = "", effect = "" }) => {
    if (effect !== "" && effect !== taint.effect) return false
    if (key === "") return operator === "Exists"
    return key === taint.key && (operator === "Exists" || (operator === "Equal" && value === (taint.value ?? "")))
  })
}

/** spec.nodeSelector and required node affinity. */
export function matchesNode(pod: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {}
  if (!Object.entries(pod.spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms === undefined || terms.some((term) => matchesTerm(term, node))
}

/** An empty term matches nothing. */
export function matchesTerm(term: NodeSelectorTerm, node: Node): boolean {
  const expressions = term.matchExpressions ?? []
  const fields = term.matchFields ?? []
  if (expressions.length === 0 && fields.length === 0) return false
  return (
    expressions.every((expression) => holds(expression, node.metadata.labels ?? {})) &&
    fields.every((field) => holds(field, { "metadata.name": node.metadata.name ?? "" }))
  )
}

function holds(
  { key, operator, values = [] }: { key: string; operator: string; values?: string[] },
  labels: Record<string, string>,
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value)
    case "NotIn":
      return value === undefined || !values.includes(value)
    case "Exists":
      return value !== undefined
    case "DoesNotExist":
      return value === undefined
    case "Gt":
      return isInteger(value) && Number(value) > Number(values[0])
    case "Lt":
      return isInteger(value) && Number(value) < Number(values[0])
    default:
      return false
  }
}

const isInteger = (text: string | undefined): boolean => text !== undefined && /^-?\d+$/.test(text)
