// Resolves names without the thread pool, in which the stores read and write: getaddrinfo() occupies a thread of four for as long as a
// name server is silent. See docs/decisions/0010.

import { Resolver } from "node:dns/promises"
import { isIP, type LookupFunction } from "node:net"

/** Timeout and number of attempts to resolve a name. */
const resolveTimeoutMs = 2_000
const resolveTries = 2

/** IPv4 first. Fails if there are none. */
export async function addressesOf(name: string): Promise<string[]> {
  if (/^(.*\.)?localhost\.?$/i.test(name)) return ["127.0.0.1", "::1"]
  const resolver = new Resolver({ timeout: resolveTimeoutMs, tries: resolveTries })
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
  // Upstream also names the resolver, which here is the operator's: its address would tell tenants about the operator's network.
  if (found.length === 0) throw new Error(`dial tcp: lookup ${name}: no such host`)
  return found
}

/** Option `lookup` of a connection, for a server whose address the operator chose. A connection that is destroyed does not wait for it. */
export const lookupName: LookupFunction = (name, { family, all }, callback) => {
  const asked = family === 4 || family === "IPv4" ? 4 : family === 6 || family === "IPv6" ? 6 : undefined
  const answer = async (): Promise<{ address: string; family: number }[]> => {
    const found = (await addressesOf(name)).map((address) => ({ address, family: isIP(address) }))
    const suitable = found.filter((one) => asked === undefined || one.family === asked)
    if (suitable.length === 0) throw new Error(`dial tcp: lookup ${name}: no such host`)
    return suitable
  }
  answer().then(
    (found) => (all === true ? callback(null, found) : callback(null, found[0]?.address ?? "", found[0]?.family)),
    (error: unknown) => callback(error as Error, ""),
  )
}
