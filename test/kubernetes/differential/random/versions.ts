// Random definitions of several versions, each with subresources, columns, fields to select by, defaults and rules of its own, and
// lives of their objects through all of them.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { definitions } from "../cases/things.ts"
import { asMetadata, asTable, asYaml } from "../generate/life-scenarios.ts"
import type { JsonObject } from "../generate/objects.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  type Step,
  watch,
  withQuery,
} from "../scenario.ts"

const group = "v@{id}.example.com"
const length = 30
const versionNames = ["v1", "v2", "v1beta1", "v2alpha1"]

interface Context {
  random: Random
  versions: readonly string[]
}

export function randomVersionsScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const versions = versionNames.filter(() => chance(random, 0.5))
  if (versions.length === 0) versions.push("v1")
  const context: Context = { random, versions }
  const opened = [opens(context), opens(context)].flat()
  const steps: Step[] = [
    ...versions.map((version) => get(at(version), { untilCode: 200 })),
    ...(chance(random, 0.5) ? opened : []),
    ...Array.from({ length }, () => pick(random, choices)(context)).flat(),
  ]
  return {
    name: `versions of a custom resource at random, seed ${seed}`,
    steps: [
      { ...post(definitions, definition(context)), label: "POST definition" },
      ...steps.map((step, index) =>
        "watch" in step ? step : { ...step, label: `${index} ${step.method} ${step.path}`.slice(0, 200) },
      ),
    ],
    anyOrder: true,
    byChance: true,
  }
}

/** As often as they stand here. */
const choices: readonly ((context: Context) => Step[])[] = [
  creates,
  creates,
  updates,
  updates,
  patches,
  patches,
  applies,
  applies,
  statuses,
  statuses,
  scales,
  scales,
  reads,
  lists,
  lists,
  deletes,
  redefines,
]

const at = (version: string): string => `/apis/${group}/${version}/namespaces/@{ns}/things`

function definition({ random, versions }: Context): JsonObject {
  const stored = random(versions.length)
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: {
        plural: "things",
        singular: "thing",
        kind: "Thing",
        ...(chance(random, 0.3) ? { categories: ["a"] } : {}),
      },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === stored,
        schema: { openAPIV3Schema: schemaOf(random) },
        ...extrasOf(random),
      })),
      ...(chance(random, 0.3) ? { conversion: { strategy: "None" } } : {}),
    },
  }
}

function extrasOf(random: Random): JsonObject {
  const status: JsonObject = chance(random, 0.7) ? { status: {} } : {}
  const scale: JsonObject = chance(random, 0.7)
    ? {
        scale: {
          specReplicasPath: ".spec.size",
          statusReplicasPath: ".status.size",
          ...(chance(random, 0.5) ? { labelSelectorPath: ".status.selector" } : {}),
        },
      }
    : {}
  const columns = [
    { name: "Size", type: "integer", jsonPath: ".spec.size" },
    { name: "Color", type: "string", jsonPath: ".spec.color", priority: 1 },
    { name: "When", type: "date", jsonPath: ".spec.when" },
    { name: "Flag", type: "boolean", jsonPath: ".spec.flag" },
    { name: "Parts", type: "string", jsonPath: ".spec.parts[*].name" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ].filter(() => chance(random, 0.4))
  const selectable = [".spec.color", ".spec.size", ".spec.flag"].filter(() => chance(random, 0.4))
  return {
    ...(chance(random, 0.85) ? { subresources: { ...status, ...scale } } : {}),
    ...(columns.length === 0 ? {} : { additionalPrinterColumns: columns }),
    ...(selectable.length === 0 ? {} : { selectableFields: selectable.map((jsonPath) => ({ jsonPath })) }),
    ...(chance(random, 0.15) ? { deprecated: true } : {}),
  }
}

const rules: readonly JsonObject[] = [
  { rule: "!has(self.size) || self.size <= 5", message: "too large" },
  { rule: "self.size % 2 == 0", messageExpression: "'size is ' + string(self.size)" },
  {
    rule: "!has(oldSelf.color) || self.color == oldSelf.color",
    message: "color is for ever",
    reason: "FieldValueForbidden",
  },
  { rule: "self.parts.all(p, p.count > 0)", fieldPath: ".parts" },
  { rule: "has(self.flag) == has(self.color)" },
  { rule: "self.parts.exists_one(p, p.name == 'a')", message: "one a" },
  { rule: "oldSelf.hasValue() ? self.size >= oldSelf.value().size : true", optionalOldSelf: true },
  { rule: "self.labels.map(k, self.labels[k]).join(',').size() < 4" },
  { rule: "self.when < timestamp('2025-01-01T00:00:00Z')" },
  { rule: "self.size / self.least > 0", message: "divided" },
  { rule: "quantity(self.amount).isLessThan(quantity('2Gi'))", messageExpression: "self.amount" },
  { rule: "self.color in ['red', 'green']" },
]

function schemaOf(random: Random): JsonObject {
  const rule = (): JsonObject =>
    chance(random, 0.5) ? { "x-kubernetes-validations": [pick(random, rules), pick(random, rules)] } : {}
  const often = (schema: JsonObject, ...more: readonly JsonObject[]): JsonObject =>
    Object.assign({}, schema, ...more.filter(() => chance(random, 0.35)))
  const all: JsonObject = {
    size: often({ type: "integer" }, { default: 2 }, { minimum: 0 }, { maximum: 8 }, { format: "int32" }),
    least: often({ type: "integer", default: 1 }, { nullable: true }),
    color: often({ type: "string", maxLength: 20 }, { default: "red" }, { enum: ["red", "green", "blue"] }),
    flag: often({ type: "boolean" }, { default: false }),
    when: { type: "string", format: "date-time" },
    amount: often({ type: "string", maxLength: 20, default: "1Gi" }, { nullable: true }),
    parts: {
      type: "array",
      maxItems: 5,
      ...(chance(random, 0.7) ? { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] } : {}),
      items: {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string", maxLength: 5 },
          count: often({ type: "integer", default: 1 }, { minimum: 1 }),
        },
      },
      ...(chance(random, 0.3) ? { default: [{ name: "a" }] } : {}),
    },
    labels: { type: "object", additionalProperties: { type: "string", maxLength: 5 }, maxProperties: 3 },
    extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  }
  const left = Object.entries(all).filter(() => chance(random, 0.93))
  const status = {
    type: "object",
    properties: {
      size: often({ type: "integer" }, { default: 0 }),
      selector: { type: "string" },
      phase: often({ type: "string" }, { default: "New" }, { enum: ["New", "Done"] }),
      conditions: {
        type: "array",
        items: { type: "object", properties: { type: { type: "string" }, status: { type: "string" } } },
      },
    },
    ...(chance(random, 0.3) ? { default: {} } : {}),
  }
  const spec = {
    type: "object",
    properties: Object.fromEntries(left),
    ...(chance(random, 0.3) ? { default: {} } : {}),
    ...rule(),
  }
  return {
    type: "object",
    properties: { spec, status },
    ...(chance(random, 0.2) ? { required: ["spec"] } : {}),
    ...(chance(random, 0.2) ? { "x-kubernetes-preserve-unknown-fields": true } : {}),
    ...(chance(random, 0.2)
      ? { "x-kubernetes-validations": [{ rule: "self.metadata.name.size() < 3 || has(self.status)" }] }
      : {}),
  }
}

const values: Readonly<Record<string, readonly Json[]>> = {
  size: [0, 1, 2, 4, 7, 9, -1, "2", 1.5, null, 2 ** 31],
  least: [0, 1, null],
  color: ["red", "green", "yellow", "", null, 1],
  flag: [true, false, "true", null],
  when: ["2024-01-02T03:04:05Z", "2026-01-02T03:04:05Z", "yesterday", null],
  amount: ["1Gi", "3Gi", "lots", null],
  parts: [
    [],
    [{ name: "a" }],
    [{ name: "a", count: 0 }],
    [{ name: "a" }, { name: "a" }],
    [{ name: "b" }, { count: 1 }],
    null,
    {},
  ],
  labels: [{}, { a: "b" }, { a: "bb", c: "dd" }, { a: 1 }, null],
  extra: [{}, { a: { b: [1, null] } }, null, []],
  bogus: [1, null],
}

function specOf(random: Random): JsonObject {
  const names = Object.keys(values).filter(() => chance(random, 0.4))
  return Object.fromEntries(
    // What is valid stands first.
    names.map((name) => [
      name,
      chance(random, 0.6) ? (values[name]?.[random(2)] ?? null) : pick(random, values[name] ?? []),
    ]),
  )
}

function statusOf(random: Random): JsonObject {
  const all: JsonObject = {
    size: pick<Json>(random, [1, 3, -1, "x", null]),
    selector: pick<Json>(random, ["a=b", "", "(", null]),
    phase: pick<Json>(random, ["New", "Done", "Old"]),
    conditions: pick<Json>(random, [[{ type: "Ready", status: "True" }], [], [{}]]),
    bogus: 1,
  }
  return Object.fromEntries(Object.entries(all).filter(() => chance(random, 0.5)))
}

const names = ["a", "b", "abc"]

function thing({ random }: Context, version: string, name: string): JsonObject {
  return {
    apiVersion: `${group}/${version}`,
    kind: "Thing",
    metadata: { name, ...(chance(random, 0.5) ? { labels: { l: pick(random, ["1", "2"]) } } : {}) },
    ...(chance(random, 0.9) ? { spec: specOf(random) } : {}),
    ...(chance(random, 0.3) ? { status: statusOf(random) } : {}),
    ...(chance(random, 0.1) ? { bogus: 1 } : {}),
  }
}

function query({ random }: Context): string {
  return [
    ...(chance(random, 0.2) ? ["dryRun=All"] : []),
    ...(chance(random, 0.3) ? [`fieldValidation=${pick(random, ["Strict", "Warn", "Ignore"])}`] : []),
    ...(chance(random, 0.2) ? [`fieldManager=${pick(random, ["one", "two"])}`] : []),
  ].join("&")
}

const forms = [{}, {}, {}, asTable, asYaml, asMetadata]

function creates(context: Context): RequestStep[] {
  const { random, versions } = context
  const version = pick(random, versions)
  return [post(withQuery(at(version), query(context)), thing(context, version, pick(random, names)))]
}

function updates(context: Context): RequestStep[] {
  const { random, versions } = context
  const [read, written] = [pick(random, versions), pick(random, versions)]
  const name = pick(random, names)
  const object = thing(context, written, name)
  const metadata = { ...(object["metadata"] as JsonObject), resourceVersion: "@{now.metadata.resourceVersion}" }
  return [
    { ...get(`${at(read)}/${name}`, { headers: {} }), save: "now" },
    put(withQuery(`${at(written)}/${name}`, query(context)), chance(random, 0.9) ? { ...object, metadata } : object),
  ]
}

function patches(context: Context): RequestStep[] {
  const { random, versions } = context
  const path = withQuery(`${at(pick(random, versions))}/${pick(random, names)}`, query(context))
  const [field, value] = Object.entries(specOf(random))[0] ?? ["size", 3]
  return [
    chance(random, 0.6)
      ? patch(path, mergePatch, { spec: specOf(random) })
      : patch(path, jsonPatch, [
          { op: pick(random, ["add", "replace", "remove", "test"]), path: `/spec/${field}`, value },
        ]),
  ]
}

function applies(context: Context): RequestStep[] {
  const { random, versions } = context
  const version = pick(random, versions)
  const name = pick(random, names)
  const path = `${at(version)}/${name}${chance(random, 0.15) ? "/status" : ""}`
  const who = `fieldManager=${pick(random, ["one", "two"])}&force=${random(2) === 0}`
  return [
    patch(
      withQuery(path, `${who}${chance(random, 0.2) ? "&dryRun=All" : ""}`),
      applyPatch,
      thing(context, version, name),
    ),
  ]
}

function statuses(context: Context): RequestStep[] {
  const { random, versions } = context
  const version = pick(random, versions)
  const name = pick(random, names)
  const path = `${at(version)}/${name}/status`
  if (chance(random, 0.2)) return [get(path, { headers: pick(random, forms) })]
  if (chance(random, 0.6)) return [patch(withQuery(path, query(context)), mergePatch, { status: statusOf(random) })]
  const object = thing(context, version, name)
  const metadata = { name, resourceVersion: "@{now.metadata.resourceVersion}" }
  return [
    { ...get(`${at(version)}/${name}`), save: "now" },
    put(withQuery(path, query(context)), { ...object, metadata, status: statusOf(random) }),
  ]
}

function scales(context: Context): RequestStep[] {
  const { random, versions } = context
  const name = pick(random, names)
  const path = `${at(pick(random, versions))}/${name}/scale`
  const replicas = pick<Json>(random, [1, 2, 4, 6, 9, -1, null, "3"])
  switch (random(4)) {
    case 0:
      return [get(path, { headers: pick(random, forms) })]
    case 1:
      return [patch(withQuery(path, query(context)), mergePatch, { spec: { replicas } })]
    case 2:
      return [
        patch(`${path}?fieldManager=three&force=true`, applyPatch, {
          apiVersion: "autoscaling/v1",
          kind: "Scale",
          metadata: { name },
          spec: { replicas },
        }),
      ]
    default:
      return [put(withQuery(path, query(context)), { metadata: { name }, spec: { replicas } })]
  }
}

function reads({ random, versions }: Context): RequestStep[] {
  return [get(`${at(pick(random, versions))}/${pick(random, names)}`, { headers: pick(random, forms) })]
}

function selection(random: Random): string {
  const field = pick(random, ["spec.color", "spec.size", "spec.flag", "spec.bogus", "metadata.name", "status.phase"])
  const value = pick(random, ["red", "2", "false", "true", "", "a"])
  return `fieldSelector=${field}${pick(random, ["%3D", "!%3D"])}${value}`
}

function lists({ random, versions }: Context): RequestStep[] {
  const parts = [
    ...(chance(random, 0.5) ? [selection(random)] : []),
    ...(chance(random, 0.2) ? ["limit=1"] : []),
    ...(chance(random, 0.2) ? ["labelSelector=l%3D1"] : []),
  ]
  return [get(withQuery(at(pick(random, versions)), parts.join("&")), { headers: pick(random, forms) })]
}

function opens({ random, versions }: Context): Step[] {
  const parts = [
    ...(chance(random, 0.5) ? [selection(random)] : []),
    ...(chance(random, 0.5) ? ["resourceVersion=0"] : []),
  ]
  return [
    watch(withQuery(at(pick(random, versions)), parts.join("&")), {
      headers: pick(random, [{}, {}, asTable, asMetadata]),
    }),
  ]
}

function deletes({ random, versions }: Context): RequestStep[] {
  const version = pick(random, versions)
  if (chance(random, 0.2)) return [remove(withQuery(at(version), selection(random)))]
  return [remove(`${at(version)}/${pick(random, names)}${chance(random, 0.3) ? "?dryRun=All" : ""}`)]
}

/** What a definition may become is looked at alone: a version that is served no more goes when the server comes to it. */
function redefines(context: Context): RequestStep[] {
  const { random } = context
  const more = { ...context, versions: versionNames.filter(() => chance(random, 0.5)) }
  const changed = definition(more.versions.length === 0 ? context : more)
  return [patch(`${definitions}/things.${group}?dryRun=All`, mergePatch, { spec: changed["spec"] ?? {} })]
}
