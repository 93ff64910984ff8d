// Validates numbers of a custom resource: multiples, integers, and the ranges of formats. Source:
// kube-openapi/pkg/validation/validate/values.go (MultipleOf, IsValueValidAgainstRange).

import { isInteger } from "./exact-integers.ts"
import type { Schema } from "./schema.ts"

/** Formats that determine the range of a number. */
const ranges: Readonly<Record<"integer" | "number", Readonly<Record<string, readonly [number, number]>>>> = {
  integer: {
    int32: [-(2 ** 31), 2 ** 31 - 1],
    int64: [-(2 ** 63), 2 ** 63],
    uint32: [0, 2 ** 32 - 1],
    uint64: [0, 2 ** 64],
  },
  number: { float: [-3.4028234663852886e38, 3.4028234663852886e38] },
}

/** The number or a bound has a wrong type; the factor is invalid; or the number is out of bounds. */
export type NumberFault =
  | { what: string; type: string }
  | { value: number | bigint; factor: number; words?: never }
  | { value: number | bigint; factor?: never; words: string }

type Bound = "multipleOf" | "minimum" | "maximum"

const bounds: readonly (readonly [Bound, string])[] = [
  ["multipleOf", "MultipleOf"],
  ["minimum", "Minimum boundary"],
  ["maximum", "Maximum boundary"],
]

export function numberFaults(schema: Schema, value: number | bigint): NumberFault[] {
  const faults: NumberFault[] = []
  const fault = typeFault(schema, value, isInteger(value))
  if (fault !== undefined) faults.push({ what: "Checked", type: fault })
  for (const [name, what] of bounds) {
    const given = schema.rules?.[name]
    if (given === undefined) continue
    const type = typeFault(schema, given, Number.isInteger(given))
    if (type !== undefined) faults.push({ what, type })
    // If the value is an integer, upstream converts the bound to an integer as well, provided that it has the type; otherwise all
    // are doubles.
    const bound = type === undefined && isInteger(value) ? Math.trunc(given) : given
    const beside = boundFault(schema, name, type === undefined ? value : Number(value), bound)
    if (beside !== undefined) faults.push(beside)
  }
  return faults
}

function boundFault({ rules }: Schema, name: Bound, value: number | bigint, bound: number): NumberFault | undefined {
  if (name === "multipleOf") {
    if (bound <= 0) return { value: bound, factor: bound }
    return isMultiple(value, bound) ? undefined : { value, words: `should be a multiple of ${bound}` }
  }
  if (name === "maximum") {
    const isOpen = rules?.exclusiveMaximum === true
    if (isOpen ? value < bound : value <= bound) return undefined
    return { value, words: `should be ${isOpen ? "less than" : "less than or equal to"} ${bound}` }
  }
  const isOpen = rules?.exclusiveMinimum === true
  if (isOpen ? value > bound : value >= bound) return undefined
  return { value, words: `should be ${isOpen ? "greater than" : "greater than or equal to"} ${bound}` }
}

/** For non-integers an approximation suffices. */
function isMultiple(value: number | bigint, of: number): boolean {
  if (typeof value === "bigint") return value % BigInt(of) === 0n
  if (isInteger(value) && isInteger(of)) return value % of === 0
  return isNearInteger(of < 1 ? (1 / of) * value : value / of)
}

/** Doubles that upstream treats as integers (IsFloat64AJSONInteger of github.com/go-openapi/swag). */
export function isNearInteger(value: number): boolean {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false
  const whole = Math.trunc(value)
  return value === whole || (whole !== 0 && Math.abs(value - whole) < 1e-9 * (Math.abs(value) + Math.abs(whole)))
}

/** Undefined if the number has the type, and is within the range of the format if that has one. */
function typeFault({ type, format = "" }: Schema, value: number | bigint, isWhole: boolean): string | undefined {
  if (type !== "integer" && type !== "number") return undefined
  const range = Object.hasOwn(ranges[type], format) ? ranges[type][format] : undefined
  const isWithin = range === undefined || (value >= range[0] && value <= range[1])
  if (isWithin && (type === "number" || isWhole)) return undefined
  return range === undefined ? `${type} (default format)` : `${type} with format ${format}`
}
