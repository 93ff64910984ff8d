// What is built in about a custom resource: its metadata, and that of the objects within it.

import type { Json } from "../object.ts"
import { Mismatch } from "./decode-errors.ts"
import { decodeWhole, type Walk } from "./decode-value.ts"
import { schemaOfType } from "./facts.ts"
import { isObject, type JsonObject, sortedKeys } from "./json-object.ts"
import { printPath } from "./json-scan.ts"
import { oddNumbersOf } from "./odd-numbers.ts"
import { prune } from "./prune.ts"
import { ScalarError } from "./scalars.ts"
import { hasEmbedded, type Schema } from "./schema.ts"

const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

/**
 * Of a custom resource only the metadata is decoded; the rest is pruned here and validated by validate.ts. Answers what was pruned, as
 * paths, when somebody asks for what is unknown.
 */
export function decodeCustom(schema: Schema, value: Json, walk: Walk): readonly string[] {
  if (!isObject(value)) return []
  walk.oddNumbers?.each(checkLiteral, "metadata")
  decodeMetadata(value, walk)
  if (hasEmbedded(schema)) decodeEmbedded(schema, value, walk)
  return prune(schema, value, walk.unknown !== undefined)
}

function checkLiteral(literal: string): void {
  if (!Number.isFinite(Number(literal))) {
    throw new ScalarError(`json: cannot unmarshal number ${literal} into Go value of type float64`)
  }
}

function decodeMetadata(value: JsonObject, walk: Walk): void {
  const schema = schemaOfType(objectMeta)
  if (schema === undefined) throw new Error(`facts.json lacks ${objectMeta}`)
  const metadata = value["metadata"]
  if (metadata === undefined) return
  if (metadata === null) {
    delete value["metadata"]
    return
  }
  walk.path.push("metadata")
  const depth = walk.path.length
  try {
    value["metadata"] = decodeWhole(schema, metadata, walk)
  } catch {
    // Upstream reads it from a text in which its keys are sorted: another fault may be the first. What was well is well again.
    walk.path.length = depth
    walk.fault = undefined
    value["metadata"] = decodeSorted(schema, metadata, walk)
  }
  walk.path.pop()
}

/** By itself, so messages begin there. */
function decodeSorted(schema: Schema, metadata: Json, walk: Walk): Json {
  const depth = walk.path.length
  try {
    return decodeWhole(schema, sortedKeys(metadata), walk)
  } catch (error) {
    throw error instanceof Mismatch ? new ScalarError(error.below(depth).explain(schema)) : error
  }
}

/** What an object within the object says of itself is of another type than it has to be. */
export class EmbeddedFault extends ScalarError {
  readonly path: readonly (string | number)[]
  readonly given: string
  readonly detail: string

  constructor(path: readonly (string | number)[], given: string, detail: string) {
    super(`${printPath(path)}: Invalid value: ${given}: ${detail}`)
    this.path = path
    this.given = given
    this.detail = detail
  }
}

/** In place, as far as it is well; the value itself may be such an object. Undefined: all of them are well. */
export function embeddedFault(schema: Schema, value: Json): EmbeddedFault | undefined {
  const holder: JsonObject = { value }
  const walk: Walk = {
    path: [],
    unknown: undefined,
    oddNumbers: oddNumbersOf(value),
    converts: false,
    fault: undefined,
    roundsAmounts: true,
  }
  try {
    decodeEmbedded({ type: "object", fields: { value: { schema } } }, holder, walk)
  } catch (error) {
    if (!(error instanceof EmbeddedFault)) throw error
    return new EmbeddedFault(error.path.slice(1), error.given, error.detail)
  }
  return undefined
}

/** Objects within the object have metadata of their own. */
function decodeEmbedded(schema: Schema, value: Json, walk: Walk): void {
  if (typeof value !== "object" || value === null || !hasEmbedded(schema)) return
  const steps = Array.isArray(value) ? value.entries() : Object.entries(value)
  for (const [step, inner] of steps as Iterable<[string | number, Json]>) {
    const field = typeof step === "string" && schema.type !== "map" ? schema.fields?.[step]?.schema : schema.items
    if (field === undefined) continue
    walk.path.push(step)
    if (field.embedded === true && isObject(inner)) {
      embeddedTypes(inner, walk)
      // Nothing, as metadata, is metadata that says nothing, where the schema does not say that it must not be nothing.
      const named = field.fields?.["metadata"]?.schema
      const mayBeNull = named === undefined || named.nullable === true || named.default !== undefined
      if (inner["metadata"] === null && mayBeNull) inner["metadata"] = {}
      const given = JSON.stringify(inner["metadata"])
      const depth = walk.path.length
      try {
        decodeMetadata(inner, walk)
      } catch (error) {
        if (!(error instanceof ScalarError)) throw error
        throw new EmbeddedFault([...walk.path.slice(0, depth), "metadata"], given, error.message)
      }
    }
    decodeEmbedded(field, inner, walk)
    walk.path.pop()
  }
}

function embeddedTypes(value: JsonObject, walk: Walk): void {
  for (const name of ["apiVersion", "kind"]) {
    const given = value[name]
    if (given === undefined || typeof given === "string") continue
    throw new EmbeddedFault([...walk.path, name], JSON.stringify(given), "must be a string")
  }
}
