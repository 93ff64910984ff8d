// Validates fields with addresses and networks. Fields that are older than upstream's rules accept every form of a valid address,
// with a warning for non-canonical ones, and keep accepting previous values; newer fields accept only the canonical form. Source:
// k8s.io/apimachinery/pkg/util/validation/ip.go.

import { isIPv4 } from "node:net"
import {
  type Address,
  contains,
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isMapped,
  isUnspecified,
  masked,
  parseAddress,
  parseLooseAddress,
  parseLoosePrefix,
  parsePrefix,
  type Prefix,
  printAddress,
  printPrefix,
  readable,
  unmapped,
  unmappedPrefix,
} from "../../../apimachinery/addresses.ts"
import type { FieldError, FieldPath } from "../../../apimachinery/field-errors.ts"
import { goQuote } from "../../../apimachinery/go/quote.ts"
import { messages } from "./values.ts"

/** IPv4 prefixes of which some addresses are invalid outside one machine; most others need not be parsed. */
const unusual = /^(?:0|127|169|224)\./
const none: ReadonlySet<string> = new Set()
const noAddress = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
const noNetwork = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
const noInterface = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"

export function isAddress(value: string): boolean {
  return parseLooseAddress(value) !== undefined
}

/** Returns false if the value is not an address. */
export function isIPv6Address(value: string): boolean {
  const address = parseLooseAddress(value)
  return address !== undefined && unmapped(address).bits === 128
}

/** For an older field. `kept`: its previous values. */
export function legacyAddress(path: FieldPath, value: string, kept: ReadonlySet<string> = none): FieldError[] {
  return kept.has(value) ? [] : messages(path, value, addressFaults(value))
}

/** For an older field. `kept`: its previous values. */
export function legacyNetwork(path: FieldPath, value: string, kept: ReadonlySet<string> = none): FieldError[] {
  return kept.has(value) ? [] : messages(path, value, networkFaults(value))
}

export function strictAddress(path: FieldPath, value: string): FieldError[] {
  return messages(path, value, strictAddressFaults(value))
}

export function strictNetwork(path: FieldPath, value: string): FieldError[] {
  const faults = networkFaults(value)
  const prefix = parseLoosePrefix(value)
  const hasFaults = faults.length > 0 || prefix === undefined
  return messages(path, value, hasFaults ? faults : canonicalFaults(value, printPrefix(prefix)))
}

/** An address with a prefix length. */
export function interfaceAddress(path: FieldPath, value: string): FieldError[] {
  const prefix = parseLoosePrefix(value)
  return messages(path, value, prefix === undefined ? [noInterface] : canonicalFaults(value, printInterface(prefix)))
}

/** As in Go, the length of a mapped address is reduced even if that makes it negative. */
function printInterface({ address, length }: Prefix): string {
  const reduced = isMapped(address) && length > 32 ? length - 96 : length
  return `${printAddress(unmapped(address))}/${reduced}`
}

/** Loopback, link-local and unspecified addresses are invalid outside one machine. */
export function reachableAddress(path: FieldPath, value: string): FieldError[] {
  if (isIPv4(value) && !unusual.test(value)) return []
  const parsed = parseLooseAddress(value)
  if (parsed === undefined) return messages(path, value, ["must be a valid IP address"])
  return messages(path, value, unreachableFaults(unmapped(parsed), value))
}

/** The errors of an address that must be in canonical form, for newer fields. */
export function strictAddressFaults(value: string): string[] {
  const faults = addressFaults(value)
  const parsed = parseLooseAddress(value)
  return faults.length > 0 || parsed === undefined ? faults : canonicalFaults(value, printAddress(parsed))
}

function addressFaults(value: string): string[] {
  if (isIPv4(value)) return []
  const parsed = parseLooseAddress(value)
  if (parsed === undefined) return [noAddress]
  if (!readable(() => parseAddress(value))) return ["must not have leading 0s"]
  return isMapped(parsed) ? ["must not be an IPv4-mapped IPv6 address"] : []
}

function networkFaults(value: string): string[] {
  const prefix = parseLoosePrefix(value)
  if (prefix === undefined) return [noNetwork]
  if (!readable(() => parsePrefix(value))) return ["must not have leading 0s in IP or prefix length"]
  if (isMapped(prefix.address)) return ["must not have an IPv4-mapped IPv6 address"]
  return hasHostBits(prefix) ? ["must not have bits set beyond the prefix length"] : []
}

function canonicalFaults(value: string, canonical: string): string[] {
  return value === canonical ? [] : [`must be in canonical form (${goQuote(canonical)})`]
}

function unreachableFaults(address: Address, value: string): string[] {
  const faults: string[] = []
  if (isUnspecified(address)) faults.push(`may not be unspecified (${value})`)
  if (isLoopback(address)) faults.push("may not be in the loopback range (127.0.0.0/8, ::1/128)")
  if (isLinkLocalUnicast(address)) faults.push("may not be in the link-local range (169.254.0.0/16, fe80::/10)")
  if (isLinkLocalMulticast(address))
    faults.push("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
  return faults
}

function hasHostBits(prefix: Prefix): boolean {
  return masked(prefix).address.value !== prefix.address.value
}

/** Whether the first network is a strict subset of the second. True if a value is not a network. */
export function isStrictSubset(inner: string, outer: string): boolean {
  const [part, whole] = [parseLoosePrefix(inner), parseLoosePrefix(outer)]
  if (part === undefined || whole === undefined) return true
  const { address } = unmappedPrefix(masked(part))
  return part.length > whole.length && contains(unmappedPrefix(masked(whole)), unmapped(address))
}

/** For an older field with a valid value. */
export function addressWarnings(path: FieldPath, value: string): string[] {
  if (isIPv4(value)) return []
  const parsed = parseLooseAddress(value)
  if (parsed === undefined) return []
  const canonical = printAddress(unmapped(parsed))
  if (!readable(() => parseAddress(value)) || isMapped(parsed))
    return [`${String(path)}: non-standard IP address ${goQuote(value)} is invalid: use ${goQuote(canonical)}`]
  return canonical === value
    ? []
    : [`${String(path)}: IPv6 address ${goQuote(value)} should be in RFC 5952 canonical format (${goQuote(canonical)})`]
}

/** For an older field with a valid value. */
export function networkWarnings(path: FieldPath, value: string): string[] {
  const prefix = parseLoosePrefix(value)
  if (prefix === undefined) return []
  const canonical = printPrefix(unmappedPrefix(masked(prefix)))
  const warnings: string[] = []
  if (hasHostBits(prefix)) {
    const single = `${printAddress(unmapped(prefix.address))}/${prefix.address.bits}`
    warnings.push(
      `${String(path)}: CIDR value ${goQuote(value)} is ambiguous in this context (should be ${goQuote(canonical)} or ${goQuote(single)}?)`,
    )
  }
  if (!readable(() => parsePrefix(value)) || isMapped(prefix.address))
    warnings.push(`${String(path)}: non-standard CIDR value ${goQuote(value)} is invalid: use ${goQuote(canonical)}`)
  if (warnings.length > 0 || canonical === value) return warnings
  return [
    `${String(path)}: IPv6 CIDR value ${goQuote(value)} should be in RFC 5952 canonical format (${goQuote(canonical)})`,
  ]
}
