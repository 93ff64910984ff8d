// The allowed topologies of a StorageClass: terms of labels with values. Source: k8s.io/kubernetes/pkg/apis/core/validation
// ValidateTopologySelectorTerm, and pkg/apis/storage/validation.

import { repeats } from "../../../../apimachinery/repeats.ts"
import { duplicate, type FieldError, FieldPath, required } from "../../../../apimachinery/field-errors.ts"
import { oldLabelWarnings } from "../../core/old-node-labels.ts"
import { validateLabelName } from "../../validation/selectors.ts"

interface Expression {
  key?: string
  values?: readonly string[]
}

export type Topologies = readonly { matchLabelExpressions?: readonly Expression[] }[]

const path = FieldPath.root("allowedTopologies")

export function topologyWarnings(topologies: Topologies | null | undefined): string[] {
  return (topologies ?? []).flatMap(({ matchLabelExpressions = [] }, index) =>
    matchLabelExpressions.flatMap(({ key = "" }, position) =>
      oldLabelWarnings(path.index(index).child("matchLabelExpressions").index(position).child("key"), key),
    ),
  )
}

export function validateTopologies(topologies: Topologies | null | undefined): FieldError[] {
  const seen = new Set<string>()
  return (topologies ?? []).flatMap(({ matchLabelExpressions: expressions = [] }, index) => {
    const at = path.index(index).child("matchLabelExpressions")
    const repeatedKeys = repeats(expressions.map(({ key }) => key ?? ""))
    const errors = expressions.flatMap(({ key = "", values = [] }, position) => {
      const place = at.index(position)
      const repeated = repeats(values)
      return [
        ...(values.length === 0 ? [required(place.child("values"))] : []),
        ...values.flatMap((value, number) =>
          repeated.has(number) ? [duplicate(place.child("values").index(number), value)] : [],
        ),
        ...validateLabelName(place.child("key"), key),
        ...(repeatedKeys.has(position) ? [duplicate(place.child("key"), key)] : []),
      ]
    })
    // The last of several expressions of a key counts.
    const term = new Map(expressions.map(({ key = "", values = [] }) => [key, [...new Set(values)].toSorted()]))
    const text = JSON.stringify([...term].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    // Upstream treats an empty term as a duplicate.
    const isKnown = expressions.length === 0 || seen.has(text)
    seen.add(text)
    return isKnown ? [...errors, duplicate(at, "")] : errors
  })
}
