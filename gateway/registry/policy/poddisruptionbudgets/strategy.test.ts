import { expect, test } from "vitest"
import { podDisruptionBudgets } from "./strategy.ts"

const old = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
const exists = { key: old, operator: "Exists" }
const other = { key: "a", operator: "Exists" }

test.each<[object | undefined, object | undefined]>([
  [undefined, undefined],
  [{}, {}],
  [{ matchExpressions: [exists] }, { matchExpressions: [exists] }],
  [{ matchExpressions: [{ ...exists, values: [] }] }, { matchExpressions: [{ ...exists, values: [] }] }],
  [{ matchExpressions: [{ key: old, operator: "DoesNotExist" }] }, {}],
  [{ matchExpressions: [exists, other, exists] }, { matchExpressions: [other] }],
  [{ matchLabels: { a: "b" }, matchExpressions: [exists] }, { matchLabels: { a: "b" } }],
])("the selector %j becomes %j", (selector, converted) => {
  const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: {}, spec: { selector } }
  podDisruptionBudgets.strategy?.convert?.(budget as never)
  expect(budget.spec.selector).toEqual(converted)
})
