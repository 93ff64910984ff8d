// Custom resources that are older than their schema: objects have become embedded ones, nulls are no longer allowed, and fields are
// selected by that had other types.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  remove,
  type RequestStep,
  type Scenario,
  watch,
} from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

const group = "o@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`
const definition = `${definitions}/things.${group}`
const version = "/spec/versions/0"
const fields = `${version}/schema/openAPIV3Schema/properties/spec/properties`

export function customOlderObjectCases(): Scenario[] {
  return [
    { name: "a custom resource was stored before its definition had embedded objects", steps: embedded() },
    { name: "a custom resource was stored before its definition forbade null", steps: nulls() },
    { name: "a custom resource is selected by fields that had other types", steps: selected() },
  ]
}

const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more })
const anything = { "x-kubernetes-preserve-unknown-fields": true }
const text = { type: "string" }

const thing = (spec: Json, name = "a"): Json => ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name }, spec })

function made(properties: object, spec: Json): RequestStep[] {
  const schema = { openAPIV3Schema: object({ spec: object(properties) }) }
  return [
    { ...post(definitions, definitionOf(group, {}, { schema }) as Json), label: "WRITE definition" },
    get(things, { untilCode: 200, label: "LIST when served" }),
    post(things, thing(spec), { save: "made" }),
  ]
}

const changed = (operations: Json[]): RequestStep =>
  patch(definition, jsonPatch, operations, { label: "WRITE definition again" })

function embedded(): Scenario["steps"] {
  const metadata = {
    name: "x",
    odd: 1,
    labels: { a: 5 },
    annotations: { a: "b" },
    creationTimestamp: "2020-01-01T02:00:00+02:00",
    ownerReferences: [{ odd: 1, apiVersion: "v1", kind: "Pod", name: "a", uid: "b" }],
    generation: "x",
    finalizers: [],
  }
  const pod = { apiVersion: "v1", kind: "Pod", spec: { metadata: { odd: 1 } } }
  const objects = { one: { ...pod, metadata }, kind: { ...pod, kind: 5 } }
  const free = { type: "object", ...anything }
  const properties = Object.fromEntries(Object.keys(objects).map((name) => [name, free]))
  const path = `${things}/a`
  return [
    ...made({ ...properties, other: text }, objects as Json),
    changed(
      Object.keys(objects).map((name) => ({
        op: "add",
        path: `${fields}/${name}/x-kubernetes-embedded-resource`,
        value: true,
      })),
    ),
    post(`${things}?dryRun=All`, thing({ one: {} }, "b"), { untilCode: 422, label: "POST when changed" }),
    get(path),
    get(things),
    watch(`${things}?resourceVersion=0`),
    patch(path, mergePatch, { spec: { other: "x" } }),
    patch(path, mergePatch, { spec: { kind: null } }),
    patch(`${path}?fieldManager=x`, applyPatch, thing({ other: "y" })),
    get(path, { label: "GET again" }),
  ]
}

function nulls(): Scenario["steps"] {
  const optional = { ...text, nullable: true }
  const preset = ["preset", "items", "entries"]
  const properties = {
    plain: optional,
    preset: optional,
    list: { type: "array", items: optional },
    items: { type: "array", items: optional },
    map: { type: "object", additionalProperties: optional },
    entries: { type: "object", additionalProperties: optional },
    object: object({ a: optional }, { nullable: true }),
  }
  const places = ["plain", "preset", "list/items", "items/items", "map/additionalProperties", "object"]
  const of = (name: string): string =>
    name === "items" ? "items/items" : name === "entries" ? "entries/additionalProperties" : name
  const spec = {
    plain: null,
    preset: null,
    list: [null, "x"],
    items: [null],
    map: { a: null, b: "x" },
    entries: { a: null },
  }
  return [
    ...made(properties, { ...spec, object: null }),
    changed([
      ...[...places, "entries/additionalProperties"].map((place) => ({
        op: "remove",
        path: `${fields}/${place}/nullable`,
      })),
      ...preset.map((name) => ({ op: "add", path: `${fields}/${of(name)}/default`, value: "D" })),
    ]),
    post(`${things}?dryRun=All`, thing({ preset: null }, "b"), {
      untilText: '"preset":"D"',
      label: "POST when changed",
    }),
    get(`${things}/a`),
    watch(`${things}?resourceVersion=0`),
    patch(`${things}/a`, mergePatch, { metadata: { labels: { a: "b" } } }),
    patch(`${things}/a?fieldManager=x&force=true`, applyPatch, thing({ plain: "x" })),
    remove(`${things}/a`),
  ]
}

function selected(): Scenario["steps"] {
  const before = { a: 1.5, b: { x: 1 }, c: ["x", { y: null }], d: true, e: null, f: "s", g: 5, inner: "text" }
  const names = Object.keys(before)
  const properties = Object.fromEntries(names.map((name) => [name, anything]))
  const now = (name: string): object =>
    name === "g" ? { type: "integer" } : name === "inner" ? object({ x: text }) : text
  const paths = names.map((name) => (name === "inner" ? ".spec.inner.x" : `.spec.${name}`))
  const selectors = [
    "a=1.5",
    "a=",
    "b=map[]",
    "b=",
    "c=[x map[y:<nil>]]",
    "c=[x map[]]",
    "c=",
    "d=true",
    "e=",
    "g=5",
    "inner.x=",
  ]
  const ask = (selector: string): string => `fieldSelector=${encodeURIComponent(`spec.${selector}`)}`
  return [
    ...made(properties, before as Json),
    post(things, thing({ a: "q", f: "s" }, "b")),
    changed([
      ...names.map((name) => ({ op: "replace", path: `${fields}/${name}`, value: now(name) as Json })),
      { op: "add", path: `${version}/selectableFields`, value: paths.map((jsonPath) => ({ jsonPath })) },
    ]),
    get(`${things}?${ask("f=s")}`, { untilCode: 200, label: "LIST when changed" }),
    ...selectors.map((selector) => get(`${things}?${ask(selector)}`, { label: `LIST ${selector}` })),
    watch(`${things}?resourceVersion=0&${ask("f=s")}`),
    watch(`${things}?resourceVersion=0&${ask("c!=")}`),
    patch(`${things}/b`, mergePatch, { spec: { f: "t" } }),
    patch(`${things}/b`, mergePatch, { spec: { f: "s" } }),
    remove(`${things}?${ask("f=s")}`),
  ]
}
