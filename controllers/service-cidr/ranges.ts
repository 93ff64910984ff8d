// Ranges of addresses ("10.96.0.0/16") as numbers. Pure.

import { isIPv6 } from "node:net"

export interface Range {
  family: 4 | 6
  first: bigint
  last: bigint
}

/** undefined: it is none. */
export function parseRange(cidr: string): Range | undefined {
  const [text = "", length] = cidr.split("/")
  const address = parseAddress(text)
  if (address === undefined || length === undefined || !/^\d{1,3}$/.test(length)) return undefined
  const bits = BigInt(address.family === 4 ? 32 : 128)
  const host = bits - BigInt(length)
  if (host < 0n) return undefined
  const first = (address.value >> host) << host
  return { family: address.family, first, last: first + (1n << host) - 1n }
}

export function parseAddress(text: string): { family: 4 | 6; value: bigint } | undefined {
  if (isIPv6(text)) {
    // The URL parser writes an embedded IPv4 address and all zeros in the same way.
    const groups = expand(new URL(`http://[${text.split("%")[0] ?? ""}]`).hostname.slice(1, -1))
    return { family: 6, value: groups.reduce((value, group) => (value << 16n) + BigInt(group), 0n) }
  }
  const parts = text.split(".")
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return undefined
  return { family: 4, value: parts.reduce((value, part) => (value << 8n) + BigInt(part), 0n) }
}

function expand(address: string): number[] {
  const [head = "", tail] = address.split("::")
  const numbers = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16))
  if (tail === undefined) return numbers(head)
  const [left, right] = [numbers(head), numbers(tail)]
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right]
}

export const contains = (outer: Range, inner: Range): boolean =>
  outer.family === inner.family && outer.first <= inner.first && outer.last >= inner.last

export const overlaps = (a: Range, b: Range): boolean => a.family === b.family && a.first <= b.last && b.first <= a.last

/** The range of one address. */
export function rangeOf(address: string): Range | undefined {
  const parsed = parseAddress(address)
  return parsed === undefined ? undefined : { family: parsed.family, first: parsed.value, last: parsed.value }
}
