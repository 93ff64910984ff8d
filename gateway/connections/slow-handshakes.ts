// Handshakes that wait for their clients. What comes next may be a chain of certificates that holds the thread for half a second
// (network-rests.ts), and nothing runs between two connections that are ready in the same turn of the event loop. So only a few are read
// at the same time, each of another network. If there are more, they take turns: networks do, and the handshakes of each.

import type { Socket } from "node:net"
import type { NetworkRests, ReadHandshake } from "./network-rests.ts"

/** What Node does not publish: how reading from a connection that a TLS socket owns is stopped. */
type Readable = Socket & { readonly _handle?: { readStart(): void; readStop(): void } | null }

/** Those that are read at the same time. */
export const maxRead = 8

/** After this time the next ones are read, if there are more: of 1,000 of a network, each is read once per second. */
const stepMs = 1

/** The same if there are no more, so that what happens while one is read is measured often enough. */
const idleStepMs = 20

interface SlowHandshake extends ReadHandshake {
  readonly socket: Readable
}

export class SlowHandshakes<H extends SlowHandshake> {
  readonly #rests: Pick<NetworkRests, "has" | "begin" | "charge">
  /** By network, in the order of their turns; no set is empty. */
  readonly #networks = new Map<string, Set<H>>()
  /** At most one of each network. */
  #read = new Set<H>()
  #size = 0
  #timer: NodeJS.Timeout | undefined
  #pace = 0

  /** Nothing is read from networks that rest. */
  constructor(rests: Pick<NetworkRests, "has" | "begin" | "charge">) {
    this.#rests = rests
  }

  /** One that is read becomes slow. */
  add(handshake: H): void {
    const { network, socket } = handshake
    const others = this.#networks.get(network)
    if (others === undefined) this.#networks.set(network, new Set([handshake]))
    else others.add(handshake)
    this.#size++
    if (others === undefined && this.#read.size < maxRead && !this.#rests.has(network)) this.#startReading(handshake)
    else socket._handle?.readStop()
    this.#arm()
  }

  /** It has ended. */
  delete(handshake: H): void {
    const { network } = handshake
    const others = this.#networks.get(network)
    if (others?.delete(handshake) !== true) return
    if (others.size === 0) this.#networks.delete(network)
    this.#read.delete(handshake)
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
    for (const network of this.#nextNetworks()) {
      const handshake = this.#nextOf(network)
      if (!before.delete(handshake)) handshake.socket._handle?.readStart()
      this.#startReading(handshake)
    }
    for (const { socket } of before) socket._handle?.readStop()
    this.#arm()
  }

  #nextNetworks(): readonly string[] {
    const next: string[] = []
    for (const network of this.#networks.keys()) {
      if (next.length === maxRead) break
      if (!this.#rests.has(network)) next.push(network)
    }
    return next
  }

  /** Then others have the next turns: those of its network, and other networks. */
  #nextOf(network: string): H {
    const line = this.#networks.get(network) ?? new Set()
    const [handshake] = line
    if (handshake === undefined) throw new RangeError(`no slow handshakes of ${network}`)
    line.delete(handshake)
    line.add(handshake)
    this.#networks.delete(network)
    this.#networks.set(network, line)
    return handshake
  }
}
