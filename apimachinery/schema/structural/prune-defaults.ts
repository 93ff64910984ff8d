// Prunes the defaults of a schema before they are used: metadata within them loses unknown fields, and fields that Go would not
// write. Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting/prune.go.

import { copyJson } from "../../copy.ts"
import { embeddedFault } from "../decode/custom.ts"
import type { Json } from "../../object.ts"
import { isObject } from "../json-object.ts"
import { hasEmbedded, type Schema } from "../schema.ts"

/** Modifies `schema`, which must be that of a custom resource and not be shared yet. */
export function pruneDefaults(schema: Schema): void {
  if (hasEmbedded(schema)) pruneBelow({ ...schema, embedded: true }, schema, [])
}

type Step = string | number

/** Of a path that leads to a field of ObjectMeta, such as metadata.ownerReferences[0].name. What is deeper is unknown. */
const maxStepsToField = 5

/**
 * `path`: of `schema` below `holder`, which is the outermost embedded object whose metadata that is within, and otherwise `schema`
 * itself: what surrounds it has no effect. So a default costs the same, however deep it is.
 */
function pruneBelow(holder: Schema, schema: Schema, path: readonly Step[]): void {
  if (schema.default !== undefined && hasEmbedded(holder)) {
    const pruned = path.length > maxStepsToField ? undefined : asHeld(holder, schema.default, path)
    if (pruned === undefined) delete schema.default
    else schema.default = pruned
  }
  const visit = (inner: Schema, step: Step): void => {
    const isWithin = path.length > 0 || (holder.embedded === true && step === "metadata")
    if (isWithin) pruneBelow(holder, inner, path.length > maxStepsToField ? path : [...path, step])
    else pruneBelow(inner, inner, [])
  }
  for (const [name, field] of Object.entries(schema.fields ?? {})) visit(field.schema, name)
  if (typeof schema.more === "object") visit(schema.more, "*")
  if (schema.items !== undefined) visit(schema.items, schema.type === "map" ? "*" : 0)
}

/** Returns undefined if the value is dropped. */
function asHeld(holder: Schema, value: Json, path: readonly Step[]): Json | undefined {
  const held = path.reduceRight<Json>(
    (inner, step) => (typeof step === "string" ? { [step]: inner } : [inner]),
    copyJson(value),
  )
  // In a list: it is not the object that is stored. Malformed values were rejected when the definition was written.
  embeddedFault({ type: "list", items: holder }, [held])
  return path.reduce<Json | undefined>(entryOf, held)
}

function entryOf(holder: Json | undefined, step: Step): Json | undefined {
  if (Array.isArray(holder)) return holder[Number(step)]
  return holder !== undefined && isObject(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined
}
