// Integers of custom resources that a double does not hold, in every way in and out.

import "../../../../apimachinery/schema/exact-integers.ts"
import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  type RequestStep,
  type Scenario,
} from "../scenario.ts"
import { asTable } from "../generate/life-scenarios.ts"
import { definition, definitions, thing, things } from "./things.ts"

export function customLongIntegerCases(): Scenario[] {
  return [{ name: "a custom resource keeps integers of 64 bits", steps: longIntegers() }]
}

function longIntegers(): RequestStep[] {
  const long = 2n ** 63n - 1n
  const field = { type: "integer", format: "int64" }
  const rule = { rule: "self.a == 9223372036854775807 || self.a < 5", message: "not that one" }
  const spec = {
    type: "object",
    properties: {
      a: { ...field, default: 2n ** 60n + 1n },
      plain: { type: "integer" },
      small: { type: "integer", format: "int32" },
      number: { type: "number" },
      many: { type: "array", items: field, "x-kubernetes-list-type": "set" },
      choice: { type: "integer", enum: [9007199254740993n] },
      most: { type: "integer", maximum: 2 ** 53 },
      even: { type: "integer", multipleOf: 2 },
      any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      ruled: { type: "object", properties: { a: field }, "x-kubernetes-validations": [rule] },
      port: { "x-kubernetes-int-or-string": true },
    },
  }
  const made = definition({
    schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
    subresources: {},
    additionalPrinterColumns: [{ name: "A", type: "integer", jsonPath: ".spec.a" }],
    selectableFields: [{ jsonPath: ".spec.a" }],
  })
  const path = `${things}/a`
  const tries: Json[] = [
    { a: 2n ** 63n },
    { a: -(2n ** 63n) },
    { a: 2n ** 64n },
    { plain: 2n ** 63n },
    { small: long },
    { number: long },
    { many: [long, long - 1n] },
    { many: [long, long] },
    { choice: 9007199254740993n },
    { choice: 9007199254740992 },
    { most: 9007199254740994n },
    { even: 9007199254740994n },
    { even: 9007199254740995n },
    { any: { deep: [long, { x: -long }] } },
    { ruled: { a: long } },
    { ruled: { a: long - 1n } },
    { port: long },
  ]
  return [
    { ...post(definitions, made), label: "POST definition" },
    get(things, { untilCode: 200, label: "LIST when served" }),
    ...tries.map((one) => post(`${things}?dryRun=All`, thing(one), { label: `POST ${JSON.stringify(one)}` })),
    post(things, thing({ a: long, plain: 5 })),
    post(things, thing({}, "defaulted")),
    get(path),
    get(path, { headers: { accept: "application/yaml" }, label: "GET yaml" }),
    get(path, { headers: asTable, label: "GET table" }),
    get(things),
    get(`${things}?fieldSelector=spec.a%3D9223372036854775807`),
    get(`${things}?fieldSelector=spec.a%3D9223372036854775806`),
    patch(path, mergePatch, { spec: { plain: long - 1n } }),
    patch(path, jsonPatch, [{ op: "test", path: "/spec/plain", value: long - 1n }]),
    patch(path, jsonPatch, [{ op: "test", path: "/spec/plain", value: long }], { label: "PATCH failed test" }),
    patch(path, jsonPatch, [{ op: "replace", path: "/spec/plain", value: -long }]),
    patch(`${path}?fieldManager=x&force=true`, applyPatch, thing({ many: [long, long - 1n] })),
    patch(`${path}?fieldManager=x&force=true`, applyPatch, thing({ many: [long - 1n] }), { label: "APPLY less" }),
    put(`${path}?fieldValidation=Strict`, thing({ a: 9007199254740993n })),
    get(path, { label: "GET at last" }),
  ]
}
