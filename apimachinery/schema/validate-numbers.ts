// What a number of a custom resource has to be: a multiple, an integer, within what its format can hold. Source:
// kube-openapi/pkg/validation/validate/values.go (MultipleOf, IsValueValidAgainstRange).

import { isInteger } from "./exact-integers.ts"
import type { Schema } from "./schema.ts"

/** Formats that say how wide a number may be. */
const ranges: Readonly<Record<"integer" | "number", Readonly<Record<string, readonly [number, number]>>>> = {
  integer: {
    int32: [-(2 ** 31), 2 ** 31 - 1],
    int64: [-(2 ** 63), 2 ** 63],
    uint32: [0, 2 ** 32 - 1],
    uint64: [0, 2 ** 64],
  },
  number: { float: [-3.4028234663852886e38, 3.4028234663852886e38] },
}

/** What is wrong with a number: it, or a bound, is not of the type; a factor is none; or it is not within its bounds. */
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
    // Beside an integer upstream makes the bound one, too, where it is of the type; else all are doubles.
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

/** Of numbers that are no integers nearly is enough. */
function isMultiple(value: number | bigint, of: number): boolean {
  if (typeof value === "bigint") return value % BigInt(of) === 0n
  if (isInteger(value) && isInteger(of)) return value % of === 0
  return isNearInteger(of < 1 ? (1 / of) * value : value / of)
}

/** What upstream takes for an integer among doubles (IsFloat64AJSONInteger of github.com/go-openapi/swag). */
export function isNearInteger(value: number): boolean {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false
  const whole = Math.trunc(value)
  return value === whole || (whole !== 0 && Math.abs(value - whole) < 1e-9 * (Math.abs(value) + Math.abs(whole)))
}

/** Undefined: the number is of the type, and of the format where that says a range. */
function typeFault({ type, format = "" }: Schema, value: number | bigint, isWhole: boolean): string | undefined {
  if (type !== "integer" && type !== "number") return undefined
  const range = Object.hasOwn(ranges[type], format) ? ranges[type][format] : undefined
  const isWithin = range === undefined || (value >= range[0] && value <= range[1])
  if (isWithin && (type === "number" || isWhole)) return undefined
  return range === undefined ? `${type} (default format)` : `${type} with format ${format}`
}
