// A custom resource that several clients write (writers.ts): lists and maps of every type, whose types the other version may have
// changed, defaults within the keys of a list, and fields that only one version knows.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { definitions } from "../cases/things.ts"
import type { JsonObject } from "../generate/objects.ts"
import { atomic, free, keyed, number, set, text } from "./schema-parts.ts"
import { get, post } from "../scenario.ts"
import type { Written } from "./written-kinds.ts"

const group = "w@{id}.example.com"
const pathOf = (version: string): string => `/apis/${group}/${version}/namespaces/@{ns}/things`

const port = (random: Random): JsonObject => ({
  type: "object",
  required: ["port"],
  properties: {
    port: number,
    protocol: { ...text, default: "TCP" },
    name: text,
    tags: { type: "array", items: text, ...pick(random, [set, atomic, {}]) },
  },
})

const part = (random: Random): JsonObject => ({
  type: "object",
  required: ["name"],
  properties: {
    name: text,
    count: { ...number, ...pick(random, [{}, { default: 1 }]) },
    env: {
      type: "array",
      items: { type: "object", required: ["name"], properties: { name: text, value: text } },
      ...pick(random, [keyed("name"), atomic, {}]),
    },
    options: {
      type: "object",
      additionalProperties: text,
      ...pick(random, [{}, { "x-kubernetes-map-type": "atomic" }]),
    },
  },
  ...pick(random, [{}, {}, { "x-kubernetes-map-type": "atomic" }]),
})

function schemaOf(random: Random): JsonObject {
  const fields: JsonObject = {
    replicas: number,
    color: { ...text, ...pick(random, [{}, { default: "red" }, { nullable: true }]) },
    names: { type: "array", items: text, ...pick(random, [set, set, atomic, {}]) },
    numbers: { type: "array", items: number, ...pick(random, [set, atomic]) },
    ports: {
      type: "array",
      items: port(random),
      ...pick(random, [keyed("port", "protocol"), keyed("port", "protocol"), keyed("port"), atomic, {}]),
    },
    parts: { type: "array", items: part(random), ...pick(random, [keyed("name"), keyed("name"), atomic]) },
    labels: {
      type: "object",
      additionalProperties: text,
      ...pick(random, [{}, { "x-kubernetes-map-type": "atomic" }]),
    },
    deep: {
      type: "object",
      additionalProperties: {
        type: "object",
        properties: { a: text, b: { type: "array", items: number, ...set }, c: { ...number, nullable: true } },
      },
    },
    choice: {
      type: "object",
      properties: { a: text, b: number, c: { "x-kubernetes-int-or-string": true } },
      ...pick(random, [{}, { "x-kubernetes-map-type": "atomic" }, { default: { a: "x" } }]),
    },
    free: { ...free, ...pick(random, [{}, { properties: { a: { type: "array", items: text, ...set } } }]) },
    template: { ...free, "x-kubernetes-embedded-resource": true },
  }
  const known = Object.fromEntries(
    Object.entries(fields).filter(([name]) => name === "replicas" || chance(random, 0.9)),
  )
  const conditions = {
    type: "array",
    items: { type: "object", required: ["type"], properties: { type: text, status: text, reason: text } },
    ...pick(random, [keyed("type"), keyed("type"), {}]),
  }
  const spec = {
    type: "object",
    properties: known,
    ...pick(random, [{}, { "x-kubernetes-preserve-unknown-fields": true }]),
  }
  return {
    type: "object",
    properties: { spec, status: { type: "object", properties: { replicas: number, phase: text, conditions } } },
  }
}

const some = <T>(random: Random, items: readonly T[]): T[] => {
  const chosen = items.filter(() => chance(random, 0.45))
  return chance(random, 0.2) ? chosen.toReversed() : chosen
}

const values: Readonly<Record<string, (random: Random) => Json>> = {
  replicas: (random) => random(4),
  color: (random) => pick<Json>(random, ["red", "green", null]),
  names: (random) => some(random, ["a", "b", "c", ...(chance(random, 0.05) ? ["a"] : [])]),
  numbers: (random) => some(random, [1, 2, 3]),
  ports: (random) =>
    some(random, [
      { port: 80 },
      { port: 80, protocol: "UDP", name: pick(random, ["x", "y"]) },
      { port: 443, protocol: "TCP", tags: some(random, ["t", "u"]) },
    ] as Json[]),
  parts: (random) =>
    some(random, ["a", "b", "c"]).map((name) => ({
      name,
      ...(chance(random, 0.4) ? { count: random(3) } : {}),
      ...(chance(random, 0.4)
        ? { env: some(random, ["E", "F"]).map((key) => ({ name: key, value: pick(random, ["1", "2"]) })) }
        : {}),
      ...(chance(random, 0.3)
        ? { options: Object.fromEntries(some(random, ["o", "p"]).map((key) => [key, "1"])) }
        : {}),
    })),
  labels: (random) => Object.fromEntries(some(random, ["k", "l", "m/n"]).map((key) => [key, pick(random, ["1", "2"])])),
  deep: (random) =>
    Object.fromEntries(
      some(random, ["x", "y"]).map((key) => [
        key,
        { a: pick(random, ["1", "2"]), b: some(random, [1, 2]), ...(chance(random, 0.3) ? { c: null } : {}) },
      ]),
    ),
  choice: (random) => pick<Json>(random, [{ a: "1" }, { b: 1 }, { a: "2", c: "50%" }, { c: 5 }, {}, null]),
  free: (random) => pick<Json>(random, [{ a: some(random, ["1", "2"]) }, { b: { c: [1, { d: null }] } }, { b: 1 }, {}]),
  template: (random) => ({
    apiVersion: "v1",
    kind: pick(random, ["ConfigMap", "Secret"]),
    metadata: { name: pick(random, ["t", "u"]), labels: { [pick(random, ["a", "b"])]: "1" } },
    data: { [pick(random, ["k", "l"])]: "v" },
  }),
  unknown: () => 1,
}

const specOf = (random: Random, names: readonly string[]): JsonObject => ({
  spec: Object.fromEntries(names.map((name) => [name, values[name]?.(random) ?? null])),
})

const parts: Written["parts"] = [
  (random) => ({
    metadata: {
      ...(chance(random, 0.5) ? { labels: { [pick(random, ["l", "m"])]: pick(random, ["1", "2"]) } } : {}),
      ...(chance(random, 0.3) ? { annotations: { a: pick(random, ["1", "2"]) } } : {}),
      ...(chance(random, 0.2) ? { finalizers: some(random, ["example.com/a", "example.com/b"]) } : {}),
    },
  }),
  ...Array.from({ length: 5 }, () => (random: Random) => specOf(random, some(random, Object.keys(values)))),
]

const status = (random: Random): JsonObject => ({
  status: {
    replicas: random(3),
    ...(chance(random, 0.5) ? { phase: pick(random, ["A", "B"]) } : {}),
    conditions: some(random, ["Ready", "Done"]).map((type) => ({ type, status: pick(random, ["True", "False"]) })),
  },
})

/** One or two versions, each with a schema of its own. */
export function writtenCustom(random: Random): Written {
  const names = chance(random, 0.5) ? ["v1"] : ["v1", "v2"]
  const same = schemaOf(random)
  const subresources = {
    status: {},
    ...(chance(random, 0.7)
      ? { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } }
      : {}),
  }
  const versions = names.map((name, index) => ({
    name,
    served: true,
    storage: index === 0,
    schema: { openAPIV3Schema: chance(random, 0.5) ? same : schemaOf(random) },
    ...(chance(random, 0.8) ? { subresources } : {}),
  }))
  const definition = {
    metadata: { name: `things.${group}` },
    spec: { group, scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions },
  }
  const of = (version: string): Omit<Written, "given" | "others"> => ({
    apiVersion: `${group}/${version}`,
    kind: "Thing",
    path: pathOf(version),
    base: {},
    parts,
    subresources: { status: [status, ...parts], scale: [(random) => ({ spec: { replicas: random(4) } })] },
  })
  return {
    ...of("v1"),
    others: names.slice(1).map(of),
    given: [
      post(definitions, definition, { label: "POST definition" }),
      ...names.map((name) => get(pathOf(name), { untilCode: 200 })),
    ],
  }
}
