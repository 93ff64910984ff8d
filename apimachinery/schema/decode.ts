// What Go's decoder does to an object of a known kind: checks JSON types, drops null and unknown fields, brings texts that
// have a canonical form into it. In place, in one walk. Before it: parse.ts; after it: defaults.ts.

import type { Json } from "../object.ts"
import { isObject, type JsonObject, setOwn, sortedKeys } from "./json-object.ts"
import { parseGroupVersion } from "../object.ts"
import { badRequest } from "../status.ts"
import { Mismatch, notParts, what } from "./decode-errors.ts"
import { schemaOfType } from "./facts.ts"
import { decodeBytes } from "./decode-bytes.ts"
import { decodeInteger, decodeSelfReading, literalOf, notText, type NumberPlace } from "./decode-numbers.ts"
import { maxStrictFaults, printPath } from "./json-scan.ts"
import { noteGivenEmpty } from "./given-empty.ts"
import { oddNumbersOf } from "./odd-numbers.ts"
import { prune } from "./prune.ts"
import { canonicalQuantity, canonicalScalar, ScalarError } from "./scalars.ts"
import { type FieldSchema, hasEmbedded, type Schema } from "./schema.ts"
import { isZero, zeroOf } from "./zeros.ts"

export { parseObject } from "./parse.ts"
export { writeZeros } from "./zeros.ts"

const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

/** Unknown fields told of what was merged in memory. Upstream tells of all, which may be a million. */
const maxMergedFaults = 1000

/** What is the same for a whole decoding. */
interface Walk extends NumberPlace {
  /** Where it is now. */
  path: (string | number)[]
  /** Undefined: nobody asks. */
  unknown: string[] | undefined
  /** Where those are, of a kind that is not custom. */
  unknownPaths: (readonly (string | number)[])[]
  /** What is told at the end, unless something ends the decoding before. */
  fault: Mismatch | ScalarError | undefined
  /** Lists of resources are kept in thousandths. Amounts of devices are not of that type, and are kept exactly. */
  roundsAmounts: boolean
}

/**
 * Makes `value` (an object, fresh from parseObject or a patch) what the kind's Go type would hold. Throws BadRequest with
 * upstream's words for a value of a wrong type. `unknown` lists `unknown field "spec.foo"` when asked to collect.
 *
 * Fields of the zero value that Go omits are dropped; structs that it always prints are there afterwards ({}). What else Go
 * prints of absent fields (null lists, empty texts) is written by writeZeros, before storing.
 *
 * `source`: from JSON, whose numbers are read into their fields' types; or from what was merged in memory, as strategic merge and
 * apply do it. Source of the latter: k8s.io/apimachinery/pkg/runtime/converter.go (fromUnstructured).
 */
export function decodeObject(
  schema: Schema,
  value: Json,
  collectUnknown: boolean,
  source: "json" | "memory" = "json",
): { unknown: string[]; unknownPaths: readonly (readonly (string | number)[])[] } {
  const unknown: string[] = []
  const walk: Walk = {
    path: [],
    unknown: collectUnknown ? unknown : undefined,
    unknownPaths: [],
    oddNumbers: oddNumbersOf(value),
    converts: source === "memory" && schema.custom !== true,
    fault: undefined,
    roundsAmounts: !isOfDevices(value),
  }
  try {
    if (schema.custom === true) decodeCustom(schema, value, walk)
    else decodeWhole(schema, value, walk)
  } catch (error) {
    if (!(error instanceof Mismatch) && !(error instanceof ScalarError)) throw error
    const fault = error instanceof Mismatch ? error.explain(schema) : error.message
    throw badRequest(printKind(value) + fault, { cause: error })
  }
  return { unknown, unknownPaths: walk.unknownPaths }
}

function isOfDevices(value: Json): boolean {
  const { apiVersion } = value as { apiVersion?: Json }
  return typeof apiVersion === "string" && apiVersion.startsWith("resource.k8s.io/")
}

function printKind(value: Json): string {
  const { kind, apiVersion } = value as { kind?: string; apiVersion?: string }
  const { version } = parseGroupVersion(apiVersion ?? "")
  return `${kind ?? ""} in version ${JSON.stringify(version)} cannot be handled as a ${kind ?? ""}: `
}

/** Of a custom resource only the metadata is decoded; the rest is pruned here and validated by validate.ts. */
function decodeCustom(schema: Schema, value: Json, walk: Walk): void {
  if (!isObject(value)) return
  walk.oddNumbers?.each(checkLiteral, "metadata")
  decodeMetadata(value, walk)
  if (hasEmbedded(schema)) decodeEmbedded(schema, value, walk)
  prune(schema, value, walk.unknown)
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
    unknownPaths: [],
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

/** Throws what has been found in it, the first. */
function decodeWhole(schema: Schema, value: Json, walk: Walk): Json {
  const decoded = decode(schema, value, walk)
  if (walk.fault !== undefined) throw walk.fault
  return decoded
}

/** Never sees null: what null means depends on who holds it. */
function decode(schema: Schema, value: Json, walk: Walk): Json {
  const depth = walk.path.length
  try {
    return decodeValue(schema, value, walk)
  } catch (error) {
    if (!isKept(error, schema, walk)) throw error
    walk.fault ??= error
    walk.path.length = depth
    return value
  }
}

/**
 * Source: sigs.k8s.io/json/internal/golang/encoding/json/decode.go: saveError() where it reads itself; what an Unmarshaler returns
 * ends it. A conversion in memory ends with the first.
 */
function isKept(error: unknown, { format }: Schema, { converts }: Walk): error is Mismatch | ScalarError {
  if (converts) return false
  return error instanceof Mismatch ? !error.ends : error instanceof ScalarError && format === "byte"
}

function decodeValue(schema: Schema, value: Json, walk: Walk): Json {
  switch (schema.type) {
    case "object":
      if (schema.fields === undefined) return value // raw: whatever it is
      if (!isObject(value)) throw notParts(walk.path, value, schema)
      decodeFields(schema.fields, value, walk, schema)
      return value
    case "list":
      if (!Array.isArray(value)) throw notParts(walk.path, value, schema)
      return decodeItems(schema, value, walk)
    case "map":
      if (!isObject(value)) throw notParts(walk.path, value, schema)
      return decodeValues(schema, value, walk)
    case "string":
      if (schema.format === "quantity") return canonicalScalar("quantity", literalOf(value, walk))
      if (schema.format === "byte") return decodeBytes(schema, value, walk)
      if (typeof value !== "string") throw notText(schema, value, walk)
      return schema.format === undefined ? value : canonicalScalar(schema.format, value)
    case "boolean":
      if (typeof value !== "boolean") throw new Mismatch(walk.path, what(value), schema)
      return value
    case "integer":
      return decodeInteger(schema, value, walk)
    case "number":
      if (typeof value === "bigint") return Number(value)
      if (typeof value !== "number") throw new Mismatch(walk.path, what(value), schema)
      if (!Number.isFinite(value)) throw new Mismatch(walk.path, `number ${literalOf(value, walk)}`, schema)
      return value
    case "intOrString":
      return typeof value === "string" ? value : decodeSelfReading(schema, value, walk)
    case "any":
      return schema.union === undefined ? value : decodeUnion(schema.union, value, walk)
  }
}

/** Upstream decodes what is within by itself, and does not ask it for unknown fields. */
function decodeUnion({ object, list, boolean }: NonNullable<Schema["union"]>, value: Json, walk: Walk): Json {
  const within = { ...walk, unknown: undefined, fault: undefined }
  try {
    if (isObject(value)) return decodeWhole(object, value, within)
    if (boolean === true && typeof value !== "boolean") throw new ScalarError("boolean or JSON schema expected")
    if (boolean === true) return value
    return list !== undefined && Array.isArray(value) && value.length > 0 ? decodeWhole(list, value, within) : null
  } catch (error) {
    throw error instanceof Mismatch ? error.ending() : error
  }
}

function decodeFields(fields: Record<string, FieldSchema>, value: JsonObject, walk: Walk, schema: Schema): void {
  for (const key of Object.keys(value)) {
    const field = fields[key]
    const given = value[key] as Json
    if (field === undefined) {
      if (schema.preserveUnknown === true) continue
      if (walk.unknown !== undefined && walk.unknown.length < (walk.converts ? maxMergedFaults : maxStrictFaults)) {
        const path = [...walk.path, key]
        walk.unknown.push(`unknown field ${JSON.stringify(printPath(path))}`)
        walk.unknownPaths.push(path)
      }
      delete value[key]
    } else if (given === null) delete value[key]
    else {
      walk.path.push(key)
      const decoded = decode(field.schema, given, walk)
      walk.path.pop()
      if (decoded === null) delete value[key]
      else if (field.zero === "omit" && isZero(field.schema, decoded) && !isReset(key, walk)) {
        if (typeof decoded === "object") noteGivenEmpty(value, key)
        delete value[key]
      } else if (decoded !== given) value[key] = decoded
    }
  }
  writeStructs(fields, value)
}

/** An empty list of managers is more than none: it asks to forget them. */
function isReset(key: string, { path }: Walk): boolean {
  return key === "managedFields" && path.length === 1 && path[0] === "metadata"
}

/** Structs that Go always prints, so that code finds spec, status and metadata where it looks for them. */
function writeStructs(fields: Record<string, FieldSchema>, value: JsonObject): void {
  for (const [key, schema] of structsOf(fields)) {
    if (value[key] !== undefined) continue
    const struct: JsonObject = {}
    if (schema.fields !== undefined) writeStructs(schema.fields, struct)
    value[key] = struct
  }
}

const structs = new WeakMap<Record<string, FieldSchema>, readonly [string, Schema][]>()

function structsOf(fields: Record<string, FieldSchema>): readonly [string, Schema][] {
  let found = structs.get(fields)
  if (found === undefined) {
    found = Object.entries(fields)
      .filter(([, field]) => field.zero === "write" && field.pointer !== true && field.schema.type === "object")
      .filter(([, field]) => field.schema.fields !== undefined)
      .map(([key, field]): [string, Schema] => [key, field.schema])
    structs.set(fields, found)
  }
  return found
}

function decodeItems(schema: Schema, list: Json[], walk: Walk): Json[] {
  const { items } = schema
  if (items === undefined) return list
  const depth = walk.path.length
  for (let index = 0; index < list.length; index++) {
    walk.path[depth] = index
    const item = list[index] as Json
    list[index] = item === null ? zeroOf(items) : decode(items, item, walk)
  }
  walk.path.length = depth
  return list
}

function decodeValues(schema: Schema, map: JsonObject, walk: Walk): JsonObject {
  const { items } = schema
  if (items === undefined) return map
  const amounts = items.format === "quantity" && walk.roundsAmounts
  for (const key of Object.keys(map)) {
    walk.path.push(key)
    const given = map[key] as Json
    const decoded =
      given === null
        ? zeroOf(items)
        : amounts
          ? canonicalQuantity(literalOf(given, walk), true)
          : decode(items, given, walk)
    if (decoded !== given) setOwn(map, key, decoded)
    walk.path.pop()
  }
  return map
}
