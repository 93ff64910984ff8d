// Addresses as Go prints them. Older fields, such as those of pods and Services, may contain other forms, which the API refuses in newer
// ones, such as those of EndpointSlices.

import { isIPv4 } from "node:net"
import { parseLooseAddress, printAddress, unmapped } from "../apimachinery/addresses.ts"

/** undefined if it is no address. */
export function canonicalAddress(text: string): string | undefined {
  // Of IPv4, this accepts no other form.
  if (isIPv4(text) || isPrintedIPv6(text)) return text
  // The "None" of headless Services. Parsing would fail, which takes long.
  if (!text.includes(".") && !text.includes(":")) return undefined
  const address = parseLooseAddress(text)
  return address && printAddress(unmapped(address))
}

/** `address`: canonical. Of what is no address, IPv4, as upstream. */
export const familyOf = (address: string | undefined): "IPv4" | "IPv6" =>
  address?.includes(":") === true ? "IPv6" : "IPv4"

/** True only for canonical addresses of IPv6, and for nearly all of them: the others are parsed, which takes much longer. */
const isPrintedIPv6 = (text: string): boolean => form.test(text) && !zeros.test(text) && !text.startsWith("::ffff:")

const group = "(?:0|[1-9a-f][0-9a-f]{0,3})"
const groups = `${group}(?::${group})*`
const moreThanSix = ":*(?:[^:]+:+){6}[^:]"
/** Eight groups, or at most six and :: for the others. */
const form = new RegExp(`^(?:${group}(?::${group}){7}|(?!${moreThanSix})(?:${groups})?::(?:${groups})?)$`)
/** Zeros side by side, or beside the ::, which may be in another place then. Without any, the :: is the longest run of zeros. */
const zeros = /(?:^|:)0:0?(?::|$)|::0(?::|$)/
