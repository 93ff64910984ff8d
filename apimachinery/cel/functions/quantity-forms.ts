// How Go keeps a quantity, which shows in what it converts to: a number of 64 bits at a power of ten, or one of any size. Nothing is
// reduced, so "1.0" is no integer. Source: k8s.io/apimachinery/pkg/api/resource (ParseQuantity, amount.go).

import { type Quantity, parseQuantity } from "../../quantity.ts"
import { int64 } from "../../schema/exact-integers.ts"

/** value × 10^scale. */
export interface QuantityForm {
  value: bigint
  scale: number
  /** Within 64 bits: only those have an integer. */
  isShort: boolean
}

/** Decimal digits that always fit. */
const maxDigits = 18
/** The same with a binary suffix. */
const maxBinaryDigits = 14
const smallestScale = -9

const parts = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP].*)?$/
const binaryPowers = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
const decimalPowers = new Map(
  ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"].map((suffix, at) => [suffix, 3 * at - 9]),
)

/** `text`: a valid quantity. */
export function formOf(text: string): QuantityForm {
  const [, sign = "", given = "", fraction = "", suffix = ""] = parts.exec(text) ?? []
  const whole = given.replace(/^0+/, "") || "0"
  const digits = whole.length
  const binary = 10 * (binaryPowers.indexOf(suffix) + 1)
  const value = BigInt(`${sign}${whole}${fraction}`)
  if (binary > 0) {
    const fits = fraction === "" && digits + Math.trunc((binary * 3) / 10) <= maxBinaryDigits
    return fits ? short(value << BigInt(binary), 0) : long(parseQuantity(text))
  }
  const scale = (decimalPowers.get(suffix) ?? Number(suffix.slice(1))) - fraction.length
  return digits + fraction.length <= maxDigits && scale >= smallestScale
    ? short(value, scale)
    : long(parseQuantity(text))
}

const short = (value: bigint, scale: number): QuantityForm => ({ value, scale, isShort: true })

export const integerForm = (value: bigint): QuantityForm => short(value, 0)

/** Rounded to billionths, except for what exceeds the most that a binary suffix may give. */
function long({ nano, format }: Quantity): QuantityForm {
  const [most, units] = [int64.max * 1_000_000_000n, nano / 1_000_000_000n]
  const isCapped = format === "BinarySI" && (nano === most || nano === -most)
  return { ...(isCapped ? { value: units, scale: 0 } : { value: nano, scale: smallestScale }), isShort: false }
}

export function addForms(a: QuantityForm, b: QuantityForm): QuantityForm {
  if (a.isShort && b.isShort) {
    if (b.value === 0n) return a
    if (a.value === 0n) return b
  }
  const scale = Math.min(a.scale, b.scale)
  const [one, other] = [raised(a, scale), raised(b, scale)]
  const value = one + other
  return { value, scale, isShort: a.isShort && b.isShort && [one, other, value].every(isInt64) }
}

export function subtractForms(a: QuantityForm, b: QuantityForm): QuantityForm {
  return addForms(a, { ...b, value: -b.value })
}

/** undefined: it is none as it is kept. */
export function asInteger(form: QuantityForm): bigint | undefined {
  if (!form.isShort || form.scale < 0) return undefined
  const value = raised(form, 0)
  return isInt64(value) ? value : undefined
}

export function asFloat({ value, scale }: QuantityForm): number {
  return scale === 0 ? Number(value) : Number(value) * powerOfTen(scale)
}

const isInt64 = (value: bigint): boolean => value >= int64.min && value <= int64.max

const raised = ({ value, scale }: QuantityForm, to: number): bigint => value * 10n ** BigInt(scale - to)

/** math.Pow10() of Go, a product of two powers. */
function powerOfTen(exponent: number): number {
  const [high, low] = [32 * Math.floor(Math.abs(exponent) / 32), Math.abs(exponent) % 32]
  return exponent < 0 ? Number(`1e-${high}`) / Number(`1e${low}`) : Number(`1e${high}`) * Number(`1e${low}`)
}
