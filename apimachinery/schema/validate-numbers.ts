// Validates numbers of a custom resource: multiples, integers, and the ranges of formats. Source:
// kube-openapi/pkg/validation/validate/values.go (MultipleOf, IsValueValidAgainstRange).

import { printGoFloat } from "../go/print.ts"
import { isInteger, narrowest } from "./exact-integers.ts"
import type { Schema } from "./schema.ts"

/** The number or a bound has a wrong type; the factor is invalid; or the number is out of bounds. */
type NumberFault =
  | { what: string; type: string }
  | { value: unknown; factor: string; words?: never }
  | { value: unknown; factor?: never; words: string }

type Bound = "multipleOf" | "minimum" | "maximum"

const bounds: readonly (readonly [Bound, string])[] = [
  ["multipleOf", "MultipleOf"],
  ["minimum", "Minimum boundary"],
  ["maximum", "Maximum boundary"],
]

/** `isDouble`: a whole number that was given as a double. */
export function numberFaults(schema: Schema, value: number | bigint, isDouble = false): NumberFault[] {
  const faults: NumberFault[] = []
  const fault = typeFault(schema, value)
  if (fault !== undefined) faults.push({ what: "Checked", type: fault })
  for (const [name, what] of bounds) {
    const given = schema.rules?.[name]
    if (given === undefined) continue
    const type = typeFault(schema, given)
    if (type !== undefined) faults.push({ what, type })
    // If the value is an integer, upstream converts the bound to an integer as well, provided that it has the type; otherwise all
    // are doubles.
    const areIntegers = type === undefined && isInteger(value) && !isDouble
    const bound = areIntegers ? toInt64(given) : given
    const shown = (one: number | bigint): string => (areIntegers ? String(one) : printGoFloat(Number(one)))
    const words = boundFault(schema, name, { value: areIntegers ? value : Number(value), bound, shown: shown(bound) })
    if (words === undefined) continue
    if (name === "multipleOf" && bound <= 0) faults.push({ value: JSON.rawJSON(shown(bound)), factor: shown(bound) })
    else faults.push({ value: JSON.rawJSON(shown(value)), words })
  }
  return faults
}

/** As on upstream's processor: a bound out of range becomes the smallest integer. */
function toInt64(bound: number): number | bigint {
  return Math.abs(bound) < 2 ** 63 ? narrowest(BigInt(Math.trunc(bound))) : -(2n ** 63n)
}

/** What the value should be instead. */
function boundFault(
  { rules }: Schema,
  name: Bound,
  { value, bound, shown }: { value: number | bigint; bound: number | bigint; shown: string },
): string | undefined {
  if (name === "multipleOf") {
    return bound > 0 && isMultiple(value, bound) ? undefined : `should be a multiple of ${shown}`
  }
  if (name === "maximum") {
    const isOpen = rules?.exclusiveMaximum === true
    if (isOpen ? value < bound : value <= bound) return undefined
    return `should be ${isOpen ? "less than" : "less than or equal to"} ${shown}`
  }
  const isOpen = rules?.exclusiveMinimum === true
  if (isOpen ? value > bound : value >= bound) return undefined
  return `should be ${isOpen ? "greater than" : "greater than or equal to"} ${shown}`
}

/** For non-integers an approximation suffices. */
function isMultiple(value: number | bigint, of: number | bigint): boolean {
  if (isInteger(value) && isInteger(of)) return BigInt(value) % BigInt(of) === 0n
  const [number, factor] = [Number(value), Number(of)]
  return isNearInteger(factor < 1 ? (1 / factor) * number : number / factor)
}

/** Doubles that upstream treats as integers (IsFloat64AJSONInteger of github.com/go-openapi/swag). */
export function isNearInteger(value: number): boolean {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false
  const whole = Math.trunc(value)
  // Negative ones must be whole.
  return value === whole || (whole > 0 && value - whole < 1e-9 * (value + whole))
}

/** Undefined if the number has the type, and is within the range of the format if that has one. */
function typeFault({ type, format = "" }: Schema, value: number | bigint): string | undefined {
  if (type === "integer") {
    const bits = format === "int32" ? 31 : 63
    const isWhole = typeof value === "bigint" || Number.isInteger(value)
    // Upstream prints a double with the fewest digits that tell it from others: -2^63 becomes -9223372036854776000.
    const isPrintable = typeof value === "bigint" || value !== -(2 ** 63)
    if (isWhole && isPrintable && value >= -(2 ** bits) && value < 2 ** bits) return undefined
    return format === "int32" || format === "int64" ? `integer with format ${format}` : "integer (default format)"
  }
  const isTooLarge = type === "number" && format === "float" && !Number.isFinite(Math.fround(Number(value)))
  return isTooLarge ? "number with format float" : undefined
}
