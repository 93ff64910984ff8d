// Decoding of the built-in parts of a custom resource: its metadata, and that of embedded objects.

import type { Json } from "../../object.ts"
import { Mismatch } from "./errors.ts"
import { decodeWhole, type Walk } from "./value.ts"
import { schemaOfType } from "../facts.ts"
import { isObject, type JsonObject, sortedKeys } from "../json-object.ts"
import { printPath } from "../json/scan.ts"
import { oddNumbersOf } from "../json/odd-numbers.ts"
import { prune } from "../prune.ts"
import { ScalarError } from "../scalars.ts"
import { hasEmbedded, type Schema } from "../schema.ts"

const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

/**
 * Only the metadata of a custom resource is decoded; the rest is pruned here and validated by validate.ts. Returns the paths of
 * pruned fields if unknown fields are collected.
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
    // Upstream decodes it from a text with sorted keys, so a different error may be the first. If there is none, the metadata is
    // valid.
    walk.path.length = depth
    walk.fault = undefined
    value["metadata"] = decodeSorted(schema, metadata, walk)
  }
  walk.path.pop()
}

/** Decoded separately, so paths in messages begin here. */
function decodeSorted(schema: Schema, metadata: Json, walk: Walk): Json {
  const depth = walk.path.length
  try {
    return decodeWhole(schema, sortedKeys(metadata), walk)
  } catch (error) {
    throw error instanceof Mismatch ? new ScalarError(error.below(depth).explain(schema)) : error
  }
}

/** The type metadata or metadata of an embedded object has a wrong type. */
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

/** Decodes valid parts in place; the value itself may be an embedded object. Returns undefined if there is no fault. */
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

/** Embedded objects have their own metadata. */
function decodeEmbedded(schema: Schema, value: Json, walk: Walk): void {
  if (typeof value !== "object" || value === null || !hasEmbedded(schema)) return
  const steps = Array.isArray(value) ? value.entries() : Object.entries(value)
  for (const [step, inner] of steps as Iterable<[string | number, Json]>) {
    const field = typeof step === "string" && schema.type !== "map" ? schema.fields?.[step]?.schema : schema.items
    if (field === undefined) continue
    walk.path.push(step)
    if (field.embedded === true && isObject(inner)) {
      embeddedTypes(inner, walk)
      // null counts as empty metadata, unless the schema forbids null.
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
