// ip() and cidr(). Source: k8s.io/apiserver/pkg/cel/library/{ip,cidr}.go; error messages are those of net/netip.

import { goQuote } from "../../go/quote.ts"
import {
  type Address,
  AddressFault,
  contains,
  isGlobalUnicast,
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isMapped,
  isUnspecified,
  masked,
  parseAddress,
  parsePrefix,
  type Prefix,
  printAddress,
  printPrefix,
} from "../../addresses.ts"
import { dictionary } from "../../dictionary.ts"
import { CelError, OpaqueValue, type Value, type Implementation, noOverload } from "../values.ts"

export class IP extends OpaqueValue {
  readonly typeName = "net.IP"
  override readonly goType = "netip.Addr"
  readonly address: Address

  constructor(address: Address) {
    super()
    this.address = address
  }

  override get size(): number {
    return Math.ceil(this.address.bits / 8)
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof IP && isSame(other.address, this.address)
  }

  override toString(): string {
    return printAddress(this.address)
  }
}

export class CIDR extends OpaqueValue {
  readonly typeName = "net.CIDR"
  override readonly goType = "netip.Prefix"
  readonly prefix: Prefix

  constructor(prefix: Prefix) {
    super()
    this.prefix = prefix
  }

  override get size(): number {
    return Math.ceil(this.prefix.length / 8)
  }

  equals(other: OpaqueValue): boolean {
    return (
      other instanceof CIDR &&
      other.prefix.length === this.prefix.length &&
      isSame(other.prefix.address, this.prefix.address)
    )
  }

  override toString(): string {
    return printPrefix(this.prefix)
  }
}

const isSame = (a: Address, b: Address): boolean => a.bits === b.bits && a.value === b.value

/** Throws with the library's message. */
function parseIP(text: string): IP {
  const { address, zone } = within(
    () => parseAddress(text),
    `IP Address ${goQuote(text)} parse error during conversion from string: `,
  )
  if (zone !== "") throw new AddressFault(`IP address ${goQuote(text)} with zone value is not allowed`)
  if (isMapped(address)) throw new AddressFault(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`)
  return new IP(address)
}

const prefixFault = "network address parse error during conversion from string: "

function parseCIDR(text: string): CIDR {
  const prefix = within(() => parsePrefix(text), `${prefixFault}${prefixFault}`)
  if (isMapped(prefix.address))
    throw new AddressFault(`${prefixFault}IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`)
  return new CIDR(prefix)
}

/** Prefixes the parser's error with `words`. */
function within<T>(parse: () => T, words: string): T {
  try {
    return parse()
  } catch (error) {
    throw error instanceof AddressFault ? new AddressFault(`${words}${error.message}`) : error
  }
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

function ofAddress(make: (address: Address) => Value): Implementation {
  return ([ip]) => (ip instanceof IP ? make(ip.address) : undefined)
}

function ofPrefix(make: (prefix: Prefix) => Value): Implementation {
  return ([cidr]) => (cidr instanceof CIDR ? make(cidr.prefix) : undefined)
}

export const networkFunctions: Readonly<Record<string, Implementation>> = dictionary({
  cidr: ofString(parseCIDR),
  containsCIDR: ([cidr, other]) => {
    if (!(cidr instanceof CIDR)) return undefined
    const inner = typeof other === "string" ? attempt(() => parseCIDR(other)) : other
    if (inner instanceof CelError) return inner
    if (!(inner instanceof CIDR)) return undefined
    return inner.prefix.length >= cidr.prefix.length && contains(cidr.prefix, inner.prefix.address)
  },
  containsIP: ([cidr, other]) => {
    if (!(cidr instanceof CIDR)) return undefined
    const ip = typeof other === "string" ? attempt(() => parseIP(other)) : other
    if (ip instanceof CelError) return noOverload
    return ip instanceof IP ? contains(cidr.prefix, ip.address) : undefined
  },
  family: ofAddress(({ bits }) => (bits === 32 ? 4n : 6n)),
  ip: ([value]) =>
    value instanceof CIDR
      ? new IP(value.prefix.address)
      : typeof value === "string"
        ? attempt(() => parseIP(value))
        : undefined,
  "ip.isCanonical": ofString((text) => String(parseIP(text)) === text),
  isCIDR: ofString((text) => isValid(() => parseCIDR(text))),
  isGlobalUnicast: ofAddress(isGlobalUnicast),
  isIP: ofString((text) => isValid(() => parseIP(text))),
  isLinkLocalMulticast: ofAddress(isLinkLocalMulticast),
  isLinkLocalUnicast: ofAddress(isLinkLocalUnicast),
  isLoopback: ofAddress(isLoopback),
  isUnspecified: ofAddress(isUnspecified),
  masked: ofPrefix((prefix) => new CIDR(masked(prefix))),
  prefixLength: ofPrefix(({ length }) => BigInt(length)),
})
