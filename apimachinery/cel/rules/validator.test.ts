// Answers are those of kube-apiserver (test/kubernetes/differential/cases/custom-optional-rules.ts).

import { expect, test } from "vitest"
import { FieldPath } from "../../field-errors.ts"
import type { Json } from "../../object.ts"
import { atOnce } from "../../steps.ts"
import { compilingRuleTree } from "./rule-tree.ts"
import { evaluateRules } from "./validator.ts"

const time = { type: "string", format: "date-time" }
const inner = { type: "object", properties: { x: { type: "integer" }, when: time, "a-b": { type: "string" } } }
const tags = { type: "array", maxItems: 5, items: { type: "string", maxLength: 5 }, "x-kubernetes-list-type": "set" }
const noon = "2024-01-02T12:00:00Z"

/** What is wrong with the value; undefined: nothing. */
function faultOf(schema: object, rule: string, value: Json, old: Json): string | undefined {
  const tree = atOnce(
    compilingRuleTree({ ...schema, "x-kubernetes-validations": [{ rule, optionalOldSelf: true }] } as never, false),
  )
  if (tree === undefined) throw new Error("no rules")
  const evaluation = evaluateRules(tree, FieldPath.root("spec"), value, old, false)
  for (;;) {
    const { done, value: found } = evaluation.next()
    if (done === true) return found.errors[0]?.detail.replace(/ (?:evaluating|for) rule: .*|failed rule: .*/, "")
  }
}

const failed = ""
const unlike = "'no such overload': call arguments did not match a supported operator, function or macro signature"

test.each<[string, object, string, Json, Json, string | undefined]>([
  ["a time is a text", inner, "self.when == oldSelf.value().when", { when: noon }, { when: noon }, failed],
  ["a time has no order", inner, "self.when >= oldSelf.value().when", { when: noon }, { when: noon }, unlike],
  ["a number is one", inner, "self.x == oldSelf.value().x", { x: 1 }, { x: 1 }, undefined],
  ["a text may be in its place", inner, "self.x >= oldSelf.value().x", { x: 1 }, { x: "a" }, unlike],
  ["names have no escapes", inner, "has(oldSelf.value().a__dash__b)", { "a-b": "x" }, { "a-b": "x" }, failed],
  ["objects are equal", inner, "self == oldSelf.value()", { x: 1, "a-b": "x" }, { x: 1, "a-b": "x" }, undefined],
  ["unknown fields are not compared", inner, "self == oldSelf.value()", { y: 1 }, { y: 1 }, unlike],
  ["of the old one they are", inner, "oldSelf.value() == self", { x: 1 }, { x: 1 }, undefined],
  ["a set is one only on the left", tags, "self == oldSelf.value()", ["a", "b"], ["b", "a"], undefined],
  ["and a list on the right", tags, "oldSelf.value() == self", ["a", "b"], ["b", "a"], failed],
  [
    "what has another type is an error",
    inner,
    "oldSelf.hasValue() && self == oldSelf.value()",
    { x: 1 },
    [1],
    "unsupported conversion to ref.Val: (*errors.errorString)invalid data, expected a map for the provided schema with type=object",
  ],
])("of an optional old value, which has no schema, %s", (_name, schema, rule, value, old, fault) => {
  expect(faultOf(schema, rule, value, old)).toBe(fault)
})

test("a message has the old value only if a rule of its value is about it", () => {
  const told = { rule: "self < 3", messageExpression: "'was ' + string(oldSelf)" }
  const detailOf = (...rules: object[]): string | undefined => {
    const tree = atOnce(compilingRuleTree({ type: "integer", "x-kubernetes-validations": rules } as never, false))
    if (tree === undefined) throw new Error("no rules")
    const evaluation = evaluateRules(tree, FieldPath.root("spec"), 5, 4, true)
    for (;;) {
      const { done, value: found } = evaluation.next()
      if (done === true) return found.errors[0]?.detail
    }
  }
  expect(detailOf(told)).toBe("failed rule: self < 3")
  expect(detailOf(told, { rule: "self >= oldSelf" })).toBe("was 4")
  expect(detailOf(told, { rule: "true || oldSelf.hasValue()", optionalOldSelf: true })).toBe("was 4")
})
