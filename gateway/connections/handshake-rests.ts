// Whoever's TLS handshake has held the thread rests: the network of a client, or the tenant whose servers are called. OpenSSL verifies
// the signatures of the other side's whole chain before anything of it can be seen, whoever has issued it, and Node has no limit but
// OpenSSL's 100 KiB: 70 RSA keys with long exponents take 430 ms.

import { workedMs } from "../../apimachinery/thread-time.ts"

/** The processor time of an ordinary handshake is a millisecond. */
const longMs = 50

/** Those that have sent less are ordinary: what takes long then is other work in the same turn of the event loop. */
const ordinaryBytes = 8 * 1024

/** The rest is so many times as long as its handshake has taken. */
const restFactor = 5

/** The longest rest: honest clients of the same network wait as long. */
const maxRestMs = 5_000

/** Who has rested is dear for so long after that. */
const dearMs = 60_000

/** A handshake that is read. */
export interface ReadHandshake {
  readonly bytesRead: number
  /** Who rests. */
  readonly party: unknown
  /** Of the thread's processor time, when reading began. */
  workedBefore: number
  /** Bytes that had been read then. */
  bytesBefore: number
}

export class HandshakeRests {
  /** When rests end. At most as many as can be charged during the longest rest. */
  readonly #until = new Map<unknown, number>()
  /** Who has rested, with what forgets that. */
  readonly #dear = new Map<unknown, NodeJS.Timeout>()
  /** The time until then has been charged. */
  #charged = 0
  readonly #ended: () => void
  readonly #workedMs: () => number

  /** `ended` is called when a rest has ended. `worked`: the thread's processor time in milliseconds. */
  constructor(ended: () => void = () => undefined, worked = workedMs) {
    this.#ended = ended
    this.#workedMs = worked
  }

  has(party: unknown): boolean {
    return this.#until.has(party)
  }

  /** Whether it has rested in the last minute: its next handshakes may be as those were. */
  isDear(party: unknown): boolean {
    return this.#dear.has(party)
  }

  /** Its reading begins. */
  begin(handshake: ReadHandshake): void {
    handshake.workedBefore = this.#workedMs()
    handshake.bytesBefore = handshake.bytesRead
  }

  /** It has been read, or has ended. */
  charge(handshake: ReadHandshake): void {
    const { party, bytesRead, bytesBefore, workedBefore } = handshake
    if (bytesRead === bytesBefore || bytesRead < ordinaryBytes) return
    handshake.bytesBefore = bytesRead
    const worked = this.#workedMs()
    const ms = worked - Math.max(workedBefore, this.#charged)
    this.#charged = worked
    if (ms >= longMs) this.#rest(party, Math.min(ms * restFactor, maxRestMs))
  }

  #rest(party: unknown, ms: number): void {
    const until = performance.now() + ms
    if (until <= (this.#until.get(party) ?? 0)) return
    this.#until.set(party, until)
    setTimeout(() => {
      if (this.#until.get(party) !== until) return
      this.#until.delete(party)
      this.#ended()
    }, ms).unref()
    clearTimeout(this.#dear.get(party))
    this.#dear.set(party, setTimeout(() => this.#dear.delete(party), ms + dearMs).unref())
  }
}

/** An IPv4 address, or the 64 bits of an IPv6 address whose owner usually has all addresses that begin so. */
export function networkOf(address = ""): string {
  if (!address.includes(":") || address.includes(".")) return address
  const [head = "", tail] = address.split("%", 1)[0]?.split("::") ?? []
  const before = head === "" ? [] : head.split(":")
  const after = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array<string>(zeros).fill("0"), ...after].slice(0, 4).join(":")
}
