// Matches pods and nodes: node selector, required node affinity, taints and tolerations. Used by the scheduler and the DaemonSet
// controller. Pure. Source: k8s.io/component-helpers/scheduling/corev1.

import { ownValue } from "../schema/json-object.ts"
import type { Node, PodSpec } from "../object.ts"

export type Taint = NonNullable<NonNullable<Node["spec"]>["taints"]>[number]
export type Toleration = NonNullable<PodSpec["tolerations"]>[number]
type NodeAffinity = NonNullable<NonNullable<PodSpec["affinity"]>["nodeAffinity"]>
export type NodeSelectorTerm = NonNullable<
  NonNullable<NodeAffinity["requiredDuringSchedulingIgnoredDuringExecution"]>["nodeSelectorTerms"]
>[number]

type Tolerated = Pick<Taint, "key" | "effect"> & { value?: string }

export type TolerationOf = (taint: Tolerated) => Toleration | undefined

/** Returns a function that finds the first toleration of a taint. Both lists may be long, so not every pair is compared. */
export function toleranceOf(tolerations: readonly Toleration[] = []): TolerationOf {
  const places = new Map<string, number>()
  for (const [place, { key = "", operator = "Equal", value = "", effect = "" }] of tolerations.entries()) {
    if (operator !== "Exists" && (operator !== "Equal" || key === "")) continue
    const id = operator === "Exists" ? idOf(effect, key) : idOf(effect, key, value)
    if (!places.has(id)) places.set(id, place)
  }
  return ({ key, value = "", effect }) => {
    let first = tolerations.length
    for (const one of ["", effect]) {
      for (const id of [idOf(one, ""), idOf(one, key), idOf(one, key, value)]) {
        first = Math.min(first, places.get(id) ?? first)
      }
    }
    return tolerations[first]
  }
}

/** Whether the taints let a new pod run on their node. */
export function toleratesTaints(tolerationOf: TolerationOf, taints: readonly Taint[] = []): boolean {
  return taints.every((taint) => taint.effect === "PreferNoSchedule" || tolerationOf(taint) !== undefined)
}

/** None of the parts contains a space. */
const idOf = (effect: string, ...keyAndValue: string[]): string => [effect, ...keyAndValue].join(" ")

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
