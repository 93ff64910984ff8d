// Definitions: errors about names, schemas with invalid rules, selectable fields and stored versions.

import type { Json } from "../../../../apimachinery/object.ts"
import { patch, post, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"
import { definitions } from "./things.ts"

const group = "d@{id}.example.com"
const names = { plural: "things", singular: "thing", kind: "Thing" }

export function definitionDetailCases(): Scenario[] {
  return [
    { name: "a definition has names that are wrong in more than one way", steps: manyFaults() },
    { name: "a definition has rules where there are no types", steps: untyped(), anyOrder: true },
    { name: "a definition has rules about what was before", steps: correlated(), anyOrder: true },
    { name: "a definition has fields to select by and a schema of no form", steps: formless(), anyOrder: true },
    { name: "a definition is said to have nothing stored", steps: nothingStored() },
  ]
}

const dry = (spec: { [key: string]: Json }, label: string): RequestStep =>
  post(`${definitions}?dryRun=All`, { metadata: { name: `things.${group}` }, spec }, { label })

const withSchema = (spec: Json, label: string, version: { [key: string]: Json } = {}): RequestStep =>
  dry(
    {
      group,
      scope: "Namespaced",
      names,
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
          ...version,
        },
      ],
    },
    label,
  )

function manyFaults(): RequestStep[] {
  const long = "Ü".repeat(70)
  return [
    dry({ group: long, scope: "Cluster", names: { plural: long, singular: long, kind: long, listKind: long } }, "long"),
    dry({ group, scope: "Cluster", names: { ...names, shortNames: [long, "1"], categories: [long] } }, "lists"),
    dry({ group, scope: "Cluster", names, versions: [{ name: long, storage: true }] }, "a version"),
    dry({ group, names, versions: [{ schema: { openAPIV3Schema: {} } }, { name: "v1", storage: true }] }, "versions"),
  ]
}

function untyped(): RequestStep[] {
  const rule = [{ rule: "self == 1" }]
  const inner = { type: "integer", "x-kubernetes-validations": rule }
  return [
    withSchema({ type: "bogus", properties: { a: inner }, "x-kubernetes-validations": rule }, "below, with rules"),
    withSchema({ type: "bogus", properties: { a: inner } }, "below, without rules"),
    withSchema(
      {
        type: "object",
        "x-kubernetes-validations": [{ rule: "true" }],
        properties: { b: { type: "null", items: inner } },
      },
      "below one that has a type",
    ),
    withSchema({ type: "a\u0000b<" }, "a type of no name"),
    withSchema(
      {
        type: "object",
        "x-kubernetes-validations": [{ rule: "true", reason: "Bogus", fieldPath: "a" }],
        properties: { a: { type: "string", id: "x" } },
      },
      "a path where there is no form",
    ),
  ]
}

function correlated(): RequestStep[] {
  const inner = { type: "string", maxLength: 5, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] }
  const list = { type: "array", maxItems: 5, items: inner }
  return ["atomic", "granular", "bogus"].map((mapType) =>
    withSchema({ type: "object", "x-kubernetes-map-type": mapType, properties: { a: inner, list } }, mapType),
  )
}

function formless(): RequestStep[] {
  const none = { selectableFields: [{}] }
  return [
    withSchema({ type: "object", definitions: { a: {} } }, "definitions", none),
    withSchema({ type: "object", $schema: "a" }, "$schema", none),
    withSchema({ type: "object", "x-kubernetes-preserve-unknown-fields": false }, "unknown fields", none),
  ]
}

function nothingStored(): RequestStep[] {
  const path = `${definitions}/things.${group}`
  const spec = {
    group,
    scope: "Namespaced",
    names,
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  }
  return [
    post(definitions, { metadata: { name: `things.${group}` }, spec }),
    patch(`${path}/status?dryRun=All`, strategicPatch, { status: { storedVersions: [] } }, { label: "PATCH status" }),
  ]
}
