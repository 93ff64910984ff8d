// Schemas of custom resources with rules, and what rules say beside their expressions.

import type { Json } from "../../../../apimachinery/object.ts"
import { group } from "./things.ts"

export const text = { type: "string" }
export const number = { type: "integer" }
export const rule = (expression: string, more: object = {}): object => ({ rule: expression, ...more })
export const ruled = (schema: object, ...rules: (string | object)[]): object => ({
  ...schema,
  "x-kubernetes-validations": rules.map((one) => (typeof one === "string" ? rule(one) : one)),
})

export type Rule = Record<string, Json>

export const shortText = { type: "string", maxLength: 10 }
export const shortList = { type: "array", maxItems: 5, items: shortText }
export const inner = {
  type: "object",
  properties: { a: shortText, "b.c": shortText, "d-e": shortText, namespace: shortText },
}
export const fields = {
  a: shortText,
  n: { type: "integer" },
  list: shortList,
  set: { ...shortList, "x-kubernetes-list-type": "set" },
  keyed: {
    type: "array",
    maxItems: 5,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    items: { type: "object", required: ["name"], properties: { name: shortText, value: shortText } },
  },
  map: { type: "object", maxProperties: 5, additionalProperties: shortText },
  maps: { type: "object", maxProperties: 5, additionalProperties: inner },
  inner,
  any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  port: { "x-kubernetes-int-or-string": true },
  when: { type: "string", format: "date-time" },
  nullable: { ...shortText, nullable: true },
}

/** A version with these rules of its spec. */
export const whole = (rules: readonly Rule[], more: object = {}): object => ({
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", properties: { ...fields, ...more }, "x-kubernetes-validations": rules } },
    },
  },
})

export const ruledThing = (spec: Json, more: object = {}): Json =>
  ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" }, spec, ...more }) as Json

export const messages: readonly Rule[] = [
  { message: "" },
  { message: " " },
  { message: "two\nlines" },
  { message: "line\n" },
  { message: "x".repeat(2100) },
  { messageExpression: "" },
  { messageExpression: " " },
  { messageExpression: "''" },
  { messageExpression: "'a' + 'b'" },
  { messageExpression: "self.a" },
  { messageExpression: "self.a.size()" },
  { messageExpression: "self.bogus" },
  { messageExpression: "'is ' + string(self.n)" },
  { messageExpression: "string(1 / 0)" },
  { messageExpression: "oldSelf.a" },
  { messageExpression: "dyn(1)" },
  { messageExpression: "dyn('x')" },
  { messageExpression: "'a" },
  { messageExpression: "self.list.map(x, x + x).join(',')" },
  { messageExpression: "'two\\nlines'" },
  { messageExpression: "'  '" },
  { messageExpression: `'${"x".repeat(2100)}'` },
  { messageExpression: `'${"y".repeat(5200)}'` },
  { messageExpression: "self.a", message: "beside" },
  { messageExpression: "string(1 / 0)", message: "beside" },
  { messageExpression: "''", message: "beside" },
]

export const reasons = [
  "FieldValueInvalid",
  "FieldValueForbidden",
  "FieldValueRequired",
  "FieldValueDuplicate",
  "",
  "Bogus",
]
