// Limits concurrent TLS handshakes. Otherwise the handshakes of a client that opens a thousand connections at once would mostly
// become ready in the same turn of the event loop, each with a millisecond of work, and delay all other requests, especially those
// that need several turns, such as writes. Before the handshake a client is known only by its address, so waiting connections are
// served round robin over addresses: many connections from one address do not delay those from another.
//
//   connection ──▶ waits ──▶ handshake begins ──▶ done, closed, or slow: the next one begins

import type { Server } from "node:https"
import type { Socket } from "node:net"
import { peerOf } from "../../client/http/connection-limit.ts"
import { Deadlines } from "../request/deadlines.ts"
import type { HandshakeLine } from "./new-connections.ts"

/** Handshakes in progress: the maximum that one turn of the event loop may have to process. */
const maxUnderWay = 4

/**
 * A handshake that takes longer waits for its network and no longer counts, so slow clients cannot occupy all places. If all
 * clients are slow, 200 handshakes begin per second.
 */
const patienceMs = 20

type Begin = (this: Server, socket: Socket) => void

/** Must be called before the server receives its first connection. */
export function limitHandshakes(server: Server, limits = { maxUnderWay, patienceMs }): HandshakeLine {
  const handshakes = new Handshakes(server, server.listeners("connection") as Begin[], limits)
  server.removeAllListeners("connection")
  server.on("connection", (socket: Socket) => handshakes.add(socket))
  server.on("secureConnection", (socket: Socket) => handshakes.done(peerOf(socket)))
  return handshakes
}

class Handshakes implements HandshakeLine {
  readonly #server: Server
  readonly #begin: readonly Begin[]
  readonly #maxUnderWay: number
  readonly #slow: Deadlines
  /** Waiting sockets by address, in the order of their turns; no set is empty. */
  readonly #waiting = new Map<string | undefined, Set<Socket>>()
  /** The address under which a socket waits: a closed socket no longer has an address. */
  readonly #lines = new WeakMap<Socket, string | undefined>()
  /** By peer, since a secure socket does not expose the socket below it. */
  readonly #underWay = new Map<string, () => void>()
  #isScheduled = false
  #emptied: ((address: string | undefined) => void) | undefined
  readonly #gone: (this: Socket) => void

  constructor(server: Server, begin: readonly Begin[], limits: { maxUnderWay: number; patienceMs: number }) {
    this.#server = server
    this.#begin = begin
    this.#maxUnderWay = limits.maxUnderWay
    this.#slow = new Deadlines(limits.patienceMs)
    const forget = (socket: Socket): void => this.#forget(socket)
    const gone = function (this: Socket): void {
      forget(this)
    }
    this.#gone = gone
  }

  isWaiting(address: string | undefined): boolean {
    return this.#waiting.has(address)
  }

  whenEmpty(callback: (address: string | undefined) => void): void {
    this.#emptied = callback
  }

  add(socket: Socket): void {
    const { remoteAddress } = socket
    const line = this.#waiting.get(remoteAddress)
    if (line === undefined) this.#waiting.set(remoteAddress, new Set([socket]))
    else line.add(socket)
    this.#lines.set(socket, remoteAddress)
    // After its turn the server's own listeners handle errors of the socket.
    socket.on("error", destroyThis)
    socket.once("close", this.#gone)
    this.#next()
  }

  done(peer: string): void {
    this.#underWay.get(peer)?.()
  }

  #next(): void {
    if (this.#isScheduled || this.#waiting.size === 0 || this.#underWay.size >= this.#maxUnderWay) return
    this.#isScheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isScheduled = false
    this.#startNext() // one per turn of the loop
    this.#next()
  }

  #startNext(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    const [address, line] = first
    const [socket] = line
    // The next address has the next turn.
    this.#waiting.delete(address)
    this.#waiting.set(address, line)
    if (socket === undefined) return
    this.#forget(socket)
    this.#start(socket)
  }

  #forget(socket: Socket): void {
    const address = this.#lines.get(socket)
    const line = this.#waiting.get(address)
    line?.delete(socket)
    if (line?.size !== 0) return
    this.#waiting.delete(address)
    this.#emptied?.(address)
  }

  #start(socket: Socket): void {
    const peer = peerOf(socket)
    socket.removeListener("close", this.#gone)
    const done = (): void => {
      inTime()
      socket.removeListener("close", done) // connections are long-lived and must not retain this closure
      if (this.#underWay.get(peer) !== done) return
      this.#underWay.delete(peer)
      this.#next()
    }
    const inTime = this.#slow.add(done)
    this.#underWay.set(peer, done)
    socket.once("close", done)
    for (const begin of this.#begin) begin.call(this.#server, socket)
  }
}

function destroyThis(this: Socket): void {
  this.destroy()
}
