// Parses and prints IP addresses and networks like Go. As upstream, there are two parsers: that of net/netip, with its error
// messages, and a lenient one for older fields, which accepts leading zeros. Source: net/netip, k8s.io/utils/net.

import { goQuote } from "./go/quote.ts"

export interface Address {
  /** 4 or 16 bytes as a number. */
  readonly value: bigint
  readonly bits: 32 | 128
}

/** 10.0.0.7/8: an address and the length of its network prefix. */
export interface Prefix {
  readonly address: Address
  readonly length: number
}

/** The reason why a text is invalid, with net/netip's message. */
export class AddressFault extends Error {}

const mappedBits = 96

/** ::ffff:10.0.0.7 */
export function isMapped({ bits, value }: Address): boolean {
  return bits === 128 && value >> 32n === 0xffffn
}

/** Converts IPv4-mapped IPv6 addresses to IPv4. */
export function unmapped(address: Address): Address {
  return isMapped(address) ? { value: address.value & 0xffffffffn, bits: 32 } : address
}

/** The first address of the network. */
export function masked({ address: { value, bits }, length }: Prefix): Prefix {
  const shift = BigInt(bits - length)
  return { address: { value: (value >> shift) << shift, bits }, length }
}

export function contains({ address: { value, bits }, length }: Prefix, address: Address): boolean {
  const shift = BigInt(bits - length)
  return address.bits === bits && address.value >> shift === value >> shift
}

/** Converts IPv4-mapped IPv6 networks to IPv4 if the prefix covers the mapping. */
export function unmappedPrefix(prefix: Prefix): Prefix {
  const { address, length } = prefix
  return isMapped(address) && length >= mappedBits
    ? { address: unmapped(address), length: length - mappedBits }
    : prefix
}

const loopback = parsePrefix("127.0.0.0/8")
const linkLocal = { 32: parsePrefix("169.254.0.0/16"), 128: parsePrefix("fe80::/10") }
const linkLocalMulticast = parsePrefix("224.0.0.0/24")

export function isUnspecified({ value }: Address): boolean {
  return value === 0n
}

export function isLoopback(address: Address): boolean {
  return address.bits === 32 ? contains(loopback, address) : address.value === 1n
}

export function isLinkLocalUnicast(address: Address): boolean {
  return contains(linkLocal[address.bits], address)
}

export function isLinkLocalMulticast(address: Address): boolean {
  return address.bits === 32
    ? contains(linkLocalMulticast, address)
    : address.value >> 120n === 0xffn && ((address.value >> 112n) & 0xfn) === 2n
}

/** Whether it may be that of one host among others: of no group, and not valid on one machine or link alone. */
export function isGlobalUnicast(address: Address): boolean {
  const isMulticast = address.bits === 32 ? address.value >> 28n === 0xen : address.value >> 120n === 0xffn
  const isBroadcast = address.bits === 32 && address.value === 0xffff_ffffn
  return !(isMulticast || isBroadcast || isUnspecified(address) || isLoopback(address) || isLinkLocalUnicast(address))
}

/** As Go's net.JoinHostPort. */
export function joinHostPort(host: string, port: number | string): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`
}

/** In the format of RFC 5952. */
export function printAddress({ value, bits }: Address): string {
  return bits === 32 ? printIPv4(value) : printIPv6(value)
}

export function printPrefix({ address, length }: Prefix): string {
  return `${printAddress(address)}/${length}`
}

function printIPv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join(".")
}

/** Omits the longest run of at least two zero groups. */
function printIPv6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn))
  let [start, length] = [-1, 1]
  for (let at = 0; at < 8; at++) {
    let end = at
    while (end < 8 && groups[end] === 0) end++
    if (end - at > length) [start, length] = [at, end - at]
  }
  const text = (from: number, to?: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(":")
  return start < 0 ? text(0) : `${text(0, start)}::${text(start + length)}`
}

/** Separates the zone of fe80::1%eth0. Throws {@link AddressFault}. */
export function parseAddress(text: string): { address: Address; zone: string } {
  for (const character of text) {
    if (character === ".") return { address: parseIPv4(text, text), zone: "" }
    if (character === ":") return parseZoned(text)
    if (character === "%") bad(text, "missing IPv6 address")
  }
  return bad(text, "unable to parse IP")
}

/** Throws {@link AddressFault}. */
export function parsePrefix(text: string): Prefix {
  const slash = text.lastIndexOf("/")
  const fail = (what: string): never => {
    throw new AddressFault(`netip.ParsePrefix(${goQuote(text)}): ${what}`)
  }
  if (slash < 0) fail("no '/'")
  const { address, zone } = ((): ReturnType<typeof parseAddress> => {
    try {
      return parseAddress(text.slice(0, slash))
    } catch (error) {
      if (error instanceof AddressFault) return fail(error.message)
      throw error
    }
  })()
  if (zone !== "") fail("IPv6 zones cannot be present in a prefix")
  const length = text.slice(slash + 1)
  if (!/^(?:0|[1-9]\d*)$/.test(length)) fail(`bad bits after slash: ${goQuote(length)}`)
  if (Number(length) > address.bits) fail("prefix length out of range")
  return { address, length: Number(length) }
}

/** Accepts leading zeros, but no zones. Returns undefined for an invalid address. */
export function parseLooseAddress(text: string): Address | undefined {
  return attempt(() => (text.includes(":") ? parseIPv6(text, text, true) : parseIPv4(text, text, true)))
}

/** The same with a prefix length. Returns undefined for an invalid network. */
export function parseLoosePrefix(text: string): Prefix | undefined {
  const [first = "", length = "", ...rest] = text.split("/")
  const address = parseLooseAddress(first)
  if (address === undefined || rest.length > 0 || !/^\d{1,7}$/.test(length)) return undefined
  return Number(length) > address.bits ? undefined : { address, length: Number(length) }
}

/** Returns true if `parse` throws no {@link AddressFault}. */
export function readable(parse: () => unknown): boolean {
  return attempt(() => [parse()]) !== undefined
}

/** The result of `parse`, or undefined if the text is invalid. */
function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch (error) {
    if (error instanceof AddressFault) return undefined
    throw error
  }
}

function bad(whole: string, what: string, at?: string): never {
  throw new AddressFault(`ParseAddr(${goQuote(whole)}): ${what}${at === undefined ? "" : ` (at ${goQuote(at)})`}`)
}

function parseIPv4(text: string, whole: string, isLoose = false): Address {
  const fields: number[] = []
  let value = 0
  let digits = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ""
    if (/\d/.test(character)) {
      if (digits > 0 && value === 0 && !isLoose) bad(whole, "IPv4 field has octet with leading zero")
      value = value * 10 + Number(character)
      digits++
      if (value > 255) bad(whole, "IPv4 field has value >255")
    } else if (character === ".") {
      if (at === 0 || at === text.length - 1 || text[at - 1] === ".")
        bad(whole, "IPv4 field must have at least one digit", text.slice(at))
      if (fields.length === 3) bad(whole, "IPv4 address too long")
      fields.push(value)
      value = 0
      digits = 0
    } else bad(whole, "unexpected character", text.slice(at))
  }
  if (fields.length < 3) bad(whole, "IPv4 address too short")
  fields.push(value)
  return { value: fields.reduce((sum, field) => (sum << 8n) | BigInt(field), 0n), bits: 32 }
}

function parseZoned(whole: string): { address: Address; zone: string } {
  const percent = whole.indexOf("%")
  const zone = percent < 0 ? "" : whole.slice(percent + 1)
  if (percent >= 0 && zone === "") bad(whole, "zone must be a non-empty string")
  return { address: parseIPv6(percent < 0 ? whole : whole.slice(0, percent), whole), zone }
}

function parseIPv6(text: string, whole: string, isLoose = false): Address {
  const groups: number[] = []
  let gap = text.startsWith("::") ? 0 : -1
  let rest = gap < 0 ? text : text.slice(2)
  // Each round reads a group, and the colons after it.
  while (rest !== "" || (gap < 0 && groups.length === 0)) {
    if (groups.length === 8) bad(whole, "trailing garbage after address", rest)
    const group = groupAt(rest, whole, isLoose)
    if (rest[group.length] === ".") {
      groups.push(...embedded(rest, whole, { count: groups.length, hasGap: gap >= 0, isLoose }))
      break
    }
    groups.push(Number.parseInt(group, 16))
    rest = rest.slice(group.length)
    if (rest === "") break
    if (!rest.startsWith(":")) bad(whole, "unexpected character, want colon", rest)
    if (rest.length === 1) bad(whole, "colon must be followed by more characters", rest)
    rest = rest.slice(1)
    if (!rest.startsWith(":")) continue
    if (gap >= 0) bad(whole, "multiple :: in address", rest)
    gap = groups.length
    rest = rest.slice(1)
  }
  if (groups.length < 8 && gap < 0) bad(whole, "address string too short")
  if (groups.length === 8 && gap >= 0) bad(whole, "the :: must expand to at least one field of zeros")
  if (groups.length < 8) groups.splice(gap, 0, ...Array.from({ length: 8 - groups.length }, () => 0))
  return { value: groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n), bits: 128 }
}

/** The hexadecimal digits at the start. */
function groupAt(rest: string, whole: string, isLoose: boolean): string {
  const group = /^[0-9a-fA-F]*/.exec(rest)?.[0] ?? ""
  if (isLoose ? Number.parseInt(group, 16) > 0xffff : group.length > 4)
    bad(whole, "each group must have 4 or less digits", rest)
  if (group === "") bad(whole, "each colon-separated field must have at least one digit", rest)
  return group
}

/** The last two groups, as an IPv4 address. */
function embedded(
  rest: string,
  whole: string,
  { count, hasGap, isLoose }: { count: number; hasGap: boolean; isLoose: boolean },
): [number, number] {
  if (!hasGap && count !== 6) bad(whole, "embedded IPv4 address must replace the final 2 fields of the address", rest)
  if (count > 6) bad(whole, "too many hex fields to fit an embedded IPv4 at the end of the address", rest)
  const { value } = parseIPv4(rest, whole, isLoose)
  return [Number(value >> 16n), Number(value & 0xffffn)]
}
