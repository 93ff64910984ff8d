// resource.Quantity, exact: an integer of nano units and the format it was written in. Source:
// k8s.io/apimachinery/pkg/api/resource; like upstream, what is finer than nano is rounded up.

export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent"

export interface Quantity {
  /** In units of 10⁻⁹. */
  nano: bigint
  format: QuantityFormat
}

const nanoPerUnit = 1_000_000_000n

const decimalSuffixes: Record<string, number> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const binarySuffixes: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }

const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d{1,3})?$/

/** What upstream answers for a text that is none. */
export const quantityPattern =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

/** Largest magnitude upstream keeps (2⁶³−1); beyond it the value is capped. */
const maxUnits = (1n << 63n) - 1n

export function parseQuantity(text: string | number): Quantity {
  const source = String(text)
  const match = pattern.exec(source)
  const [, sign = "", whole = "", fraction = "", suffix = ""] = match ?? []
  if (match === null || (whole === "" && fraction === "")) throw new RangeError(quantityPattern)
  const digits = BigInt(`${whole}${fraction}` || "0")
  const exponent = -fraction.length
  const { nano, format } = scale(digits, exponent, suffix)
  const capped = nano > maxUnits * nanoPerUnit ? maxUnits * nanoPerUnit : nano
  return { nano: sign === "-" ? -capped : capped, format }
}

function scale(digits: bigint, exponent: number, suffix: string): Quantity {
  const binary = binarySuffixes[suffix]
  if (binary !== undefined) return { nano: shift(digits << BigInt(binary), exponent + 9), format: "BinarySI" }
  const decimal = decimalSuffixes[suffix]
  if (decimal !== undefined) return { nano: shift(digits, exponent + decimal + 9), format: "DecimalSI" }
  return { nano: shift(digits, exponent + Number(suffix.slice(1)) + 9), format: "DecimalExponent" }
}

/** digits × 10^power, rounded up. */
function shift(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(power)
  const divisor = 10n ** BigInt(-power)
  return (digits + divisor - 1n) / divisor
}

export function isQuantity(text: unknown): boolean {
  if (typeof text !== "string" && typeof text !== "number") return false
  const match = pattern.exec(String(text))
  return match !== null && (match[2] !== "" || (match[3] ?? "") !== "")
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

/** Thousandths, rounded up: what cpu is counted in. */
export function milliValue(quantity: Quantity): number {
  return Number(ceilDivide(quantity.nano, nanoPerUnit / 1000n))
}

/** Whole units, rounded up: bytes, pods. */
export function unitValue(quantity: Quantity): number {
  return Number(ceilDivide(quantity.nano, nanoPerUnit))
}

function ceilDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor
  return value > 0n && quotient * divisor !== value ? quotient + 1n : quotient
}

/** The canonical form: no fraction, the largest suffix that leaves an integer. */
export function printQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return "0"
  const sign = nano < 0n ? "-" : ""
  const magnitude = nano < 0n ? -nano : nano
  if (format === "BinarySI") {
    const text = printBinary(magnitude)
    if (text !== undefined) return sign + text
  }
  let power = -9
  let value = magnitude
  while (power < 18 && value % 1000n === 0n) {
    value /= 1000n
    power += 3
  }
  if (format === "DecimalExponent") return `${sign}${value}${power === 0 ? "" : `e${power}`}`
  const suffix = Object.keys(decimalSuffixes).find((name) => decimalSuffixes[name] === power) ?? ""
  return `${sign}${value}${suffix}`
}

/** Undefined where binary suffixes cannot say it: fractions and what is below 1024 are printed in decimal. */
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
