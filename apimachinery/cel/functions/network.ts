// ip() and cidr(). Source: k8s.io/apiserver/pkg/cel/library/{ip,cidr}.go; the words of faults are net/netip's.

import { dictionary } from "../../dictionary.ts"
import { CelError, OpaqueValue, type Value } from "../values.ts"

type Implementation = (args: readonly Value[]) => Value | undefined

class AddressFault extends Error {}

/** 4 or 16 bytes as a number. */
export class IP extends OpaqueValue {
  readonly typeName = "net.IP"
  readonly address: bigint
  readonly bits: 32 | 128

  constructor(address: bigint, bits: 32 | 128) {
    super()
    this.address = address
    this.bits = bits
  }

  override get size(): number {
    return Math.ceil(this.bits / 8)
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof IP && other.bits === this.bits && other.address === this.address
  }

  override toString(): string {
    return this.bits === 32 ? printIPv4(this.address) : printIPv6(this.address)
  }
}

export class CIDR extends OpaqueValue {
  readonly typeName = "net.CIDR"
  readonly ip: IP
  readonly prefix: number

  constructor(ip: IP, prefix: number) {
    super()
    this.ip = ip
    this.prefix = prefix
  }

  override get size(): number {
    return Math.ceil(this.prefix / 8)
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof CIDR && other.prefix === this.prefix && other.ip.equals(this.ip)
  }

  contains(ip: IP, prefix = ip.bits): boolean {
    const shift = BigInt(this.ip.bits - this.prefix)
    return ip.bits === this.ip.bits && prefix >= this.prefix && ip.address >> shift === this.ip.address >> shift
  }

  masked(): CIDR {
    const shift = BigInt(this.ip.bits - this.prefix)
    return new CIDR(new IP((this.ip.address >> shift) << shift, this.ip.bits), this.prefix)
  }

  override toString(): string {
    return `${String(this.ip)}/${this.prefix}`
  }
}

function printIPv4(address: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((address >> shift) & 255n)).join(".")
}

/** The longest run of zero groups (two at least) is left out. */
function printIPv6(address: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => Number((address >> BigInt(112 - 16 * index)) & 0xffffn))
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

/** The zone of fe80::1%eth0 is told apart, since no function takes it. */
function parseAddress(text: string): { ip: IP; zone: string } {
  for (const character of text) {
    if (character === ".") return { ip: parseIPv4(text, text), zone: "" }
    if (character === ":") return parseIPv6(text)
    if (character === "%") throw new AddressFault(`ParseAddr(${JSON.stringify(text)}): missing IPv6 address`)
  }
  throw new AddressFault(`ParseAddr(${JSON.stringify(text)}): unable to parse IP`)
}

function bad(whole: string, what: string, at?: string): never {
  throw new AddressFault(
    `ParseAddr(${JSON.stringify(whole)}): ${what}${at === undefined ? "" : ` (at ${JSON.stringify(at)})`}`,
  )
}

function parseIPv4(text: string, whole: string): IP {
  const fields: number[] = []
  let value = 0
  let digits = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ""
    if (/\d/.test(character)) {
      if (digits === 1 && value === 0) bad(whole, "IPv4 field has octet with leading zero")
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
  return new IP(
    fields.reduce((sum, field) => (sum << 8n) | BigInt(field), 0n),
    32,
  )
}

function parseIPv6(whole: string): { ip: IP; zone: string } {
  const percent = whole.indexOf("%")
  const zone = percent < 0 ? "" : whole.slice(percent + 1)
  if (percent >= 0 && zone === "") bad(whole, "zone must be a non-empty string")
  const text = percent < 0 ? whole : whole.slice(0, percent)
  const halves = text.split("::")
  if (halves.length > 2) bad(whole, "multiple :: in address", text.slice(text.indexOf("::", text.indexOf("::") + 1)))
  const [head, tail] = [groupsOf(halves[0] ?? "", whole), groupsOf(halves[1] ?? "", whole)]
  const count = head.length + tail.length
  if (halves.length === 1 && count < 8) bad(whole, "address string too short")
  if (count > 8) bad(whole, "trailing garbage after address", text)
  if (halves.length === 2 && count === 8) bad(whole, "the :: must expand to at least one field of zeros")
  const groups = [...head, ...Array.from({ length: 8 - count }, () => 0), ...tail]
  return {
    ip: new IP(
      groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n),
      128,
    ),
    zone,
  }
}

function groupsOf(text: string, whole: string): number[] {
  if (text === "") return []
  return text.split(":").flatMap((group, index, all) => {
    if (group.includes(".") && index === all.length - 1) {
      const { address } = parseIPv4(group, whole)
      return [Number(address >> 16n), Number(address & 0xffffn)]
    }
    if (group === "") bad(whole, "each colon-separated field must have at least one digit", ":")
    if (!/^[0-9a-fA-F]+$/.test(group)) bad(whole, "unexpected character", text)
    if (group.length > 4) bad(whole, "each group must have 4 or less digits", group)
    return [Number.parseInt(group, 16)]
  })
}

function isMapped({ bits, address }: IP): boolean {
  return bits === 128 && address >> 32n === 0xffffn
}

/** Throws what is wrong, in the library's words. */
function parseIP(text: string): IP {
  const { ip, zone } = ((): { ip: IP; zone: string } => {
    try {
      return parseAddress(text)
    } catch (error) {
      if (!(error instanceof AddressFault)) throw error
      throw new AddressFault(
        `IP Address ${JSON.stringify(text)} parse error during conversion from string: ${error.message}`,
      )
    }
  })()
  if (zone !== "") throw new AddressFault(`IP address ${JSON.stringify(text)} with zone value is not allowed`)
  if (isMapped(ip)) throw new AddressFault(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`)
  return ip
}

const prefixFault = "network address parse error during conversion from string: "

function parseCIDR(text: string): CIDR {
  const slash = text.lastIndexOf("/")
  const fail = (what: string): never => {
    throw new AddressFault(`${prefixFault}${prefixFault}netip.ParsePrefix(${JSON.stringify(text)}): ${what}`)
  }
  if (slash < 0) fail("no '/'")
  const address = ((): { ip: IP; zone: string } => {
    try {
      return parseAddress(text.slice(0, slash))
    } catch (error) {
      return error instanceof AddressFault ? fail(error.message) : rethrow(error)
    }
  })()
  if (address.zone !== "") fail("IPv6 zones cannot be present in a prefix")
  const bits = text.slice(slash + 1)
  if (!/^(?:0|[1-9]\d*)$/.test(bits)) fail(`bad bits after slash: ${JSON.stringify(bits)}`)
  if (Number(bits) > address.ip.bits) fail("prefix length out of range")
  if (isMapped(address.ip))
    throw new AddressFault(`${prefixFault}IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`)
  return new CIDR(address.ip, Number(bits))
}

function rethrow(error: unknown): never {
  throw error
}

function attempt(make: () => Value): Value {
  try {
    return make()
  } catch (error) {
    if (error instanceof AddressFault) return new CelError(error.message)
    throw error
  }
}

function isValid(make: () => Value): boolean {
  return !(attempt(make) instanceof CelError)
}

function ofString(make: (text: string) => Value): Implementation {
  return ([text]) => (typeof text === "string" ? attempt(() => make(text)) : undefined)
}

function ofIP(make: (ip: IP) => Value): Implementation {
  return ([ip]) => (ip instanceof IP ? make(ip) : undefined)
}

function ofCIDR(make: (cidr: CIDR) => Value): Implementation {
  return ([cidr]) => (cidr instanceof CIDR ? make(cidr) : undefined)
}

function within(ip: IP, network: string): boolean {
  return parseCIDR(network).contains(ip)
}

const invalidArgument = new CelError("no such overload")

export const networkFunctions: Readonly<Record<string, Implementation>> = dictionary({
  cidr: ofString(parseCIDR),
  containsCIDR: ([cidr, other]) => {
    if (!(cidr instanceof CIDR)) return undefined
    const inner = typeof other === "string" ? attempt(() => parseCIDR(other)) : other
    if (inner instanceof CelError) return invalidArgument
    return inner instanceof CIDR ? cidr.contains(inner.masked().ip, inner.prefix as 32 | 128) : undefined
  },
  containsIP: ([cidr, other]) => {
    if (!(cidr instanceof CIDR)) return undefined
    const ip = typeof other === "string" ? attempt(() => parseIP(other)) : other
    if (ip instanceof CelError) return invalidArgument
    return ip instanceof IP ? cidr.contains(ip) : undefined
  },
  family: ofIP((ip) => (ip.bits === 32 ? 4n : 6n)),
  ip: ([value]) =>
    value instanceof CIDR ? value.ip : typeof value === "string" ? attempt(() => parseIP(value)) : undefined,
  "ip.isCanonical": ofString((text) => String(parseIP(text)) === text),
  isCIDR: ofString((text) => isValid(() => parseCIDR(text))),
  isGlobalUnicast: ofIP((ip) => {
    if (ip.bits === 32 && (ip.address === 0n || ip.address === 0xffffffffn)) return false
    const isSpecial =
      ip.bits === 32
        ? within(ip, "127.0.0.0/8") || within(ip, "224.0.0.0/4") || within(ip, "169.254.0.0/16")
        : ip.address <= 1n || within(ip, "ff00::/8") || within(ip, "fe80::/10")
    return !isSpecial
  }),
  isIP: ofString((text) => isValid(() => parseIP(text))),
  isLinkLocalMulticast: ofIP((ip) =>
    ip.bits === 32 ? within(ip, "224.0.0.0/24") : ip.address >> 120n === 0xffn && ((ip.address >> 112n) & 0xfn) === 2n,
  ),
  isLinkLocalUnicast: ofIP((ip) => within(ip, ip.bits === 32 ? "169.254.0.0/16" : "fe80::/10")),
  isLoopback: ofIP((ip) => (ip.bits === 32 ? within(ip, "127.0.0.0/8") : ip.address === 1n)),
  isUnspecified: ofIP((ip) => ip.address === 0n),
  masked: ofCIDR((cidr) => cidr.masked()),
  prefixLength: ofCIDR((cidr) => BigInt(cidr.prefix)),
})
