// Drops fields that a custom resource's schema does not specify, like
// k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning.

import type { Json } from "../object.ts"
import type { JsonObject } from "./json-object.ts"
import { printPath } from "./json/paths.ts"
import { type Schema, schemaOfEntry, schemaOfItems } from "./schema.ts"

/** At the root and in embedded resources these are not pruned. */
const objectFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"])

/** In characters. The total length of paths may be quadratic; fields beyond this limit are not told. */
const maxTold = 1024 * 1024

/** Paths of fields that are told, as far as there is room. */
export class ToldPaths {
  #paths: string[] = []
  /** Number of characters of further paths. */
  #room = maxTold

  tell(path: () => string): void {
    if (this.#room <= 0) return
    const text = path()
    this.#room -= text.length
    this.#paths.push(text)
  }

  /** Those since the last time, sorted. */
  take(): readonly string[] {
    const taken = this.#paths.sort()
    this.#paths = []
    return taken
  }
}

/** Modifies the value. Returns the paths of dropped fields ("spec.foo") that are told, sorted; without `told` none. */
export function prune(schema: Schema, value: Json, told?: ToldPaths): readonly string[] {
  pruneValue(schema, value, { path: [], told }, schema.custom === true, schema.preserveUnknown === true)
  return told?.take() ?? []
}

interface Walk {
  path: (string | number)[]
  told: ToldPaths | undefined
}

/** `schema` is undefined where a value has a different type than specified, and where additionalProperties has no schema. */
function pruneValue(schema: Schema | undefined, value: Json, walk: Walk, whole: boolean, keeps: boolean): void {
  if (typeof value !== "object" || value === null) return
  if (!Array.isArray(value)) {
    pruneFields(schema, value, walk, whole || schema?.embedded === true, keeps)
    return
  }
  const items = schema && schemaOfItems(schema)
  // A list that keeps unknown fields also keeps those of its items.
  if (keeps && items === undefined) return
  for (const [index, item] of value.entries()) {
    walk.path.push(index)
    pruneValue(items, item, walk, false, keeps || items?.preserveUnknown === true)
    walk.path.pop()
  }
}

function pruneFields(schema: Schema | undefined, value: JsonObject, walk: Walk, whole: boolean, keeps: boolean): void {
  for (const key of Object.keys(value)) {
    if (whole && objectFields.has(key)) continue
    const field = schema === undefined ? undefined : schemaOfEntry(schema, key)
    walk.path.push(key)
    // Forbidden fields are rejected, not dropped.
    if (field === "none") pruneValue(undefined, value[key] as Json, walk, false, false)
    else if (field !== undefined) pruneValue(field, value[key] as Json, walk, false, field.preserveUnknown === true)
    else if (!keeps) {
      walk.told?.tell(() => printPath(walk.path))
      delete value[key]
    }
    walk.path.pop()
  }
}
