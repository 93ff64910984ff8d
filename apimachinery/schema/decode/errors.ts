// The decoder's errors about JSON values of a wrong type, in Go's words, with Go's names of types and fields.

import { dictionary } from "../../dictionary.ts"
import type { Json } from "../../object.ts"
import type { FieldSchema, Schema } from "../schema.ts"
import { after } from "../../texts.ts"

/** A JSON value of a wrong type at a path. The message is only composed when it is needed. */
export class Mismatch extends Error {
  readonly #path: readonly (string | number)[]
  readonly #what: string
  readonly #expected: Schema
  readonly #isDouble: boolean
  /**
   * Whether the error ends the decoding: it was found by a type with its own JSON decoding. Errors of the decoder itself do not:
   * it continues, and finally reports the first one.
   */
  readonly ends: boolean

  constructor(
    path: readonly (string | number)[],
    found: string,
    expected: Schema,
    isDouble = false,
    ends = ownForm(expected) !== undefined,
  ) {
    super("mismatch")
    this.ends = ends
    this.#isDouble = isDouble
    this.#path = [...path]
    this.#what = found
    this.#expected = expected
  }

  /** The same error with a path relative to that depth. */
  below(depth: number): Mismatch {
    return new Mismatch(this.#path.slice(depth), this.#what, this.#expected, this.#isDouble, this.ends)
  }

  /** The same error, found within a type with its own JSON decoding. */
  ending(): Mismatch {
    return new Mismatch(this.#path, this.#what, this.#expected, this.#isDouble, true)
  }

  /** The message of a conversion in memory, without JSON. */
  refusal(root: Schema): string | undefined {
    const own = ownForm(this.#expected)
    if (own !== undefined) return `json: cannot unmarshal ${this.#what} into Go value of type ${own}`
    if (!this.#what.startsWith("number")) return refusalOf(this.#expected, this.#what)
    const [, type] = /of type (\S+)$/.exec(this.explain(root)) ?? []
    const { type: expected, format = "int" } = this.#expected
    const isScalar = ["string", "integer"].includes(expected) && !/ime$|^byte$/.test(format)
    if (!isScalar || type === undefined) return refusalOf(this.#expected, this.#isDouble ? "double" : "number")
    if (this.#isDouble && expected === "string") return refusalOf(this.#expected, "double")
    // In memory, every integer is converted to an integer of any size.
    return `cannot convert ${expected === "integer" ? "float64" : "int64"} to ${type}`
  }

  /** Such as "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32". */
  explain(root: Schema): string {
    const cannot = `json: cannot unmarshal ${this.#what} into Go`
    const names: string[] = []
    let at: Schema | undefined = root
    let struct: Schema = root
    let type = goTypeOf(root)
    for (const step of this.#path) {
      if (at?.union !== undefined) at = typeof step === "string" ? at.union.object : at.union.list
      if (at?.type === "object" && typeof step === "string") {
        const field: FieldSchema | undefined = at.fields?.[step]
        struct = at
        const embedded = field?.in ?? (isOfTypeMeta(at, step) && at !== root ? "TypeMeta" : undefined)
        names.push(...(embedded === undefined ? [step] : [embedded, step]))
        type = field?.goType ?? (field === undefined ? "" : goTypeOf(field.schema))
        at = field?.schema
      } else {
        type = elementType(type, at?.items)
        at = at?.items
      }
    }
    type = ownForm(this.#expected) ?? type
    if (names.length === 0) return `${cannot} value of type ${type}`
    return `${cannot} struct field ${lastWord(struct.name ?? "")}.${names.join(".")} of type ${type}`
  }
}

/** The Go type as which types with their own JSON decoding read a value. */
function ownForm({ type, format }: Schema): string | undefined {
  if (type === "intOrString") return "int32"
  return format === "time" || format === "microTime" ? "string" : undefined
}

/** Messages of Go's conversion of maps into structs, which is the last step of strategic merges; undefined if it has none. */
function refusalOf(expected: Schema, found: string): string | undefined {
  const given = kinds[found] ?? found
  switch (expected.type) {
    case "object":
      return `cannot restore struct from: ${given}`
    case "map":
      return `cannot restore map from ${given}`
    case "list":
      return `cannot restore slice from ${given}`
    case "string":
      if (expected.format === "byte") return `cannot restore slice from ${given}`
      return expected.format === undefined ? "unrecognized type: string" : undefined
    case "boolean":
      return "unrecognized type: bool"
    case "integer":
      return `unrecognized type: ${expected.format ?? "int64"}`
    default:
      return undefined
  }
}

/** Go's kinds of JSON values in memory. */
const kinds: Readonly<Record<string, string>> = dictionary({
  array: "slice",
  object: "map",
  number: "int64",
  double: "float64",
})

/** Whether it is the kind or apiVersion of an embedded object. */
function isOfTypeMeta({ fields }: Schema, step: string): boolean {
  return (step === "kind" || step === "apiVersion") && fields?.["metadata"] !== undefined
}

function lastWord(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1)
}

const goTypes: Record<string, string> = dictionary({
  boolean: "bool",
  number: "float64",
  intOrString: "intstr.IntOrString",
  quantity: "resource.Quantity",
  byte: "[]uint8",
})

/** How Go prints the type of a schema without a type name. */
function goTypeOf(schema: Schema): string {
  if (schema.name !== undefined) return schema.name.split(".").slice(-2).join(".")
  if (schema.type === "list") return `[]${schema.items === undefined ? "" : goTypeOf(schema.items)}`
  if (schema.type === "map") return `map[string]${schema.items === undefined ? "" : goTypeOf(schema.items)}`
  return (
    goTypes[schema.format ?? ""] ?? (schema.type === "integer" ? schema.format : goTypes[schema.type]) ?? schema.type
  )
}

function elementType(type: string, items: Schema | undefined): string {
  const match = /^(?:\[\]|map\[[^\]]*\])\*?(.+)$/.exec(type)
  return match?.[1] ?? (items === undefined ? "" : goTypeOf(items))
}

export function what(value: Json): string {
  if (Array.isArray(value)) return "array"
  return typeof value === "boolean" ? "bool" : typeof value === "bigint" ? "number" : typeof value
}

/** The error for a value that should be an object or a list. */
export function notParts(path: readonly (string | number)[], value: Json, schema: Schema): Mismatch {
  return new Mismatch(path, what(value), schema, typeof value === "number" && !Number.isSafeInteger(value))
}

/** The last part of "Deployment in version "v1" cannot be handled as a Deployment: …". */
export function refusalDetail(message: string): string {
  return after(message, [' in version "', '" cannot be handled as a ', ": "])
}

/** The same as upstream tells it of an object in memory, whose type has this schema. */
export function memoryDetail({ cause, message }: Error, schema: Schema): string {
  const converted = cause instanceof Mismatch ? cause.refusal(schema) : undefined
  const fault = converted ?? refusalDetail(message)
  return fault.startsWith("illegal base64") ? `error decoding from json: ${fault}` : fault
}
