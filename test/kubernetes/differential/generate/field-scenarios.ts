// Every field of every kind with every value worth testing: in a create and in an update, always as a dry run.

import type { Json } from "../../../../apimachinery/object.ts"
import type { Schema } from "../../../../apimachinery/schema/schema.ts"
import { post, put, type RequestStep, type Scenario, type Step } from "../scenario.ts"
import { type Field, fieldsOf, type FieldPath, printPath, withValue } from "./fields.ts"
import { asUpdate, type JsonObject, type Kind } from "./objects.ts"
import { valuesFor } from "./values.ts"

/** The fields of a pod's spec are tested in Pod; kinds with a template share them. */
function walkedElsewhere(kind: Kind): string[] {
  return ["ObjectMeta", ...(kind.facts.kind === "Pod" ? [] : ["PodSpec", "PersistentVolumeClaimSpec"])].filter(
    (type) => !(type === "PersistentVolumeClaimSpec" && kind.facts.kind === "PersistentVolumeClaim"),
  )
}

/** Their fields have several maps, whose faults upstream tells in the order of one of Go's maps. */
const inAnyOrder: ReadonlySet<string> = new Set(["v1 LimitRange"])

export function fieldScenarios(kind: Kind): Scenario[] {
  const anyOrder = inAnyOrder.has(kind.title)
  const fields = fieldsOf(kind.schema, [], { except: walkedElsewhere(kind) }).filter(
    ({ path }) => !["apiVersion", "kind", "metadata", "status"].includes(String(path[0])),
  )
  return [...groups(fields)].flatMap(([name, group]) => {
    const created = {
      name: `${kind.title} is created with any ${name}`,
      anyOrder,
      steps: group.flatMap((field) => creates(kind, field)),
    }
    const changed = group.filter(({ path }) => depth(path) <= 4).flatMap((field) => updates(kind, field))
    if (changed.length === 0) return [created]
    return [
      created,
      {
        name: `${kind.title} is updated to any ${name}`,
        anyOrder,
        steps: [post(kind.path, kind.object(), { label: "POST valid", save: "valid" }), ...changed],
      },
    ]
  })
}

export function statusScenarios(kind: Kind): Scenario[] {
  const status = kind.facts.subresources.find(({ name }) => name === "status")
  const schema = kind.schema.fields?.["status"]?.schema
  if (status === undefined || schema === undefined) return []
  const fields = fieldsOf(schema, ["status"], { except: ["ObjectMeta", "Container"] })
  const steps = fields.flatMap((field) =>
    valuesFor(field.schema, false).map((value) =>
      put(`${kind.objectPath}/status?dryRun=All`, asUpdate(kind, objectWith(kind, field, value)), {
        label: `PUT status ${shown(field.path, value)}`,
      }),
    ),
  )
  return chunked(steps, 120).map((chunk, index) => ({
    name: `${kind.title} takes any status${index === 0 ? "" : ` (${index + 1})`}`,
    steps: [post(kind.path, kind.object(), { label: "POST valid", save: "valid" }), ...chunk],
  }))
}

function chunked(steps: readonly Step[], size: number): Step[][] {
  const chunks: Step[][] = []
  for (let at = 0; at < steps.length; at += size) chunks.push(steps.slice(at, at + size))
  return chunks
}

/** By the first two names of their path, such as "spec.containers". */
function groups(fields: readonly Field[]): Map<string, Field[]> {
  const names = fields.map(({ path }) => path.filter((step) => typeof step === "string"))
  const found = new Map<string, Field[]>()
  for (const [index, field] of fields.entries()) {
    const parts = names[index] ?? []
    const name = parts.slice(0, parts[0] === "spec" ? 2 : 1).join(".")
    found.set(name, [...(found.get(name) ?? []), field])
  }
  found.delete("spec")
  const spec = fields.filter(({ path }) => path.length === 1 && path[0] === "spec")
  return spec.length === 0 ? found : new Map([["spec", spec], ...found])
}

function depth(path: FieldPath): number {
  return path.filter((step) => typeof step === "string").length
}

function creates(kind: Kind, field: Field): RequestStep[] {
  return valuesFor(field.schema, true).map((value) =>
    post(`${kind.path}?dryRun=All`, objectWith(kind, field, value), { label: `POST ${shown(field.path, value)}` }),
  )
}

function updates(kind: Kind, field: Field): RequestStep[] {
  return valuesFor(field.schema, false).map((value) =>
    put(`${kind.objectPath}?dryRun=All`, asUpdate(kind, objectWith(kind, field, value)), {
      label: `PUT ${shown(field.path, value)}`,
    }),
  )
}

function objectWith(kind: Kind, { path }: Field, value: Json): JsonObject {
  return withValue(kind.object(), kind.schema as Schema, path, value)
}

function shown(path: FieldPath, value: Json): string {
  const text = JSON.stringify(value)
  return `${printPath(path)} = ${text.length > 80 ? `${text.slice(0, 60)}… (${text.length})` : text}`
}
