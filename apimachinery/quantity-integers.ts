// Upstream's conversion of quantities in resource lists to 64-bit integers: amounts of up to 18 digits are stored in one, and
// overflow gives 0; longer ones are stored exactly, in thousandths, of which the lowest 64 bits are used. Source:
// k8s.io/apimachinery/pkg/api/resource (Value, MilliValue).

import { nanoPerMilli, nanoPerUnit, parseQuantity, printQuantity, type Quantity } from "./quantity.ts"
import { int64 } from "./schema/exact-integers.ts"

const bits = (value: bigint): bigint => BigInt.asIntN(64, value)

/** Whole units. */
export function int64Units(quantity: Quantity): bigint {
  if (isShort(quantity)) return held(awayFromZero(quantity.nano, nanoPerUnit))
  const milli = awayFromZero(quantity.nano, nanoPerMilli)
  if (milli >= int64.max) return bits(awayFromZero(milli, 1000n))
  const low = bits(milli)
  return low / 1000n + (low % 1000n === 0n ? 0n : 1n)
}

/** Whether its thousandths are whole units. */
export function isWholeInt64(text: string): boolean {
  const quantity = parseQuantity(text)
  const milli = awayFromZero(quantity.nano, nanoPerMilli)
  return (isShort(quantity) ? held(milli) : bits(milli)) % 1000n === 0n
}

function held(value: bigint): bigint {
  return value > int64.max || value < int64.min ? 0n : value
}

const binaryPowers = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]

/** Whether upstream stores it in 64 bits, by its notation: a binary suffix counts as three digits per ten powers of two. */
function isShort(quantity: Quantity): boolean {
  const text = printQuantity(quantity)
  const digits = text.replaceAll(/[^0-9]/g, "").length
  const power = binaryPowers.indexOf(text.slice(-2)) + 1
  return power === 0 ? digits <= 18 : digits + 3 * power <= 14
}

function awayFromZero(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor
  if (quotient * divisor === value) return quotient
  return value < 0n ? quotient - 1n : quotient + 1n
}
