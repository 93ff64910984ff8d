// Why a pod cannot go to a node, in the words of kube-scheduler's plugins. Pure.

import type { Node, Pod } from "../../apimachinery/object.ts"
import { matches, selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import { hostPorts, podRequests, type NodeState, type Resources } from "./node-state.ts"

type Taint = NonNullable<NonNullable<Node["spec"]>["taints"]>[number]
type NodeSelectorTerm = NonNullable<
  NonNullable<
    NonNullable<
      NonNullable<NonNullable<Pod["spec"]>["affinity"]>["nodeAffinity"]
    >["requiredDuringSchedulingIgnoredDuringExecution"]
  >["nodeSelectorTerms"]
>[number]

/** A pod with what every node needs of it, worked out once. */
export interface Candidate {
  pod: Pod
  requests: Resources
  ports: readonly string[]
}

export function candidate(pod: Pod): Candidate {
  return { pod, requests: podRequests(pod.spec), ports: hostPorts(pod.spec) }
}

/** Empty: the node fits. */
export function reasons(one: Candidate, state: NodeState): string[] {
  const { pod } = one
  if (
    state.node.spec?.unschedulable === true &&
    !tolerates(pod, { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" })
  ) {
    return ["node(s) were unschedulable"]
  }
  const taint = (state.node.spec?.taints ?? []).find(
    (found) => found.effect !== "PreferNoSchedule" && !tolerates(pod, found),
  )
  if (taint !== undefined) return [`node(s) had untolerated taint(s)`]
  if (!matchesNode(pod, state.node)) return ["node(s) didn't match Pod's node affinity/selector"]
  if (one.ports.some((port) => state.ports.has(port)))
    return ["node(s) didn't have free ports for the requested pod ports"]
  const short = insufficient(one.requests, state)
  if (short.length > 0) return short
  return repelled(pod, state) ? ["node(s) didn't match pod anti-affinity rules"] : []
}

function insufficient(requests: Resources, state: NodeState): string[] {
  if (state.pods.size >= (state.allocatable.get("pods") ?? Number.POSITIVE_INFINITY)) return ["Too many pods"]
  const short: string[] = []
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
    return key === taint.key && (operator === "Exists" || value === (taint.value ?? ""))
  })
}

function matchesNode(pod: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {}
  if (!Object.entries(pod.spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms === undefined || terms.some((term) => matchesTerm(term, node))
}

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
  const value = labels[key]
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
      return value !== undefined && Number(value) > Number(values[0])
    case "Lt":
      return value !== undefined && Number(value) < Number(values[0])
    default:
      return false
  }
}

/** Required anti-affinity, the pod's own and that of those already there. Every simulated topology is the node itself. */
function repelled(pod: Pod, state: NodeState): boolean {
  const own = pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  for (const other of state.pods.values()) {
    if (own.some((term) => selects(term, pod, other))) return true
    const theirs = other.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    if (theirs.some((term) => selects(term, other, pod))) return true
  }
  return false
}

type AffinityTerm = NonNullable<
  NonNullable<
    NonNullable<NonNullable<Pod["spec"]>["affinity"]>["podAntiAffinity"]
  >["requiredDuringSchedulingIgnoredDuringExecution"]
>[number]

function selects(term: AffinityTerm, owner: Pod, other: Pod): boolean {
  const namespaces =
    term.namespaces === undefined || term.namespaces.length === 0 ? [owner.metadata.namespace] : term.namespaces
  if (!namespaces.includes(other.metadata.namespace)) return false
  return matches(selectorFromLabelSelector(term.labelSelector), other.metadata.labels)
}
