// The addresses to which the gateway connects on behalf of a tenant (a webhook's URL, an EndpointSlice without pods): public ones,
// and those that the operator allows. All others are reachable by the gateway but not by the tenant: its loopback addresses, the
// machine's metadata service, the operator's network. See docs/decisions/0010.

import { BlockList, isIP } from "node:net"
import { addressesOf } from "./names.ts"

/** Networks that are not globally routable, or lead to such. Source: IANA's registries of special-purpose addresses. */
const special = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::/128",
  "::1/128",
  // They contain IPv4 addresses, including forbidden ones.
  "::/96",
  "::ffff:0:0:0/96",
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  // All others outside of 2000::/3, the only global ones, with the exception of ::ffff:0:0/96: those are checked as IPv4 addresses.
  "100::/8",
  "200::/7",
  "400::/6",
  "800::/5",
  "1000::/4",
  "4000::/2",
  "8000::/1",
]

/** Additionally allowed if gateway and tenants are used by the same developers. Without link-local addresses: metadata service. */
export const localNetworks: readonly string[] = [
  "127.0.0.0/8",
  "::1/128",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "fc00::/7",
]

export class NetworkRules {
  readonly #refused = listOf(special)
  readonly #allowed: BlockList

  /** `allowed`: networks as "10.1.0.0/16", or single addresses, that are allowed although they are not public. Throws TypeError. */
  constructor(allowed: readonly string[] = []) {
    this.#allowed = listOf(allowed)
  }

  isAllowed(address: string): boolean {
    const family = isIP(address) === 6 ? "ipv6" : "ipv4"
    return this.#allowed.check(address, family) || !this.#refused.check(address, family)
  }

  /**
   * Returns an allowed address of the host. The caller must connect to this address, since another lookup of the name may have a
   * different result.
   */
  async resolve(host: string): Promise<string> {
    const addresses = isIP(host) === 0 ? await addressesOf(host) : [host]
    const allowed = addresses.find((address) => this.isAllowed(address))
    if (allowed === undefined) throw new Error(`dial tcp: ${host}: address not allowed`)
    return allowed
  }
}

export const isNetwork = (text: string): boolean => parseNetwork(text) !== undefined

function parseNetwork(text: string): { address: string; bits: number; family: "ipv4" | "ipv6" } | undefined {
  const [address = "", prefix, ...more] = text.split("/")
  const version = isIP(address)
  const most = version === 6 ? 128 : 32
  const bits = prefix === undefined ? most : Number(prefix)
  if (version === 0 || more.length > 0 || !/^\d+$/.test(prefix ?? "0") || bits > most) return undefined
  return { address, bits, family: version === 6 ? "ipv6" : "ipv4" }
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of networks) {
    const network = parseNetwork(text)
    if (network === undefined) throw new TypeError(`"${text}" is no network: write 10.1.0.0/16, fd00::/8 or an address`)
    list.addSubnet(network.address, network.bits, network.family)
  }
  return list
}
