// Prints a label selector as Go prints the struct; events contain it in this form.

import type { LabelSelector } from "../../apimachinery/labels.ts"

export function printLabelSelector(selector: LabelSelector | undefined): string {
  if (selector === undefined) return "nil"
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],}`,
  )
  const map = labels.map(([key, value]) => `${key}: ${value},`).join("")
  const list = expressions.map((expression) => `${expression},`).join("")
  return `&LabelSelector{MatchLabels:map[string]string{${map}},MatchExpressions:[]LabelSelectorRequirement{${list}},}`
}
