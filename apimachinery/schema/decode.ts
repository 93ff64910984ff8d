// What Go's decoder does to an object of a known kind: checks JSON types, drops null and unknown fields, brings texts that
// have a canonical form into it. In place, in one walk (decode-value.ts); of custom resources, what is built in about them
// (decode-custom.ts). Before it: parse.ts; after it: defaults.ts.

import type { Json } from "../object.ts"
import { parseGroupVersion } from "../object.ts"
import { badRequest } from "../status.ts"
import { decodeCustom } from "./decode-custom.ts"
import { Mismatch } from "./decode-errors.ts"
import { decodeWhole, type Walk } from "./decode-value.ts"
import { printPath } from "./json-scan.ts"
import { oddNumbersOf } from "./odd-numbers.ts"
import { ScalarError } from "./scalars.ts"
import type { Schema } from "./schema.ts"

export { parseObject } from "./parse.ts"
export { writeZeros } from "./zeros.ts"

/**
 * Makes `value` (an object, fresh from parseObject or a patch) what the kind's Go type would hold. Throws BadRequest with
 * upstream's words for a value of a wrong type. `unknown` lists `unknown field "spec.foo"` when asked to collect, and `unknownPaths`
 * where those are that the decoder has found: of a custom resource what is pruned has none.
 *
 * Fields of the zero value that Go omits are dropped; structs that it always prints are there afterwards ({}). What else Go
 * prints of absent fields (null lists, empty texts) is written by writeZeros, before storing.
 *
 * `source`: from JSON, whose numbers are read into their fields' types; or from what was merged in memory, as strategic merge and
 * apply do it. Source of the latter: k8s.io/apimachinery/pkg/runtime/converter.go (fromUnstructured). `as`: the kind that was asked
 * for, if it is another.
 */
export function decodeObject(
  schema: Schema,
  value: Json,
  collectUnknown: boolean,
  source: "json" | "memory" = "json",
  as?: string,
): { unknown: string[]; unknownPaths: readonly (readonly (string | number)[])[] } {
  const unknownPaths: (readonly (string | number)[])[] = []
  let pruned: readonly string[] = []
  const walk: Walk = {
    path: [],
    unknown: collectUnknown ? unknownPaths : undefined,
    oddNumbers: oddNumbersOf(value),
    converts: source === "memory" && schema.custom !== true,
    fault: undefined,
    roundsAmounts: !keepsAmounts(value),
  }
  try {
    if (schema.custom === true) pruned = decodeCustom(schema, value, walk)
    else decodeWhole(schema, value, walk)
  } catch (error) {
    if (!(error instanceof Mismatch) && !(error instanceof ScalarError)) throw error
    const fault = error instanceof Mismatch ? error.explain(schema) : error.message
    throw badRequest(printKind(value, as) + fault, { cause: error })
  }
  const unknown = [...unknownPaths.map(printPath), ...pruned].map((path) => `unknown field ${JSON.stringify(path)}`)
  return { unknown, unknownPaths }
}

/** Groups whose amounts have no defaulting that would round them. */
function keepsAmounts(value: Json): boolean {
  const { apiVersion } = value as { apiVersion?: Json }
  return typeof apiVersion === "string" && /^(?:resource|node)\.k8s\.io\//.test(apiVersion)
}

function printKind(value: Json, as: string | undefined): string {
  const { kind, apiVersion } = value as { kind?: string; apiVersion?: string }
  const { version } = parseGroupVersion(apiVersion ?? "")
  return `${kind ?? ""} in version ${JSON.stringify(version)} cannot be handled as a ${as ?? kind ?? ""}: `
}
