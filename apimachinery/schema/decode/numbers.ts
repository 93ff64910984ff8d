// Decoding of numbers (decode.ts) as in Go: from JSON by their literal, from memory by their type.

import type { Json } from "../../object.ts"
import { Mismatch, what } from "./errors.ts"
import { int64, narrowest } from "../exact-integers.ts"
import type { OddNumbers } from "../json/odd-numbers.ts"
import { ScalarError } from "../scalars.ts"
import type { Schema } from "../schema.ts"

const int32Max = 2 ** 31 - 1
const int32Min = -(2 ** 31)

/** The path of a number, and the known literals. */
export interface NumberPlace {
  path: readonly (string | number)[]
  oddNumbers: OddNumbers | undefined
  /** Values come from memory, where numbers have a type and no literal, so Go converts them. */
  converts: boolean
}

/** The literal of the number, if it is known to matter. */
export function literalOf(value: Json, walk: NumberPlace): string {
  if (typeof value === "string") return value
  if (typeof value !== "number") return JSON.stringify(value)
  return (walk.converts ? undefined : walk.oddNumbers?.get(walk.path)) ?? String(value)
}

/** Go can convert an integer in memory to a string, and rejects that; it has no conversion for a double. */
export function notText(schema: Schema, value: Json, walk: NumberPlace): Error {
  const literal = typeof value === "number" ? walk.oddNumbers?.get(walk.path) : undefined
  const isDouble = typeof value === "number" && (!Number.isSafeInteger(value) || literal !== undefined)
  if (walk.converts && isDouble && schema.format === undefined) return new ScalarError("unrecognized type: string")
  return new Mismatch(walk.path, what(value), schema)
}

/** Integers are truncated to the size of the type; integral doubles become integers (the minimum if they are too large). */
function converted(schema: Schema, value: number | bigint, walk: NumberPlace): number | bigint {
  if (typeof value === "number" && !Number.isInteger(value)) throw new Mismatch(walk.path, `number ${value}`, schema)
  const exact = BigInt(value)
  const held = exact < int64.min || exact > int64.max ? int64.min : exact
  return narrowest(BigInt.asIntN(schema.format === "int64" ? 64 : 32, held))
}

/** Types with their own JSON decoding (IntOrString) decode a value in memory from separate JSON, and do not know its path. */
export function decodeSelfReading(schema: Schema, value: Json, walk: NumberPlace): Json {
  if (!walk.converts) return decodeInteger(schema, value, walk)
  try {
    return decodeInteger(schema, value, { ...walk, converts: false, oddNumbers: undefined })
  } catch (error) {
    if (!(error instanceof Mismatch) || (typeof value !== "number" && typeof value !== "bigint")) throw error
    throw new ScalarError(`json: cannot unmarshal number ${value} into Go value of type int32`)
  }
}

export function decodeInteger(schema: Schema, value: Json, walk: NumberPlace): number | bigint {
  if (walk.converts && (typeof value === "number" || typeof value === "bigint")) return converted(schema, value, walk)
  if (typeof value === "bigint" && schema.format === "int64") return value
  if (typeof value === "bigint") throw new Mismatch(walk.path, `number ${value}`, schema)
  if (typeof value !== "number") throw new Mismatch(walk.path, what(value), schema)
  const literal = walk.oddNumbers?.get(walk.path)
  const whole = Number.isInteger(value) && (literal === undefined || /^-?\d+$/.test(literal))
  const fits = schema.format === "int64" || (value <= int32Max && value >= int32Min)
  // Integers that a double cannot hold were decoded as bigint, so this one has more than 64 bits.
  const isLost = Math.abs(value) > Number.MAX_SAFE_INTEGER
  if (!whole || !fits || isLost) throw new Mismatch(walk.path, `number ${literal ?? String(value)}`, schema)
  return value
}
