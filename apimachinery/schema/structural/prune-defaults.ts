// Prunes the defaults of a schema before they are used: metadata within them loses unknown fields, and fields that Go would not
// write. Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting/prune.go.

import { embeddedFault } from "../decode/custom.ts"
import type { Json } from "../../object.ts"
import { isObject } from "../json-object.ts"
import { hasEmbedded, type Schema } from "../schema.ts"

/** Modifies `schema`, which must be that of a custom resource and not be shared yet. */
export function pruneDefaults(schema: Schema): void {
  if (hasEmbedded(schema)) pruneBelow(schema, schema, [])
}

type Step = string | number

function pruneBelow(root: Schema, schema: Schema, path: readonly Step[]): void {
  if (schema.default !== undefined) {
    const pruned = asHeld(root, schema.default, path)
    if (pruned === undefined) delete schema.default
    else schema.default = pruned
  }
  for (const [name, field] of Object.entries(schema.fields ?? {})) pruneBelow(root, field.schema, [...path, name])
  if (typeof schema.more === "object") pruneBelow(root, schema.more, [...path, "*"])
  if (schema.items !== undefined) pruneBelow(root, schema.items, [...path, schema.type === "map" ? "*" : 0])
}

/** Returns undefined if the value is dropped. */
function asHeld(root: Schema, value: Json, path: readonly Step[]): Json | undefined {
  const holder: Json = path.reduceRight<Json>(
    (inner, step) => (typeof step === "string" ? { [step]: inner } : [inner]),
    structuredClone(value),
  )
  // Malformed values were rejected when the definition was written.
  embeddedFault({ ...root, embedded: true }, holder)
  return path.reduce<Json | undefined>(entryOf, holder)
}

function entryOf(holder: Json | undefined, step: Step): Json | undefined {
  if (Array.isArray(holder)) return holder[Number(step)]
  return holder !== undefined && isObject(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined
}
