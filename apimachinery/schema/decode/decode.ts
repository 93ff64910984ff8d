// Decodes an object of a known kind like Go's decoder: checks JSON types, drops null and unknown fields, converts strings to
// their canonical form. In place, in one traversal (value.ts); for custom resources only their built-in parts
// (custom.ts). Preceded by parse.ts and followed by defaults.ts.

import type { Json } from "../../object.ts"
import { parseGroupVersion } from "../../object.ts"
import { badRequest } from "../../status.ts"
import { decodeCustom, type Source } from "./custom.ts"
import { Mismatch } from "./errors.ts"
import type { Steps } from "../../steps.ts"
import { decodingWhole } from "./large.ts"
import { decodeWhole } from "./value.ts"
import type { Walk } from "./walk.ts"
import { printPath } from "../json/paths.ts"
import { oddNumbersOf } from "../json/odd-numbers.ts"
import { ScalarError } from "../scalars.ts"
import type { Schema } from "../schema.ts"

export { parseObject } from "../json/parse.ts"
export { writeZeros, writingZeros } from "../zeros.ts"

/**
 * Converts `value` (an object, fresh from parseObject or a patch) to what the kind's Go type would hold. Throws BadRequest with
 * upstream's message for a value of a wrong type. If requested, `unknown` lists `unknown field "spec.foo"`, and `unknownPaths`
 * the paths of those found by the decoder, without pruned fields of custom resources.
 *
 * Fields with a zero value that Go omits are dropped; structs that Go always prints are added ({}). writeZeros adds everything
 * else that Go prints for absent fields (null lists, empty strings), before storing.
 *
 * `source`: JSON, whose numbers are converted to the types of their fields; or a value merged in memory by strategic merge or
 * apply; or such a custom resource that keeps its unknown fields; or a value that has been decoded in another version. Source of the
 * second: k8s.io/apimachinery/pkg/runtime/converter.go (fromUnstructured). `as`: the requested kind, if it is different.
 */
export function decodeObject(
  schema: Schema,
  value: Json,
  collectUnknown: boolean,
  source: Source = "json",
  as?: string,
): Decoded {
  const walk = walkOf(schema, value, collectUnknown, source)
  try {
    if (schema.custom === true) return decoded(walk, decodeCustom(schema, value, walk, source))
    decodeWhole(schema, value, walk)
    return decoded(walk)
  } catch (error) {
    throw refusal(error, schema, value, as)
  }
}

export interface Decoded {
  unknown: string[]
  unknownPaths: readonly (readonly (string | number)[])[]
}

/** The same in steps, where the value is large. Custom resources are decoded at once. */
export function* decodingObject(
  schema: Schema,
  value: Json,
  collectUnknown: boolean,
  source: Source = "json",
): Steps<Decoded> {
  if (schema.custom === true) return decodeObject(schema, value, collectUnknown, source)
  const walk = walkOf(schema, value, collectUnknown, source)
  try {
    yield* decodingWhole(schema, value, walk)
  } catch (error) {
    throw refusal(error, schema, value)
  }
  return decoded(walk)
}

function walkOf(schema: Schema, value: Json, collectUnknown: boolean, source: Source): Walk {
  return {
    path: [],
    unknown: collectUnknown ? [] : undefined,
    oddNumbers: oddNumbersOf(value),
    converts: source === "memory" && schema.custom !== true,
    keepsTimes: source === "decoded",
    fault: undefined,
    roundsAmounts: !keepsAmounts(value),
  }
}

function decoded({ unknown: unknownPaths = [] }: Walk, pruned: readonly string[] = []): Decoded {
  const unknown = [...unknownPaths.map(printPath), ...pruned].map((path) => `unknown field ${JSON.stringify(path)}`)
  return { unknown, unknownPaths }
}

/** What is thrown for the error: BadRequest, if the value is what is wrong. */
function refusal(error: unknown, schema: Schema, value: Json, as?: string): unknown {
  if (!(error instanceof Mismatch) && !(error instanceof ScalarError)) return error
  const fault = error instanceof Mismatch ? error.explain(schema) : error.message
  return badRequest(printKind(value, as) + fault, { cause: error })
}

/** Groups without the defaulting that would round amounts. */
function keepsAmounts(value: Json): boolean {
  const { apiVersion } = value as { apiVersion?: Json }
  return typeof apiVersion === "string" && /^(?:resource|node)\.k8s\.io\//.test(apiVersion)
}

function printKind(value: Json, as: string | undefined): string {
  const { kind, apiVersion } = value as { kind?: string; apiVersion?: string }
  const { version } = parseGroupVersion(apiVersion ?? "")
  return `${kind ?? ""} in version ${JSON.stringify(version)} cannot be handled as a ${as ?? kind ?? ""}: `
}
