// resource.Quantity, exact: an integer of nano units and the original format. Source: k8s.io/apimachinery/pkg/api/resource; as
// upstream, smaller fractions than nano are rounded up.

import { dictionary } from "./dictionary.ts"
import { int64 } from "./schema/exact-integers.ts"

type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent"

export interface Quantity {
  /** In units of 10⁻⁹. */
  nano: bigint
  format: QuantityFormat
  /** The original text where upstream keeps it: if it considers the number canonical. */
  text?: string
}

export const nanoPerUnit = 1_000_000_000n

const decimalSuffixes: Record<string, number> = dictionary({
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
})
const binarySuffixes: Record<string, number> = dictionary({ Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 })

const pattern = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]+[-+]?\d*|[-+]\d*|)$/
const exponentPattern = /^[eE][+-]?\d{1,9}$/

/** Upstream's errors for invalid quantities. */
const quantityPattern = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const suffixFault = "unable to parse quantity's suffix"

/** Upstream's maximum for a number with a binary suffix (2⁶³−1); larger ones are capped. */
const maxUnits = int64.max
/** Maximum number of decimal digits and maximum exponent: real amounts are smaller, and big numbers cost time. */
const maxDigits = 400
/** Number of digits that always fit 64 bits. */
const shortDigits = 18

/** Throws RangeError with upstream's messages. */
export function parseQuantity(source: string | number): Quantity {
  const text = String(source).trim()
  if (text === "0") return zeroQuantity
  const match = text.length > maxDigits ? null : pattern.exec(text)
  const [, sign = "", whole = "", fraction = "", suffix = ""] = match ?? []
  if (match === null || (whole === "" && fraction === "")) throw new RangeError(quantityPattern)
  const digits = BigInt(`${whole}${fraction}`)
  const binary = binarySuffixes[suffix]
  if (binary !== undefined) return binaryQuantity(sign, digits, fraction, binary, text)
  const format = Object.hasOwn(decimalSuffixes, suffix) ? "DecimalSI" : "DecimalExponent"
  if (format === "DecimalExponent" && !exponentPattern.test(suffix)) throw new RangeError(suffixFault)
  const power = (decimalSuffixes[suffix] ?? Number(suffix.slice(1))) - fraction.length
  if (Math.abs(power) > maxDigits) throw new RangeError(quantityPattern)
  const nano = shift(digits, power + 9)
  const number = `${whole.replace(/^0+(?=\d)/, "")}${fraction}`
  // In these cases upstream keeps the text, even if it would print the number differently.
  const kept =
    number.length <= shortDigits && power >= -9 && power % 3 === 0 && !number.endsWith("000") && !number.startsWith("0")
  return { nano: sign === "-" ? -nano : nano, format, ...(kept ? { text } : {}) }
}

function binaryQuantity(sign: string, digits: bigint, fraction: string, power: number, text: string): Quantity {
  const exact = shift(digits << BigInt(power), 9 - fraction.length)
  const nano = exact > maxUnits * nanoPerUnit ? maxUnits * nanoPerUnit : exact
  const format = nano > 0n && nano < nanoPerUnit ? "DecimalSI" : "BinarySI"
  const kept = fraction === "" && String(digits).length + Math.trunc((power * 3) / 10) <= 14 && (digits & 7n) !== 0n
  return { nano: sign === "-" ? -nano : nano, format, ...(kept ? { text } : {}) }
}

/** digits × 10^power, rounded up. */
function shift(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(power)
  return ceilDivide(digits, 10n ** BigInt(-power))
}

export function isQuantity(text: unknown): boolean {
  if (typeof text !== "string" && typeof text !== "number") return false
  try {
    parseQuantity(text)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nano: a.nano + b.nano, format: a.nano === 0n ? b.format : a.format }
}

export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return { nano: a.nano - b.nano, format: a.nano === 0n ? b.format : a.format }
}

export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  return a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0
}

export const zeroQuantity: Quantity = { nano: 0n, format: "DecimalSI" }

/** Thousandths, rounded up: the unit of cpu. */
export function milliValue(quantity: Quantity): number {
  return Number(ceilDivide(quantity.nano, nanoPerUnit / 1000n))
}

/** Whole units, rounded up: bytes, pods. */
export function unitValue(quantity: Quantity): number {
  return Number(ceilDivide(quantity.nano, nanoPerUnit))
}

/** Rounds up to whole units. */
export function roundUp(quantity: Quantity): Quantity {
  const { nano, format } = quantity
  const whole = ceilDivide(nano, nanoPerUnit) * nanoPerUnit
  return whole === nano ? quantity : { nano: whole, format }
}

export const nanoPerMilli = nanoPerUnit / 1000n

/** Rounds to thousandths, away from zero, as upstream does in resource lists. */
export function roundToMilli(quantity: Quantity): Quantity {
  const { nano, format } = quantity
  const rest = nano % nanoPerMilli
  if (rest === 0n) return quantity
  return { nano: nano - rest + (nano < 0n ? -nanoPerMilli : nanoPerMilli), format }
}

function ceilDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor
  return value > 0n && quotient * divisor !== value ? quotient + 1n : quotient
}

/** The canonical form (no fraction, the largest suffix that leaves an integer), or the kept original text. */
export function printQuantity({ nano, format, text }: Quantity): string {
  if (text !== undefined) return text
  if (nano === 0n) return "0"
  const sign = nano < 0n ? "-" : ""
  const magnitude = nano < 0n ? -nano : nano
  if (format === "BinarySI") {
    const printed = printBinary(magnitude)
    if (printed !== undefined) return sign + printed
  }
  let power = -9
  let value = magnitude
  while ((power < 18 || format === "DecimalExponent") && value % 1000n === 0n) {
    value /= 1000n
    power += 3
  }
  if (format === "DecimalExponent") return `${sign}${value}${power === 0 ? "" : `e${power}`}`
  const suffix = Object.keys(decimalSuffixes).find((name) => decimalSuffixes[name] === power) ?? ""
  return `${sign}${value}${suffix}`
}

/** Undefined if a binary suffix cannot express it: fractions and values below 1024 are printed in decimal. */
function printBinary(magnitude: bigint): string | undefined {
  if (magnitude % nanoPerUnit !== 0n) return undefined
  let value = magnitude / nanoPerUnit
  if (value < 1024n) return undefined
  let suffix = ""
  for (const name of Object.keys(binarySuffixes)) {
    if (value % 1024n !== 0n) break
    value /= 1024n
    suffix = name
  }
  return `${value}${suffix}`
}
