// The allocated addresses of an IPv4 network and ports of a range. They are kept in memory only, because the services contain them.

/** An IPv4 network as offsets from its first address. The first and the last address are not allocated. */
export class AddressRange {
  readonly #base: number
  readonly #taken = new Set<number>()
  readonly size: number
  /** As it prints: 10.96.0.0/16. */
  readonly cidr: string
  /** Its first address, which belongs to nobody. */
  readonly network: string

  constructor(cidr: string) {
    const [address = "", bits = ""] = cidr.split("/")
    const base = parseIPv4(address)
    const prefix = Number(bits)
    if (base === undefined || !/^\d+$/.test(bits) || prefix < 8 || prefix > 30) {
      throw new TypeError(`"${cidr}" is not an IPv4 network between /8 and /30`)
    }
    this.size = 2 ** (32 - prefix)
    this.#base = base - (base % this.size)
    this.network = printIPv4(this.#base)
    this.cidr = `${this.network}/${prefix}`
  }

  contains(address: string): boolean {
    return this.#offset(address) !== undefined
  }

  /** False if it is already allocated. The caller has checked that it is in the range. */
  take(address: string): boolean {
    const offset = this.#offset(address)
    if (offset === undefined || this.#taken.has(offset)) return false
    this.#taken.add(offset)
    return true
  }

  /** Allocates any free address, preferably from the upper part: the lower part is reserved for requests of specific addresses. */
  takeAny(): string | undefined {
    const reserved = Math.min(Math.max(16, Math.floor(this.size / 16)), 256, this.size - 2)
    const offset = this.#free(reserved, this.size - 1) ?? this.#free(1, reserved)
    if (offset === undefined) return undefined
    this.#taken.add(offset)
    return printIPv4(this.#base + offset)
  }

  release(address: string): void {
    const offset = this.#offset(address)
    if (offset !== undefined) this.#taken.delete(offset)
  }

  #offset(address: string): number | undefined {
    const value = parseIPv4(address)
    if (value === undefined) return undefined
    const offset = value - this.#base
    return offset > 0 && offset < this.size - 1 ? offset : undefined
  }

  #free(from: number, to: number): number | undefined {
    return anyFree(this.#taken, from, to)
  }
}

export class PortRange {
  readonly from: number
  readonly to: number
  readonly #taken = new Set<number>()

  /** Inclusive. */
  constructor(from: number, to: number) {
    this.from = from
    this.to = to
  }

  contains(port: number): boolean {
    return port >= this.from && port <= this.to
  }

  take(port: number): boolean {
    if (this.#taken.has(port)) return false
    this.#taken.add(port)
    return true
  }

  isTaken(port: number): boolean {
    return this.#taken.has(port)
  }

  /** Preferably from the upper part, as for addresses. */
  takeAny(): number | undefined {
    const size = this.to - this.from + 1
    const reserved = size <= 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128)
    const lower = this.from + reserved
    const port = anyFree(this.#taken, lower, this.to + 1) ?? anyFree(this.#taken, this.from, lower)
    if (port !== undefined) this.#taken.add(port)
    return port
  }

  release(port: number): void {
    this.#taken.delete(port)
  }
}

/** A free number in [from, to), starting at a random place so that a released one is not reused immediately. */
function anyFree(taken: ReadonlySet<number>, from: number, to: number): number | undefined {
  const length = to - from
  const start = Math.floor(Math.random() * length)
  for (let step = 0; step < length; step++) {
    const value = from + ((start + step) % length)
    if (!taken.has(value)) return value
  }
  return undefined
}

function parseIPv4(text: string): number | undefined {
  const parts = text.split(".")
  if (parts.length !== 4 || parts.some((part) => !/^\d{1,3}$/.test(part) || Number(part) > 255)) return undefined
  return parts.reduce((value, part) => value * 256 + Number(part), 0)
}

function printIPv4(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".")
}
