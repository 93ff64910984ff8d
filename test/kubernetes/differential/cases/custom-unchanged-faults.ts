// What counts as unchanged, so that it may stay as wrong as it is: lists of type map in another order, but not objects with fields
// that the schema does not contain, nor the type of an object.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, jsonPatch, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

const group = "k@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`
const root = "/spec/versions/0/schema/openAPIV3Schema/properties"

export function customUnchangedFaultCases(): Scenario[] {
  return [
    { name: "a custom resource keeps what is unchanged and wrong", anyOrder: true, steps: unchanged() },
    ...["enum", "x-kubernetes-validations"].map((keyword) => ({
      name: `a custom resource's type is wrong by ${keyword}`,
      anyOrder: true,
      steps: ofType(keyword),
    })),
    { name: "a custom resource's status has a type that is wrong", anyOrder: true, steps: ofStatus() },
  ]
}

const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more })
const text = { type: "string" }
const anything = { "x-kubernetes-preserve-unknown-fields": true }

const thing = (more: object, metadata: object = {}): Json =>
  ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a", ...metadata }, ...more }) as Json

function made(properties: object, stored: object): RequestStep[] {
  const version = { schema: { openAPIV3Schema: object(properties) }, subresources: { status: {} } }
  return [
    { ...post(definitions, definitionOf(group, {}, version) as Json), label: "WRITE definition" },
    get(things, { untilCode: 200, label: "LIST when served" }),
    post(things, thing(stored), { save: "made" }),
  ]
}

const added = (paths: Readonly<Record<string, Json>>): RequestStep =>
  patch(
    `${definitions}/things.${group}`,
    jsonPatch,
    Object.entries(paths).map(([path, value]) => ({ op: "add", path: `${root}/${path}`, value })),
    { label: "WRITE definition again" },
  )

function unchanged(): RequestStep[] {
  const keyed = {
    type: "array",
    items: object({ k: text, v: text }, { required: ["k"] }),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
  }
  const free = { type: "object", ...anything }
  const properties = {
    keyed,
    plain: { type: "array", items: text },
    free,
    within: object({ free }),
    map: { type: "object", additionalProperties: text },
    other: text,
  }
  const items = ["a", "b", "c"].map((k) => ({ k, v: "1" }))
  const spec = {
    keyed: items,
    plain: ["a", "b"],
    free: { x: 1, y: 2 },
    within: { free: { x: 1 } },
    map: { a: "1", b: "2" },
  }
  const changes: object[] = [
    { other: "x" },
    { keyed: items.toReversed() },
    { keyed: [{ k: "a", v: "2" }, ...items.slice(1)] },
    { plain: ["b", "a"] },
    { free: { x: 1, y: 3 } },
    { map: { b: "2", a: "1" } },
    { map: { a: "1", c: "2" } },
  ]
  return [
    ...made({ spec: object(properties) }, { spec }),
    added({
      "spec/properties/keyed/maxItems": 2,
      "spec/properties/plain/maxItems": 1,
      "spec/properties/free/maxProperties": 1,
      "spec/properties/within/minProperties": 2,
      "spec/properties/map/maxProperties": 1,
    }),
    post(`${things}?dryRun=All`, thing({ spec }, { name: "b" }), { untilCode: 422, label: "POST until it is strict" }),
    ...changes.map((change) => {
      const metadata = { resourceVersion: "@{made.metadata.resourceVersion}" }
      const label = `PUT ${JSON.stringify(change)}`
      return put(`${things}/a?dryRun=All`, thing({ spec: { ...spec, ...change } }, metadata), { label })
    }),
  ]
}

const wrong: Readonly<Record<string, Json>> = { enum: ["Q"], "x-kubernetes-validations": [{ rule: "self == 'Q'" }] }

function ofType(keyword: string): RequestStep[] {
  const types = { kind: text, apiVersion: text }
  const properties = { ...types, spec: object({ a: text, types: object(types) }), status: object({ a: text }) }
  const value = wrong[keyword] ?? null
  const stored = { spec: { types: { kind: "A", apiVersion: "B" } } }
  return [
    ...made(properties, stored),
    added({
      [`kind/${keyword}`]: value,
      [`apiVersion/${keyword}`]: value,
      [`spec/properties/types/properties/kind/${keyword}`]: value,
    }),
    post(`${things}?dryRun=All`, thing(stored, { name: "b" }), { untilCode: 422, label: "POST until it is strict" }),
    patch(`${things}/a`, mergePatch, { spec: { a: "b" } }),
    patch(`${things}/a/status`, mergePatch, { status: { a: "b" } }),
  ]
}

function ofStatus(): RequestStep[] {
  const fields = { kind: text, apiVersion: text, a: text }
  const stored = { kind: "A", apiVersion: "B", a: "a" }
  const status = { ...stored, deep: stored }
  const of = `${things}/a/status`
  return [
    ...made({ spec: object({ a: text }), status: object({ ...fields, deep: object(fields) }) }, {}),
    patch(of, mergePatch, { status }),
    added({
      "status/properties/kind/enum": ["Q"],
      "status/properties/apiVersion/maxLength": 0,
      "status/properties/deep/properties/kind/enum": ["Q"],
      "spec/properties/a/enum": ["strict"],
    }),
    post(`${things}?dryRun=All`, thing({ spec: { a: "b" } }, { name: "b" }), {
      untilCode: 422,
      label: "POST until it is strict",
    }),
    patch(of, mergePatch, { status: { a: "b" } }),
    patch(of, mergePatch, { status: { deep: { a: "b" } } }),
    patch(of, mergePatch, { metadata: { labels: { a: "b" } } }),
    patch(`${things}/a`, mergePatch, { spec: { a: "strict" } }),
  ]
}
