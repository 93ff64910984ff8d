// Ranges of addresses that a scenario has for itself each time it is played: ServiceCIDRs and IPAddresses are of the whole cluster.

export interface OwnRange {
  /** Three numbers of four. */
  four: string
  /** All but the last. */
  six: string
}

/** For how many scenarios there are any: the second number of four, and the third. */
const [seconds, thirds] = [64, 255]

/** Of a pair of clusters: a scenario has the same on both sides. */
export class OwnRanges {
  readonly #byNamespace = new Map<string, OwnRange>()

  /** None is in the range of a cluster's Services. */
  of(namespace: string): OwnRange {
    const known = this.#byNamespace.get(namespace)
    if (known !== undefined) return known
    const index = this.#byNamespace.size
    if (index >= seconds * thirds) throw new Error(`no range is left for ${namespace}`)
    // No zeros, which an address of six leaves out.
    const [first, second] = [128 + Math.floor(index / thirds), 1 + (index % thirds)]
    const range = { four: `10.${first}.${second}`, six: `fd01:0:${first}:${second}` }
    this.#byNamespace.set(namespace, range)
    return range
  }
}
