// Annotations that preceded fields and hold JSON. They have no effect any more, but are still validated: the text is decoded like
// Go's encoding/json decodes into structs, with its error messages.

import { dictionary } from "../../../apimachinery/dictionary.ts"
import type { Json } from "../../../apimachinery/object.ts"
import { what } from "../../../apimachinery/schema/decode/errors.ts"
import { exactInteger } from "../../../apimachinery/schema/exact-integers.ts"
import { isObject } from "../../../apimachinery/schema/json-object.ts"
import { scanJson } from "../../../apimachinery/schema/json/scan.ts"
import { openingAt, tooDeep } from "../../../apimachinery/schema/json/survey.ts"
import { firstOverflow } from "../../../apimachinery/schema/json/number-literals.ts"
import { canonicalScalar, ScalarError } from "../../../apimachinery/schema/scalars.ts"

/** A Go type; `name` is its name in messages. */
export type GoType =
  | { is: "string" | "bool" | "int64" | "time"; name: string }
  | { is: "list"; name: string; items: GoStruct }
  | GoStruct

export interface GoStruct {
  is: "struct"
  name: string
  fields: readonly GoField[]
}

interface GoField {
  /** Name in the JSON text. */
  name: string
  /** Name in messages: the name or the tag of the Go field. */
  goName: string
  type: GoType
}

/** Depth limit of encoding/json. It is deeper than the parser here supports. */
const goDepth = 10_000

/** `fault`: the first error. null decodes to nothing. */
export function readAnnotatedJson(text: string, type: GoType): { value: Json | undefined } | { fault: string } {
  const given = parseAsGo(text)
  if ("fault" in given) return given
  const faults: string[] = []
  const value = readValue(given.value, type, { struct: "", path: [] }, faults)
  const [fault] = faults
  return fault === undefined ? { value } : { fault }
}

/** Go's error for a text that is not an object; undefined if it is an object or null. */
export function objectFault(text: string): string | undefined {
  const given = parseAsGo(text)
  if ("fault" in given) return given.fault
  const { value } = given
  if (value !== null && (!isObject(value) || isLiteral(value)))
    return `json: cannot unmarshal ${found(value)} into Go value of type map[string]interface {}`
  const overflow = firstOverflow(text)
  return overflow === undefined ? undefined : `json: cannot unmarshal number ${overflow} into Go value of type float64`
}

function parseAsGo(text: string): { value: Json } | { fault: string } {
  try {
    scanJson(text)
    return {
      value: JSON.parse(text, (_, value, { source }) => (typeof value === "number" ? numberOf(source ?? "") : value)),
    }
  } catch (error) {
    if (error instanceof SyntaxError) return { fault: error.message }
    if (!(error instanceof RangeError)) throw error
    return { fault: `invalid character '${openingAt(Buffer.from(text), goDepth + 1)}' ${tooDeep}` }
  }
}

interface Place {
  /** The innermost struct; "" at the root. */
  struct: string
  path: readonly string[]
}

function readValue(given: Json, type: GoType, at: Place, faults: string[]): Json | undefined {
  if (given === null) return undefined
  switch (type.is) {
    case "time":
      if (typeof given !== "string") break
      return readTime(given, faults)
    case "list":
      if (!Array.isArray(given)) break
      return given.map((item) => readValue(item, type.items, at, faults) ?? {})
    case "struct":
      if (!isObject(given) || isLiteral(given)) break
      return readStruct(given, type, at, faults)
    default:
      if (typeof given === scalars[type.is]) return given
  }
  const { name, is } = type
  const literal = is === "int64" && isLiteral(given) ? ` ${given.literal}` : ""
  const place = at.path.length === 0 ? "value" : `struct field ${at.struct}.${at.path.join(".")}`
  faults.push(`json: cannot unmarshal ${found(given)}${literal} into Go ${place} of type ${name}`)
  return undefined
}

const scalars = { string: "string", bool: "boolean", int64: "bigint" } as const

function readStruct(
  given: { [key: string]: Json },
  { name, fields }: GoStruct,
  { path }: Place,
  faults: string[],
): Json {
  const known = dictionary(Object.fromEntries(fields.map((field) => [folded(field.goName), field])))
  const struct = name.slice(name.lastIndexOf(".") + 1)
  const value: Record<string, Json> = {}
  for (const [key, inner] of Object.entries(given)) {
    const field = known[folded(key)]
    if (field === undefined) continue
    const read = readValue(inner, field.type, { struct, path: [...path, field.goName] }, faults)
    if (read !== undefined) value[field.name] = read
  }
  return value
}

/** Names of fields are compared case-insensitively. */
const folded = (name: string): string => name.toLowerCase().toUpperCase()

/** The messages of the time parser do not name the field. */
function readTime(given: string, faults: string[]): string | undefined {
  try {
    return canonicalScalar("time", given)
  } catch (error) {
    if (!(error instanceof ScalarError)) throw error
    faults.push(error.message)
    return undefined
  }
}

/** A number that is not a 64-bit integer. Error messages contain it as it was written. */
class Literal {
  readonly literal: string

  constructor(literal: string) {
    this.literal = literal
  }
}

function numberOf(source: string): Json {
  const exact = exactInteger(source)
  return exact === undefined ? (new Literal(source) as unknown as Json) : BigInt(exact)
}

const isLiteral = (value: Json): value is { literal: string } => (value as unknown) instanceof Literal

const found = (value: Json): string => (isLiteral(value) ? "number" : what(value))
