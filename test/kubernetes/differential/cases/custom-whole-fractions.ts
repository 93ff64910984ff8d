// Whole numbers of custom resources that are written with a fraction or an exponent, which Go keeps as another type until they are
// stored: whether they are the same as before, and as each other.

import "../../../../apimachinery/schema/exact-integers.ts"
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
import { definedWith } from "./things.ts"

const group = "wf@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`

export function customWholeFractionCases(): Scenario[] {
  return [
    { name: "a custom resource's whole numbers are written as fractions", anyOrder: true, steps: written() },
    { name: "lists of a custom resource have whole numbers that are written as fractions", steps: lists() },
    {
      name: "rules and bounds of a custom resource read whole numbers that are written as fractions",
      anyOrder: true,
      steps: ruled(),
    },
  ]
}

const integer = { type: "integer" }
const number = { type: "number" }
const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true }
const literals = ["1", "1.0", "1e0", "10E-1", "1.5", "-0", "0.0", "1e6", "1000000.0", "1e21", "9007199254740993.0"]

const bodyOf = (spec: string, name = "a"): string =>
  `{"apiVersion":"${group}/v1","kind":"Thing","metadata":{"name":"${name}"},"spec":${spec}}`

const putSpec = (spec: string, label = `PUT ${spec}`, query = ""): RequestStep =>
  put(`${things}/a?fieldManager=p${query}`, bodyOf(spec), { label })

function written(): RequestStep[] {
  const fields = ["integer", "number", "either", "list", "free"]
  const specOf = (field: string, literal: string): string =>
    field === "list"
      ? `{"list":[${literal},2]}`
      : field === "free"
        ? `{"free":{"a":[${literal}]}}`
        : `{"${field}":${literal}}`
  const pathOf: Readonly<Record<string, string>> = { list: "/spec/list/0", free: "/spec/free/a/0" }
  return [
    ...definedWith(group, {
      integer,
      number,
      either: { "x-kubernetes-int-or-string": true },
      list: { type: "array", items: number },
      free,
    }),
    post(things, bodyOf("{}")),
    ...fields.flatMap((field) =>
      literals.flatMap((literal) => {
        const spec = specOf(field, literal)
        const label = (verb: string): { label: string } => ({ label: `${verb} ${spec}` })
        return [
          putSpec(spec),
          putSpec(spec, `PUT again ${spec}`),
          get(`${things}/a`, label("GET")),
          patch(`${things}/a?fieldManager=q`, mergePatch, `{"spec":${spec}}`, label("MERGE")),
          patch(
            `${things}/a?fieldManager=r`,
            jsonPatch,
            `[{"op":"replace","path":"${pathOf[field] ?? `/spec/${field}`}","value":${literal}}]`,
            label("JSON"),
          ),
          patch(`${things}/a?fieldManager=s`, applyPatch, bodyOf(spec), label("APPLY")),
          patch(`${things}/a?fieldManager=s`, applyPatch, bodyOf(spec), label("APPLY again")),
          get(`${things}/a`, label("GET at last")),
        ]
      }),
    ),
  ]
}

function lists(): RequestStep[] {
  const item = { type: "object", required: ["a", "b"], properties: { a: number, b: number } }
  const map = { type: "array", "x-kubernetes-list-type": "map", items: item }
  const specs = ["[1,1.0]", "[1.0,1]", "[1,1e0,10e-1]", "[1.0,1.0]", "[1,2,2.0,1]", "[0,-0,0.0,-0.0]", "[1000000,1e6]"]
  const items = (list: string): string => list.replaceAll(/-?[\d.e]+(?:-1)?/g, '{"a":$&,"b":1}')
  return [
    ...definedWith(group, {
      set: { type: "array", "x-kubernetes-list-type": "set", items: number },
      one: { ...map, "x-kubernetes-list-map-keys": ["a"] },
      two: { ...map, "x-kubernetes-list-map-keys": ["a", "b"] },
      pairs: {
        type: "array",
        "x-kubernetes-list-type": "set",
        items: { type: "array", items: number, "x-kubernetes-list-type": "atomic" },
      },
    }),
    post(things, bodyOf("{}")),
    ...specs.flatMap((list) => [
      putSpec(`{"set":${list}}`),
      putSpec(`{"one":${items(list)}}`),
      putSpec(`{"two":${items(list)}}`),
      putSpec(`{"pairs":${list.replaceAll(/-?[\d.e]+(?:-1)?/g, "[$&]")}}`),
      putSpec(`{"set":${list},"one":[{"a":7,"b":7}]}`),
      get(`${things}/a`, { label: `GET ${list}` }),
      patch(`${things}/a?fieldManager=s`, mergePatch, '{"metadata":{"labels":{"a":"b"}}}', { label: `LABEL ${list}` }),
      putSpec("{}", `PUT nothing after ${list}`),
    ]),
  ]
}

/** A rule reads no double as an integer, and messages show what Go has in memory. */
function ruled(): RequestStep[] {
  const rules = (rule: string, more: object = {}): object => ({ "x-kubernetes-validations": [{ rule, ...more }] })
  const fields = {
    integer: { ...integer, ...rules("self > 5000000000") },
    number: { ...number, ...rules("self > 1e30") },
    either: { "x-kubernetes-int-or-string": true, ...rules("type(self) == string") },
    least: { ...integer, minimum: 2_000_000_000_000 },
    most: { ...number, maximum: -5 },
    multiple: { ...number, multipleOf: 0.7 },
    whole: { ...integer, enum: [7] },
    fraction: { ...number, enum: [7.5] },
    not: { not: { enum: [5] }, type: "integer" },
    forbidden: { ...integer, ...rules("self > 5000000000", { reason: "FieldValueDuplicate" }) },
    list: { type: "array", maxItems: 5, items: integer, ...rules("self.all(x, x > 5000000000)") },
    items: { type: "array", maxItems: 5, items: { ...integer, ...rules("self > 5000000000") } },
    object: { type: "object", properties: { p: integer }, ...rules("self.p > 5000000000", { fieldPath: ".p" }) },
    map: {
      type: "object",
      maxProperties: 5,
      additionalProperties: integer,
      ...rules("self.all(key, self[key] > 5000000000)"),
    },
    text: { type: "string" },
    boolean: { type: "boolean" },
    pair: { type: "array", items: { type: "object", properties: { k: number } } },
  }
  const specOf = (field: string, literal: string): string => {
    if (field === "list" || field === "items" || field === "pair") return `{"${field}":[${literal}]}`
    return field === "object" || field === "map" ? `{"${field}":{"p":${literal}}}` : `{"${field}":${literal}}`
  }
  const odd = ["1", "1.0", "7e0", "-0", "-0.0", "1e6", "100000.0", "1e-7", "123456789.5", "1e20", "1e21", "5.0"]
  return [
    ...definedWith(group, { ...fields, old: { ...integer, ...rules("self >= oldSelf", { message: "less" }) } }),
    post(things, bodyOf('{"old":5000000}')),
    ...Object.keys(fields).flatMap((field) =>
      odd.map((literal) => putSpec(specOf(field, literal), `PUT ${specOf(field, literal)}`, "&dryRun=All")),
    ),
    ...odd.flatMap((literal) => [
      putSpec(`{"old":${literal}}`, `PUT old ${literal}`, "&dryRun=All"),
      patch(`${things}/a?dryRun=All`, mergePatch, `{"spec":{"old":${literal}}}`, { label: `MERGE old ${literal}` }),
      patch(`${things}/a?dryRun=All`, jsonPatch, `[{"op":"replace","path":"/spec/old","value":${literal}}]`, {
        label: `JSON old ${literal}`,
      }),
      patch(`${things}/a?dryRun=All&force=true&fieldManager=s`, applyPatch, bodyOf(`{"old":${literal}}`), {
        label: `APPLY old ${literal}`,
      }),
    ]),
  ]
}
