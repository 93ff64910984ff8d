// Limits concurrent TLS handshakes. Otherwise the handshakes of a client that opens a thousand connections at once would mostly
// become ready in the same turn of the event loop, each with a millisecond of work, and delay all other requests, especially those
// that need several turns, such as writes. Before the handshake a client is known only by its network, so waiting connections are
// served round robin over networks: many connections from one network do not delay those from another.
//
//   connection ──▶ waits ──▶ handshake begins ──▶ done or closed: the next one begins
//                                    └──▶ slow: the next one begins, and it is read by turns (slow-handshakes.ts)

import type { Server } from "node:https"
import type { Socket } from "node:net"
import { peerOf } from "../../client/http/connection-limit.ts"
import { Deadlines } from "../request/deadlines.ts"
import { HandshakeRests, networkOf, type ReadHandshake } from "./handshake-rests.ts"
import type { HandshakeLine } from "./new-connections.ts"
import { SlowHandshakes } from "./slow-handshakes.ts"

const defaultLimits = {
  /** Handshakes in progress: the maximum that one turn of the event loop may have to process. */
  maxUnderWay: 4,
  /**
   * A handshake that takes longer waits for its client and no longer counts, so slow clients cannot occupy all places. If all
   * clients are slow, 200 handshakes begin per second.
   */
  patienceMs: 20,
  /** The same for connections that have sent nothing: clients begin as soon as they are connected. */
  silenceMs: 2,
}

type Begin = (this: Server, socket: Socket) => void

interface Handshake extends ReadHandshake {
  readonly socket: Socket
  /** Its network. */
  readonly party: string
  /** By which the secure socket finds it, since that does not expose the socket below it. */
  readonly peer: string
  readonly closed: () => void
  /** Cancel its deadlines. */
  inPatience: () => void
  inSilence: () => void
}

/** Must be called before the server receives its first connection. When the server is closed, handshakes are not waited for. */
export function limitHandshakes(server: Server, limits: Partial<typeof defaultLimits> = {}): HandshakeLine {
  const begin = server.listeners("connection") as Begin[]
  const handshakes = new Handshakes(server, begin, { ...defaultLimits, ...limits })
  server.removeAllListeners("connection")
  server.on("connection", (socket: Socket) => handshakes.add(socket))
  server.on("secureConnection", (socket: Socket) => handshakes.done(peerOf(socket)))
  const close = server.close.bind(server)
  Object.assign(server, {
    close(callback?: (error?: Error) => void) {
      handshakes.cut()
      return close(callback)
    },
  })
  return handshakes
}

class Handshakes implements HandshakeLine {
  readonly #server: Server
  readonly #begin: readonly Begin[]
  readonly #maxUnderWay: number
  readonly #patience: Deadlines
  readonly #silence: Deadlines
  /** By network, in the order of their turns; no set is empty. */
  readonly #waiting = new Map<string, Set<Handshake>>()
  readonly #underWay = new Set<Handshake>()
  readonly #rests = new HandshakeRests(() => this.#next())
  readonly #slow = new SlowHandshakes<Handshake>(this.#rests)
  /** Those under way and the slow ones, by peer. */
  readonly #begun = new Map<string, Handshake>()
  #isScheduled = false
  #emptied: ((network: string) => void) | undefined

  constructor(server: Server, begin: readonly Begin[], limits: typeof defaultLimits) {
    this.#server = server
    this.#begin = begin
    this.#maxUnderWay = limits.maxUnderWay
    this.#patience = new Deadlines(limits.patienceMs)
    this.#silence = new Deadlines(limits.silenceMs)
  }

  isWaiting(network: string): boolean {
    return this.#waiting.has(network)
  }

  whenEmpty(callback: (network: string) => void): void {
    this.#emptied = callback
  }

  add(socket: Socket): void {
    const party = networkOf(socket.remoteAddress)
    const handshake: Handshake = {
      socket,
      party,
      peer: peerOf(socket),
      get bytesRead() {
        return socket.bytesRead
      },
      workedBefore: 0,
      bytesBefore: 0,
      closed: () => this.#end(handshake),
      inPatience: noDeadline,
      inSilence: noDeadline,
    }
    const line = this.#waiting.get(party)
    if (line === undefined) this.#waiting.set(party, new Set([handshake]))
    else line.add(handshake)
    // After its turn the server's own listeners handle errors of the socket.
    socket.on("error", destroyThis)
    socket.once("close", handshake.closed)
    this.#next()
  }

  done(peer: string): void {
    const handshake = this.#begun.get(peer)
    if (handshake !== undefined) this.#end(handshake)
  }

  /** Ends the connections of all, which are no requests yet. */
  cut(): void {
    const waiting = this.#waiting.values().flatMap((line) => line)
    for (const { socket } of [...waiting, ...this.#begun.values()]) socket.destroy()
  }

  #next(): void {
    if (this.#isScheduled || this.#waiting.size === 0 || this.#underWay.size >= this.#maxUnderWay) return
    this.#isScheduled = true
    setImmediate(() => this.#turn())
  }

  /** One per turn of the loop. */
  #turn(): void {
    this.#isScheduled = false
    const handshake = this.#takeNext()
    if (handshake === undefined) return
    this.#start(handshake)
    this.#next()
  }

  /** The next one whose network may begin one. */
  #takeNext(): Handshake | undefined {
    for (const [party, line] of this.#waiting) {
      const [handshake] = line
      if (handshake === undefined || !this.#mayBegin(party)) continue
      // The next network has the next turn.
      this.#waiting.delete(party)
      this.#waiting.set(party, line)
      this.#leaveLine(handshake)
      return handshake
    }
    return undefined
  }

  /** Of a dear network one is under way, so that one turn of the event loop has no more of them to process. */
  #mayBegin(party: string): boolean {
    if (this.#rests.has(party)) return false
    return !this.#rests.isDear(party) || this.#underWay.values().every((other) => other.party !== party)
  }

  #leaveLine(handshake: Handshake): void {
    const { party } = handshake
    const line = this.#waiting.get(party)
    line?.delete(handshake)
    if (line?.size !== 0) return
    this.#waiting.delete(party)
    this.#emptied?.(party)
  }

  #start(handshake: Handshake): void {
    const { socket, peer } = handshake
    const becomesSlow = (): void => this.#becomeSlow(handshake)
    handshake.inPatience = this.#patience.add(becomesSlow)
    handshake.inSilence = this.#silence.add(() => {
      if (socket.bytesRead === 0) becomesSlow()
    })
    this.#underWay.add(handshake)
    this.#begun.set(peer, handshake)
    this.#rests.begin(handshake)
    handshake.bytesBefore = 0 // what its socket has read while it waited is not processed before now
    for (const begin of this.#begin) begin.call(this.#server, socket)
  }

  #becomeSlow(handshake: Handshake): void {
    this.#leaveDeadlines(handshake)
    this.#underWay.delete(handshake)
    this.#rests.charge(handshake)
    this.#slow.add(handshake)
    this.#next()
  }

  #leaveDeadlines({ inPatience, inSilence }: Handshake): void {
    inPatience()
    inSilence()
  }

  /** It is done, or its connection is closed. */
  #end(handshake: Handshake): void {
    const { socket, peer, closed } = handshake
    this.#leaveDeadlines(handshake)
    socket.removeListener("close", closed) // connections are long-lived and must not retain it
    if (this.#begun.get(peer) === handshake) this.#begun.delete(peer)
    if (this.#underWay.delete(handshake)) this.#rests.charge(handshake)
    this.#leaveLine(handshake)
    this.#slow.delete(handshake)
    this.#next()
  }
}

function noDeadline(): void {}

function destroyThis(this: Socket): void {
  this.destroy()
}
