// Handshakes that wait for the other side. What comes next may be a chain of certificates that holds the thread for half a second
// (handshake-rests.ts), and nothing runs between two connections that are ready in the same turn of the event loop. So only a few are
// read at the same time, each of another party: the network of a client, or the tenant whose servers are called. If there are more, they
// take turns: parties do, and the handshakes of each.

import type { Duplex } from "node:stream"
import type { HandshakeRests, ReadHandshake } from "./handshake-rests.ts"

/** What Node does not publish: how reading from a connection that a TLS socket owns is stopped. */
type Readable = Duplex & { readonly _handle?: { readStart(): void; readStop(): void } | null }

/** Those that are read at the same time. */
export const maxRead = 8

/** After this time the next ones are read, if there are more: of 1,000 of a party, each is read once per second. */
const stepMs = 1

/** The same if there are no more, so that what happens while one is read is measured often enough. */
const idleStepMs = 20

interface SlowHandshake extends ReadHandshake {
  readonly socket: Readable
}

export class SlowHandshakes<H extends SlowHandshake> {
  readonly #rests: Pick<HandshakeRests, "has" | "begin" | "charge">
  /** By party, in the order of their turns; no set is empty. */
  readonly #parties = new Map<unknown, Set<H>>()
  /** At most one of each party. */
  #read = new Set<H>()
  #size = 0
  #timer: NodeJS.Timeout | undefined
  #pace = 0

  /** Nothing is read from parties that rest. */
  constructor(rests: Pick<HandshakeRests, "has" | "begin" | "charge">) {
    this.#rests = rests
  }

  /** One that is read becomes slow. */
  add(handshake: H): void {
    const { party, socket } = handshake
    const others = this.#parties.get(party)
    if (others === undefined) this.#parties.set(party, new Set([handshake]))
    else others.add(handshake)
    this.#size++
    if (others === undefined && this.#read.size < maxRead && !this.#rests.has(party)) this.#startReading(handshake)
    else setReading(socket, false)
    this.#arm()
  }

  /** It has ended, and is read from now on. */
  delete(handshake: H): void {
    const { party } = handshake
    const others = this.#parties.get(party)
    if (others?.delete(handshake) !== true) return
    if (others.size === 0) this.#parties.delete(party)
    if (this.#read.delete(handshake)) this.#rests.charge(handshake)
    else setReading(handshake.socket, true)
    this.#size--
  }

  #startReading(handshake: H): void {
    this.#read.add(handshake)
    this.#rests.begin(handshake)
  }

  #arm(): void {
    if (this.#size === 0) return
    const pace = this.#size > this.#read.size ? stepMs : idleStepMs
    if (this.#timer !== undefined && this.#pace <= pace) return
    clearTimeout(this.#timer)
    this.#pace = pace
    this.#timer = setTimeout(() => this.#step(), pace).unref()
  }

  #step(): void {
    this.#timer = undefined
    const before = this.#read
    for (const handshake of before) this.#rests.charge(handshake)
    this.#read = new Set()
    for (const party of this.#nextParties()) {
      const handshake = this.#nextOf(party)
      if (!before.delete(handshake)) setReading(handshake.socket, true)
      this.#startReading(handshake)
    }
    for (const { socket } of before) setReading(socket, false)
    this.#arm()
  }

  #nextParties(): readonly unknown[] {
    const next: unknown[] = []
    for (const party of this.#parties.keys()) {
      if (next.length === maxRead) break
      if (!this.#rests.has(party)) next.push(party)
    }
    return next
  }

  /** Then others have the next turns: those of its party, and other parties. */
  #nextOf(party: unknown): H {
    const line = this.#parties.get(party) ?? new Set()
    const [handshake] = line
    if (handshake === undefined) throw new RangeError("a party without handshakes")
    line.delete(handshake)
    line.add(handshake)
    this.#parties.delete(party)
    this.#parties.set(party, line)
    return handshake
  }
}

function setReading(socket: Readable, isRead: boolean): void {
  const { _handle: handle } = socket
  if (handle === undefined) socket[isRead ? "resume" : "pause"]() // it has no handle, and TLS reads its stream
  else handle?.[isRead ? "readStart" : "readStop"]()
}
