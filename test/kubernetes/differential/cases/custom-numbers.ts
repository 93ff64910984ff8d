// Numbers of custom resources beside bounds, factors and formats that do not fit their type, or no processor: every field of a type
// has the same value.

import "../../../../apimachinery/schema/exact-integers.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"
import { definedWith } from "./things.ts"

const group = "nb@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`

export function customNumberCases(): Scenario[] {
  return [
    { name: "a custom resource has numbers beside any bound", anyOrder: true, steps: bounds() },
    { name: "a custom resource has numbers in sets, and of enums", anyOrder: true, steps: equalNumbers() },
  ]
}

const tried: readonly (number | bigint)[] = [
  0,
  1,
  5,
  -5,
  97,
  1.5,
  2.5,
  1.0000000001,
  -1.0000000001,
  0.00001,
  1e-7,
  1e21,
  1e300,
  -1e300,
  3e9,
  -1,
  4294967296,
  1_000_000.5,
  2n ** 63n - 1n,
  -(2n ** 63n),
  2n ** 63n,
  2n ** 64n,
  9007199254740993n,
  3.4e38,
  3.5e38,
]

const limits: Readonly<Record<string, readonly (number | bigint)[]>> = {
  maximum: [1e300, -1e300, 2 ** 63, 2 ** 60, 9007199254740993n, 0.00001, 1e21, 1e-7, 1.5, 1e6, 123456789],
  minimum: [1e300, -1e300, 2 ** 63, -(2 ** 63), 0.00001, 1e-7, 1e21, -1.5, 1e6],
  multipleOf: [1e300, 0.5, 1.5, 1e-7, 0.00001, 2 ** 63, 2 ** 60, 1e21, 3],
}

const formats = ["int32", "int64", "uint32", "uint64", "float", "float32", "double", "int-32"]

/** In groups: so that the faults of a request are not too many for one response. */
function groupsOf(type: "integer" | "number"): Record<string, object> {
  const bounded = Object.entries(limits).map(([name, values]) => [
    `${type} ${name}`,
    Object.fromEntries(values.map((value, index) => [`${type}-${name}-${index}`, { type, [name]: value }])),
  ])
  return {
    ...(Object.fromEntries(bounded) as Record<string, object>),
    [`${type} format`]: {
      ...Object.fromEntries(formats.map((format) => [`${type}-${format}`, { type, format }])),
      [`${type}-open`]: { type, minimum: 0.00001, exclusiveMinimum: true, maximum: 1e21, exclusiveMaximum: true },
      [`${type}-of-int32`]: { type, format: "int32", maximum: 3e9, minimum: -3e9, multipleOf: 3e9 },
      [`${type}-of-float`]: { type, format: "float", maximum: 1e300, minimum: -1e300 },
    },
  }
}

const either = { "x-kubernetes-int-or-string": true }

function bounds(): RequestStep[] {
  const groups: Record<string, object> = {
    ...groupsOf("integer"),
    ...groupsOf("number"),
    either: {
      "either-maximum": { ...either, maximum: 1e300, minimum: 0.00001 },
      "either-multiple": { ...either, multipleOf: 0.5 },
      "either-int32": { ...either, format: "int32" },
    },
  }
  return [
    ...definedWith(group, Object.assign({}, ...Object.values(groups)) as object),
    ...Object.entries(groups).flatMap(([name, fields]) =>
      tried.map((value) => {
        const spec = Object.fromEntries(Object.keys(fields).map((field) => [field, value]))
        return write(JSON.stringify(spec), `POST ${name} ${value}`)
      }),
    ),
  ]
}

function equalNumbers(): RequestStep[] {
  const ofNumbers = { type: "number" }
  const item = { type: "object", properties: { a: ofNumbers, b: { type: "string" } } }
  const map = { type: "array", "x-kubernetes-list-type": "map", items: { ...item, required: ["a", "b"] } }
  const fields = {
    set: { type: "array", "x-kubernetes-list-type": "set", items: ofNumbers },
    one: { ...map, "x-kubernetes-list-map-keys": ["a"] },
    two: { ...map, "x-kubernetes-list-map-keys": ["b", "a"] },
    either: { ...either, enum: ["a", "1", 5, 98, "\ufffd"] },
    number: { type: "number", enum: [1, 2.5, 1e21, 7] },
    integer: { type: "integer", enum: [1, 5] },
    object: { type: "object", "x-kubernetes-preserve-unknown-fields": true, enum: [{ a: 1 }, { b: [1, 2] }, {}] },
  }
  const numbers =
    "1 1.0 1.5 2 2.5 1e21 1000000000000000000000 7 7.0 5 5.0 5.9 5.9999999999 97 98 49 0 -97 65533 55296".split(" ")
  const lists = ["[1.0,1.0]", "[1.5,1.50]", "[1,2,1,1]", "[null,null]"]
  const items = ["[1,1]", "[1.0,1.0]", "[1.5,1.5,1.5]"].map((list) => list.replaceAll(/[\d.]+/g, '{"a":$&,"b":"x"}'))
  const objects = ['{"a":1}', '{"b":[1,2]}', '{"b":[2,1]}', "{}", '{"a":1,"c":2}']
  return [
    ...definedWith(group, fields),
    ...lists.map((list) => write(`{"set":${list}}`)),
    ...items.map((list) => write(`{"one":${list},"two":${list}}`)),
    ...numbers.map((number) => write(`{"either":${number},"number":${number},"integer":${number}}`)),
    ...['"a"', '"1"', '"5"', '"b"'].map((text) => write(`{"either":${text}}`)),
    ...objects.map((object) => write(`{"object":${object}}`)),
  ]
}

/** As a text, in which numbers stay as they are written. */
function write(spec: string, label = `POST ${spec}`): RequestStep {
  const about = `"apiVersion":"${group}/v1","kind":"Thing","metadata":{"name":"a"}`
  return post(`${things}?dryRun=All`, `{${about},"spec":${spec}}`, { label })
}
