// Defaults of what objects within custom resources say of themselves: they have to result in what every object may say.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, post, type Scenario } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

export function customEmbeddedDefaultCases(): Scenario[] {
  return Object.entries(variants).map(([name, embedded]) => ({
    name: `a custom resource holds whole objects with defaults: ${name}`,
    anyOrder: true,
    steps: [
      post(definitions, definitionOf(group, {}, versionOf(embedded)) as Json),
      ...(refused.has(name) ? [] : [get(things, { untilCode: 200 }), ...specs.map((spec) => made(spec))]),
    ],
  }))
}

const group = "ed@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`
const text = { type: "string" }
const whole = { type: "object", "x-kubernetes-embedded-resource": true }
const any = { ...whole, "x-kubernetes-preserve-unknown-fields": true }

const withMetadata = (properties: object, more = {}): object => ({
  ...whole,
  properties: { apiVersion: text, kind: text, metadata: { type: "object", properties, ...more }, x: text },
})
const withKind = (apiVersion: object, kind: object): object => ({
  ...whole,
  properties: { apiVersion, kind, metadata: { type: "object" } },
})
const word = (value: string, more = {}): object => ({ type: "string", default: value, ...more })
const words = (value: object): object => ({ type: "object", additionalProperties: text, default: value })
const list = (value: readonly string[]): object => ({ type: "array", items: text, default: value })
const pod = { apiVersion: "v1", kind: "Pod" }

const refusedVariants: Readonly<Record<string, object>> = {
  "a bad name": withMetadata({ name: word("a/b") }),
  "a number as name": withMetadata({ name: { type: "integer", default: 1 } }),
  "bad labels": withMetadata({ labels: words({ "a b": "b" }) }),
  "a bad label": withMetadata({ labels: { type: "object", properties: { a: word("b c") } } }),
  "bad finalizers": withMetadata({ finalizers: list(["a b"]) }),
  "a half owner": withMetadata({
    ownerReferences: { type: "array", items: { type: "object", properties: { name: word("n") } } },
  }),
  "no kind": withKind(word("a/b/c"), word("Bad Kind")),
  "an empty kind": withKind(word(""), word("")),
  "no time": withMetadata({ creationTimestamp: word("x") }),
  "a negative generation": withMetadata({ generation: { type: "integer", default: -3 } }),
  "a name that is too short": withMetadata({ name: word("a", { minLength: 3 }) }),
  "metadata that are none": { ...any, default: { ...pod, metadata: { labels: { a: 1 } } } },
  "metadata with a bad name": { ...any, default: { ...pod, metadata: { name: "a/b" } } },
  nothing: { ...withKind(text, text), default: {} },
}
const refused: ReadonlySet<string> = new Set(Object.keys(refusedVariants))

const variants: Readonly<Record<string, object>> = {
  ...refusedVariants,
  "a name": withMetadata({ name: word("a") }),
  labels: withMetadata({ labels: words({ a: "b" }) }),
  metadata: withMetadata({ name: text }, { default: { name: "x" } }),
  finalizers: withMetadata({ finalizers: list(["a/b"]) }),
  "a kind": withKind(word("v1"), word("Pod")),
  "an object": { ...any, default: { ...pod, metadata: { name: "a" }, more: 1 } },
  "a time": withMetadata({ creationTimestamp: word("2024-01-01T00:00:00Z", { format: "date-time" }) }),
  "a generation": withMetadata({ generation: { type: "integer", default: 3 } }),
  "dropped, a field of none": withMetadata({ bogus: word("b") }),
  "dropped, a field of metadata": withMetadata({ name: text }, { default: { name: "x", bogus: "y" } }),
  "dropped, in objects of objects": {
    type: "object",
    default: {},
    additionalProperties: withMetadata({ bogus: word("b"), name: word("n") }),
  },
  "dropped, empty labels": withMetadata(
    { labels: { type: "object", properties: { a: word("b") }, default: {} } },
    { default: {} },
  ),
}

function versionOf(embedded: object): object {
  const spec = { type: "object", properties: { one: embedded, list: { type: "array", items: embedded } } }
  return { schema: { openAPIV3Schema: { type: "object", properties: { spec } } } }
}

const specs: readonly object[] = [
  {},
  { one: null },
  { one: {} },
  { one: pod },
  ...[{}, null, { labels: {} }, { name: "z", ownerReferences: [{}] }].map((metadata) => ({
    one: { ...pod, metadata },
  })),
  { list: [pod, { ...pod, metadata: {} }] },
]

function made(spec: object): ReturnType<typeof post> {
  const thing = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" }, spec } as Json
  return post(`${things}?dryRun=All`, thing, { label: `POST ${JSON.stringify(spec)}` })
}
