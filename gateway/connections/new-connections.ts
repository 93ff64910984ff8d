// A client whose requests each open a connection costs a handshake each time, and who it is shows only afterwards. Handshakes wait in
// one line per network (handshakes.ts), which tenants share if something between hides their clients' addresses. A tenant with many
// new connections must not fill that line with the next ones: the first requests on its connections wait here until nobody waits
// for a handshake from that network. Clients that wait for an answer open no more connections meanwhile.

import type { Socket } from "node:net"
import { Deadlines } from "../request/deadlines.ts"
import type { Party } from "../request/turns.ts"
import { networkOf } from "./handshake-rests.ts"

/** Connections of a tenant per second whose first request does not wait. */
const freePerSecond = 20
/** A first request waits no longer, even if handshakes always wait. */
const patienceMs = 5_000

/** The line of handshakes. */
export interface HandshakeLine {
  /** Whether connections from this network wait for their handshake. */
  isWaiting(network: string): boolean
  /** Called when that is no longer so. */
  whenEmpty(callback: (network: string) => void): void
}

type Waiting = Set<() => void>

export class NewConnections {
  #line: HandshakeLine | undefined
  readonly #known = new WeakSet<Socket>()
  readonly #recent = new WeakMap<Party, { second: number; count: number }>()
  /** By network, in the order of their turns. No map or set is empty. */
  readonly #held = new Map<string, Map<Party, Waiting>>()
  /** Networks whose next one continues in the next turn of the event loop. */
  readonly #releasing = new Set<string>()
  readonly #deadlines: Deadlines

  readonly #now: () => number

  /** `now`: a clock in milliseconds. */
  constructor(limits = { patienceMs }, now: () => number = () => performance.now()) {
    this.#now = now
    this.#deadlines = new Deadlines(limits.patienceMs)
  }

  follow(line: HandshakeLine): void {
    this.#line = line
    line.whenEmpty((network) => this.#releaseSoon(network))
  }

  /**
   * Called for each request, when it is known whose it is. Returns undefined if it may continue; otherwise the promise resolves when it
   * may, or when it has ended. `whenDone` calls back when it has ended.
   */
  take(who: Party, socket: Socket, whenDone: (callback: () => void) => void): Promise<void> | undefined {
    if (this.#known.has(socket)) return undefined
    this.#known.add(socket)
    const network = networkOf(socket.remoteAddress)
    if (this.#isFree(who) || this.#line?.isWaiting(network) !== true) return undefined
    return new Promise((resolve) => {
      const release = (): void => {
        cancel()
        this.#remove(network, who, release)
        resolve()
      }
      const cancel = this.#deadlines.add(release)
      this.#add(network, who, release)
      whenDone(release)
    })
  }

  #isFree(who: Party): boolean {
    const second = Math.floor(this.#now() / 1000)
    const recent = this.#recent.get(who)
    if (recent?.second === second) return ++recent.count <= freePerSecond
    this.#recent.set(who, { second, count: 1 })
    return true
  }

  #add(network: string, who: Party, release: () => void): void {
    let parties = this.#held.get(network)
    if (parties === undefined) this.#held.set(network, (parties = new Map()))
    const waiting = parties.get(who)
    if (waiting === undefined) parties.set(who, new Set([release]))
    else waiting.add(release)
  }

  #remove(network: string, who: Party, release: () => void): void {
    const parties = this.#held.get(network)
    const waiting = parties?.get(who)
    waiting?.delete(release)
    if (waiting?.size === 0) parties?.delete(who)
    if (parties?.size === 0) this.#held.delete(network)
  }

  #releaseSoon(network: string): void {
    if (!this.#held.has(network) || this.#releasing.has(network)) return
    this.#releasing.add(network)
    setImmediate(() => {
      this.#releasing.delete(network)
      this.#releaseNext(network)
    })
  }

  /** One per turn of the event loop: what it causes may be the next handshake. */
  #releaseNext(network: string): void {
    const parties = this.#held.get(network)
    const [first] = parties ?? []
    if (parties === undefined || first === undefined || this.#line?.isWaiting(network) === true) return
    const [who, waiting] = first
    const [release] = waiting
    // The next tenant has the next turn.
    parties.delete(who)
    parties.set(who, waiting)
    release?.()
    this.#releaseSoon(network)
  }
}
