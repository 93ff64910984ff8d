// Random definitions with several versions, each with its own subresources, columns, selectable fields, defaults and rules; and
// values that mostly match them.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"

export function definitionOfVersions(random: Random, group: string, versions: readonly string[]): JsonObject {
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
        ...versionOf(random),
      })),
      ...(chance(random, 0.3) ? { conversion: { strategy: "None" } } : {}),
    },
  }
}

/** Without its name. */
export function versionOf(random: Random): JsonObject {
  return { schema: { openAPIV3Schema: schemaOf(random) }, ...extrasOf(random) }
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

export function specOf(random: Random): JsonObject {
  const names = Object.keys(values).filter(() => chance(random, 0.4))
  return Object.fromEntries(
    // Valid values come first.
    names.map((name) => [
      name,
      chance(random, 0.6) ? (values[name]?.[random(2)] ?? null) : pick(random, values[name] ?? []),
    ]),
  )
}

export function statusOf(random: Random): JsonObject {
  const all: JsonObject = {
    size: pick<Json>(random, [1, 3, -1, "x", null]),
    selector: pick<Json>(random, ["a=b", "", "(", null]),
    phase: pick<Json>(random, ["New", "Done", "Old"]),
    conditions: pick<Json>(random, [[{ type: "Ready", status: "True" }], [], [{}]]),
    bogus: 1,
  }
  return Object.fromEntries(Object.entries(all).filter(() => chance(random, 0.5)))
}
