// Resolves names without the thread pool, in which the stores read and write: getaddrinfo() occupies a thread of four for as long as a
// name server is silent. See docs/decisions/0010.

import { lookup, Resolver } from "node:dns/promises"
import { isIP, type LookupFunction } from "node:net"

/** Timeout and number of attempts to resolve a name. */
const resolveTimeoutMs = 2_000
const resolveTries = 2

interface Resolved {
  /** IPv4 first. */
  addresses: string[]
  /** A name server has answered that there are none. */
  isUnknown: boolean
}

async function resolved(name: string): Promise<Resolved> {
  if (/^(.*\.)?localhost\.?$/i.test(name)) return { addresses: ["127.0.0.1", "::1"], isUnknown: false }
  const resolver = new Resolver({ timeout: resolveTimeoutMs, tries: resolveTries })
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  return {
    addresses: answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : [])),
    isUnknown: answers.every((answer) => answer.status === "rejected" && isNoAddress(answer.reason)),
  }
}

const isNoAddress = (error: unknown): boolean =>
  ["ENOTFOUND", "ENODATA"].includes((error as NodeJS.ErrnoException).code ?? "")

// Upstream also names the resolver, which here is the operator's: its address would tell tenants about the operator's network.
const noSuchHost = (name: string): Error => new Error(`dial tcp: lookup ${name}: no such host`)

/** IPv4 first. Fails if there are none. */
export async function addressesOf(name: string): Promise<string[]> {
  const { addresses } = await resolved(name)
  if (addresses.length === 0) throw noSuchHost(name)
  return addresses
}

/**
 * Option `lookup` of a connection, for a server whose address the operator chose. A connection that is destroyed does not wait for it.
 * Names of nodes may be in the operator's hosts file or search domains, which only getaddrinfo() reads: it is asked where a name server has
 * answered that it does not know the name, and so is not silent.
 */
export const lookupName: LookupFunction = (name, { family, all }, callback) => {
  const asked = family === 4 || family === "IPv4" ? 4 : family === 6 || family === "IPv6" ? 6 : 0
  const answer = async (): Promise<{ address: string; family: number }[]> => {
    const { addresses, isUnknown } = await resolved(name)
    if (isUnknown) return lookup(name, { all: true, family: asked })
    const suitable = addresses
      .map((address) => ({ address, family: isIP(address) }))
      .filter((one) => asked === 0 || one.family === asked)
    if (suitable.length === 0) throw noSuchHost(name)
    return suitable
  }
  answer().then(
    (found) => (all === true ? callback(null, found) : callback(null, found[0]?.address ?? "", found[0]?.family)),
    (error: unknown) => callback(error as Error, ""),
  )
}
