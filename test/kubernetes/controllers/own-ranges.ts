// Ranges of addresses that a scenario has for itself each time it is played: ServiceCIDRs and IPAddresses are of the whole cluster.

export interface OwnRanges {
  /** Three numbers of four. */
  four: string
  /** All but the last. */
  six: string
}

/** The same on both sides. None is in the range of a cluster's Services. */
export function ownRanges(namespace: string): OwnRanges {
  let hash = 0
  for (const letter of namespace) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) >>> 0
  // No zeros, which an address of six leaves out.
  const [first, second] = [128 + (hash % 64), 1 + ((hash >>> 6) % 255)]
  return { four: `10.${first}.${second}`, six: `fd01:0:${first}:${second}` }
}
