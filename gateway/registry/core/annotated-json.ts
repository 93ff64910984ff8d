// Annotations that were fields' forerunners hold JSON. They have no effect, but have to be what they were: read as Go's
// encoding/json reads into structs, with its words for what does not fit.

import { dictionary } from "../../../apimachinery/dictionary.ts"
import type { Json } from "../../../apimachinery/object.ts"
import { what } from "../../../apimachinery/schema/decode-errors.ts"
import { exactInteger } from "../../../apimachinery/schema/exact-integers.ts"
import { isObject } from "../../../apimachinery/schema/json-object.ts"
import { scanJson } from "../../../apimachinery/schema/json-scan.ts"
import { openingAt, tooDeep } from "../../../apimachinery/schema/json-survey.ts"
import { firstOverflow } from "../../../apimachinery/schema/number-literals.ts"
import { canonicalScalar, ScalarError } from "../../../apimachinery/schema/scalars.ts"

/** A Go type; `name` as messages have it. */
export type GoType =
  | { is: "string" | "bool" | "int64" | "time"; name: string }
  | { is: "list"; name: string; items: GoStruct }
  | GoStruct

export interface GoStruct {
  is: "struct"
  name: string
  fields: readonly GoField[]
}

export interface GoField {
  /** In what is read. */
  name: string
  /** In messages: the field's, or that of its tag. */
  goName: string
  type: GoType
}

/** Of encoding/json; deeper than what is read here without complaint. */
const goDepth = 10_000

/** `fault`: what is wrong first. null is nothing. */
export function readAnnotatedJson(text: string, type: GoType): { value: Json | undefined } | { fault: string } {
  const given = parseAsGo(text)
  if ("fault" in given) return given
  const faults: string[] = []
  const value = readValue(given.value, type, { struct: "", path: [] }, faults)
  const [fault] = faults
  return fault === undefined ? { value } : { fault }
}

/** Why a text is no object, in Go's words; undefined: it is one, or nothing. */
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

/** Any case will do. */
const folded = (name: string): string => name.toLowerCase().toUpperCase()

/** Its messages know no field. */
function readTime(given: string, faults: string[]): string | undefined {
  try {
    return canonicalScalar("time", given)
  } catch (error) {
    if (!(error instanceof ScalarError)) throw error
    faults.push(error.message)
    return undefined
  }
}

/** What is no integer of 64 bits is told as it was written. */
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
