// What a number of a custom resource has to be: a multiple, an integer, within what its format can hold. Source:
// kube-openapi/pkg/validation/validate/values.go (MultipleOf, IsValueValidAgainstRange).

import { isInteger } from "./exact-integers.ts"
import type { Schema } from "./schema.ts"

/** Of a number that is no integer nearly is enough. */
export function isMultiple(value: number | bigint, of: number): boolean {
  if (typeof value === "bigint")
    return Number.isSafeInteger(of) ? value % BigInt(of) === 0n : isMultiple(Number(value), of)
  const quotient = value / of
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient))
}

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

/** Undefined: the number is of the type, and of the format where that says a range. */
export function numberFault({ type, format = "" }: Schema, value: number | bigint): string | undefined {
  if (type !== "integer" && type !== "number") return undefined
  const range = Object.hasOwn(ranges[type], format) ? ranges[type][format] : undefined
  const isWithin = range === undefined || (value >= range[0] && value <= range[1])
  if (isWithin && (type === "number" || isInteger(value))) return undefined
  return range === undefined ? `${type} (default format)` : `${type} with format ${format}`
}
