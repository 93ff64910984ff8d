// Decoding of the built-in parts of a custom resource: its metadata, and that of embedded objects.

import { copyJson } from "../../copy.ts"
import { equalJson } from "../../equality.ts"
import { type FieldError, FieldPath, invalidValue } from "../../field-errors.ts"
import type { Json } from "../../object.ts"
import { Mismatch } from "./errors.ts"
import { noteGivenDouble } from "./given.ts"
import { decodeWhole } from "./value.ts"
import type { Walk } from "./walk.ts"
import { schemaOfType } from "../facts.ts"
import { isObject, type JsonObject, sortedKeys } from "../json-object.ts"
import { printPath } from "../json/paths.ts"
import { oddNumbersOf } from "../json/odd-numbers.ts"
import { prune, ToldPaths } from "../prune.ts"
import { ScalarError } from "../scalars.ts"
import { hasEmbedded, type Schema, schemaOfEntry, schemaOfItems } from "../schema.ts"

const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

export type Source = "json" | "memory" | "unpruned" | "decoded"

/**
 * Only the metadata of a custom resource is decoded; the rest is pruned here and validated by validate.ts. Returns the paths of
 * unknown fields if they are collected, in upstream's order: those of the metadata, which is decoded from a text with sorted keys,
 * pruned fields, and those of the metadata of embedded objects. `source`: as of decodeObject.
 */
export function decodeCustom(schema: Schema, value: Json, walk: Walk, source: Source): readonly string[] {
  if (!isObject(value)) return []
  walk.oddNumbers?.each(checkLiteral, "metadata")
  decodeMetadata(value, walk)
  const ofMetadata = (walk.unknown?.splice(0) ?? []).sort(comparePaths).map(printPath)
  const told = new ToldPaths()
  const pruned = source === "unpruned" ? [] : prune(schema, value, walk.unknown && told)
  const isMerged = source === "memory" || source === "unpruned"
  const within: Place = { at: FieldPath.root(), told, isMerged }
  decodeEmbedded(schema, value, walk, within)
  walk.oddNumbers?.select((holder, step, literal) => {
    if (typeof holder === "object" && holder !== null) noteGivenDouble(holder, String(step), literal)
    return false
  }, value)
  return [...ofMetadata, ...pruned, ...told.take()]
}

type Path = readonly (string | number)[]

function comparePaths(left: Path, right: Path): number {
  const at = left.findIndex((step, index) => step !== right[index])
  const [a = "", b = ""] = [left[at], right[at]]
  return a < b ? -1 : 1
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
  readonly at: FieldPath
  readonly given: string
  readonly detail: string

  constructor(at: FieldPath, given: string, detail: string) {
    super(`${at.toString()}: Invalid value: ${given}: ${detail}`)
    this.at = at
    this.given = given
    this.detail = detail
  }

  /** As validation reports it. */
  fieldError(): FieldError {
    return invalidValue(this.at, sortedKeys(JSON.parse(this.given) as Json), this.detail)
  }
}

/** Decodes valid parts in place; the value itself may be an embedded object. Returns undefined if there is no fault. */
export function embeddedFault(schema: Schema, value: Json, path = FieldPath.root()): EmbeddedFault | undefined {
  try {
    decodeEmbedded(schema, value, walkOf(value), { at: path, told: new ToldPaths() })
  } catch (error) {
    if (!(error instanceof EmbeddedFault)) throw error
    return error
  }
  return undefined
}

function walkOf(value: Json): Walk {
  return {
    path: [],
    unknown: undefined,
    oddNumbers: oddNumbersOf(value),
    converts: false,
    keepsTimes: false,
    fault: undefined,
    roundsAmounts: true,
  }
}

/**
 * The same for an object that is older than its schema: what is malformed is dropped. Source: DropInvalidFields in
 * k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta.
 */
export function repairEmbedded(schema: Schema, value: Json): void {
  if (hasEmbedded(schema))
    decodeEmbedded(schema, value, walkOf(value), { at: FieldPath.root(), told: new ToldPaths(), repairs: true })
}

interface Place {
  /** Drops what is malformed. */
  repairs?: boolean
  /** By applying. Upstream decodes it only when it is stored: what changes then counts as unknown, and null is validated before. */
  isMerged?: boolean
  at: FieldPath
  /** The unknown fields of all embedded objects. */
  told: ToldPaths
}

/** Embedded objects have their own metadata. */
function decodeEmbedded(schema: Schema, value: Json, walk: Walk, place: Place): void {
  if (typeof value !== "object" || value === null || !hasEmbedded(schema)) return
  if (schema.embedded === true && isObject(value)) decodeObjectWithin(schema, value, walk, place)
  const steps = Array.isArray(value) ? value.entries() : Object.entries(value)
  for (const [step, inner] of steps as Iterable<[string | number, Json]>) {
    const field = typeof step === "number" ? schemaOfItems(schema) : schemaOfEntry(schema, step)
    if (field === undefined || field === "none") continue
    walk.path.push(step)
    const at = typeof step === "number" ? place.at.index(step) : placeOfEntry(schema, place.at, step)
    decodeEmbedded(field, inner, walk, { ...place, at })
    walk.path.pop()
  }
}

function placeOfEntry({ fields }: Schema, at: FieldPath, name: string): FieldPath {
  return fields !== undefined && Object.hasOwn(fields, name) ? at.child(name) : at.key(name)
}

function decodeObjectWithin(schema: Schema, value: JsonObject, walk: Walk, place: Place): void {
  const { at, told, repairs, isMerged = false } = place
  for (const name of ["apiVersion", "kind"]) {
    const given = value[name]
    if (given === undefined || typeof given === "string") continue
    if (repairs === true) {
      delete value[name]
      continue
    }
    throw new EmbeddedFault(at.child(name), JSON.stringify(given), "must be a string")
  }
  // null counts as empty metadata, unless the schema forbids null.
  const named = schema.fields?.["metadata"]?.schema
  const mayBeNull = named === undefined || named.nullable === true || named.default !== undefined
  const before = value["metadata"]
  if (before === null && !mayBeNull && isMerged) return
  if (before === null && mayBeNull) value["metadata"] = {}
  const given = JSON.stringify(value["metadata"])
  const depth = walk.path.length
  try {
    decodeMetadata(value, walk)
  } catch (error) {
    if (!(error instanceof ScalarError)) throw error
    if (repairs === true) {
      walk.path.length = depth
      keepWellFormed(value, walk)
      return
    }
    throw new EmbeddedFault(at.child("metadata"), given, error.message)
  }
  for (const path of walk.unknown?.splice(0) ?? []) told.tell(() => at.child(printPath(path.slice(depth))).toString())
  // Fields that are declared have defaults, which come before this is compared.
  const isCompared = isMerged && before !== undefined && named?.fields === undefined
  const isChanged = isCompared && (before === null || !equalJson(JSON.parse(given), value["metadata"]))
  if (isChanged) told.tell(() => at.child("metadata").toString())
}

/** Why the metadata of a custom resource cannot be decoded. */
export function metadataFault({ metadata }: JsonObject): string | undefined {
  const only: JsonObject = metadata === undefined ? {} : { metadata: copyJson(metadata) }
  try {
    decodeMetadata(only, walkOf(only))
  } catch (error) {
    if (!(error instanceof ScalarError)) throw error
    return error.message
  }
  return undefined
}

/** Drops malformed fields of the metadata of a custom resource. */
export function keepWellFormedMetadata(value: JsonObject): void {
  keepWellFormed(value, walkOf(value))
}

/** Each field of the metadata is decoded by itself. */
function keepWellFormed(value: JsonObject, walk: Walk): void {
  const { metadata } = value
  if (!isObject(metadata ?? null)) return
  const kept: JsonObject = {}
  for (const [name, field] of Object.entries(metadata as JsonObject)) {
    const only: JsonObject = { metadata: { [name]: field } }
    try {
      decodeMetadata(only, walk)
      Object.assign(kept, only["metadata"])
    } catch (error) {
      if (!(error instanceof ScalarError)) throw error
    }
  }
  value["metadata"] = kept
}
