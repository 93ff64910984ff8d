// Addresses as Go prints them. Older fields, such as those of pods and Services, may contain other forms, which the API refuses in newer
// ones, such as those of EndpointSlices.

import { isIPv4 } from "node:net"
import { parseLooseAddress, printAddress, unmapped } from "../apimachinery/addresses.ts"

/** undefined if it is no address. */
export function canonicalAddress(text: string): string | undefined {
  // This accepts no other form, and most are of IPv4.
  if (isIPv4(text)) return text
  const address = parseLooseAddress(text)
  return address && printAddress(unmapped(address))
}
