// Drops what a custom resource's schema does not name, as k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning does.

import type { Json } from "../object.ts"
import { type JsonObject } from "./json-object.ts"
import { printPath } from "./json-scan.ts"
import type { Schema } from "./schema.ts"

/** At the root and in embedded resources these are not the schema's to drop. */
const objectFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"])

/** In place. `unknown`, when given, gets `unknown field "spec.foo"` for each field that is dropped. */
export function prune(schema: Schema, value: Json, unknown?: string[]): void {
  pruneValue(schema, value, [], unknown, schema.custom === true)
}

function pruneValue(
  schema: Schema | undefined,
  value: Json,
  path: (string | number)[],
  unknown: string[] | undefined,
  whole: boolean,
): void {
  if (typeof value !== "object" || value === null || schema === undefined) return
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      path.push(index)
      pruneValue(schema.items, item, path, unknown, false)
      path.pop()
    }
    return
  }
  pruneFields(schema, value, path, unknown, whole || schema.embedded === true)
}

function pruneFields(
  schema: Schema,
  value: JsonObject,
  path: (string | number)[],
  unknown: string[] | undefined,
  whole: boolean,
): void {
  for (const key of Object.keys(value)) {
    if (whole && objectFields.has(key)) continue
    const field = fieldOf(schema, key)
    path.push(key)
    if (field !== undefined) pruneValue(field, value[key] as Json, path, unknown, false)
    else if (schema.preserveUnknown !== true && schema.type !== "any") {
      unknown?.push(`unknown field ${JSON.stringify(printPath(path))}`)
      delete value[key]
    }
    path.pop()
  }
}

function fieldOf(schema: Schema, key: string): Schema | undefined {
  if (schema.fields !== undefined && Object.hasOwn(schema.fields, key)) return schema.fields[key]?.schema
  return schema.type === "map" ? schema.items : undefined
}
