// Networks ("10.96.0.0/16") as numeric ranges. Pure.

import { masked, parseLooseAddress, parseLoosePrefix } from "../../apimachinery/addresses.ts"

export interface Range {
  bits: 32 | 128
  first: bigint
  last: bigint
}

/** undefined if the text is invalid. */
export function parseRange(cidr: string): Range | undefined {
  const prefix = parseLoosePrefix(cidr)
  if (prefix === undefined) return undefined
  const { value: first, bits } = masked(prefix).address
  return { bits, first, last: first + (1n << BigInt(bits - prefix.length)) - 1n }
}

export const contains = (outer: Range, inner: Range): boolean =>
  outer.bits === inner.bits && outer.first <= inner.first && outer.last >= inner.last

/** Whether a Service can have the address from this range: the network address, and for IPv4 the broadcast address, are excluded. */
export function gives(range: Range, address: Range): boolean {
  const isEdge = address.first === range.first || (range.bits === 32 && address.first === range.last)
  return contains(range, address) && !isEdge
}

export const overlaps = (a: Range, b: Range): boolean => a.bits === b.bits && a.first <= b.last && b.first <= a.last

/** The range with one address. */
export function rangeOf(address: string): Range | undefined {
  const parsed = parseLooseAddress(address)
  return parsed === undefined ? undefined : { bits: parsed.bits, first: parsed.value, last: parsed.value }
}
