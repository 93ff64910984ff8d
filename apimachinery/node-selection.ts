// Matches pods and nodes: node selector, required node affinity, taints and tolerations. Used by the scheduler and the DaemonSet
// controller. Pure. Source: k8s.io/component-helpers/scheduling/corev1.

import { ownValue } from "./schema/json-object.ts"
import type { Node, PodSpec } from "./object.ts"

export type Taint = NonNullable<NonNullable<Node["spec"]>["taints"]>[number]
export type Toleration = NonNullable<PodSpec["tolerations"]>[number]
type NodeAffinity = NonNullable<NonNullable<PodSpec["affinity"]>["nodeAffinity"]>
export type NodeSelectorTerm = NonNullable<
  NonNullable<NodeAffinity["requiredDuringSchedulingIgnoredDuringExecution"]>["nodeSelectorTerms"]
>[number]

export function tolerates(
  tolerations: readonly Toleration[] | undefined,
  taint: Pick<Taint, "key" | "effect"> & { value?: string },
): boolean {
  return (tolerations ?? []).some(({ key = "", operator = "Equal", value = "", effect = "" }) => {
    if (effect !== "" && effect !== taint.effect) return false
    if (key === "") return operator === "Exists"
    return key === taint.key && (operator === "Exists" || (operator === "Equal" && value === (taint.value ?? "")))
  })
}

/** Checks spec.nodeSelector and required node affinity. */
export function matchesNode(spec: PodSpec | undefined, node: Node): boolean {
  const labels = node.metadata.labels ?? {}
  if (!Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
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
  const value = ownValue(labels, key)
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
