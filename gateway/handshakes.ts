// How many TLS handshakes are under way at the same time. A client that opens a thousand connections at once would otherwise
// have most of them ready in the same turn of the event loop, with a millisecond of work each, and hold up all others, most of all
// who needs several turns, as a write does. Who connects is not known before the handshake but by
// its address: of those that wait, addresses have theirs in turn, so that a crowd from one is passed by who comes from another.
//
//   connection ──▶ waits ──▶ handshake begins ──▶ done, closed, or slow: the next one begins

import type { Server } from "node:https"
import type { Socket } from "node:net"
import { Deadlines } from "./filters/deadlines.ts"

/** Begun and not done: what one turn of the loop may have to do. */
const maxUnderWay = 4

/**
 * Who takes longer waits for its network, and keeps no place: nobody can take all places by being slow. Of clients that are all
 * far away, 200 per second begin.
 */
const patienceMs = 20

type Begin = (this: Server, socket: Socket) => void

/** To be called before the server has its first connection. */
export function limitHandshakes(server: Server, limits = { maxUnderWay, patienceMs }): void {
  const handshakes = new Handshakes(server, server.listeners("connection") as Begin[], limits)
  server.removeAllListeners("connection")
  server.on("connection", (socket: Socket) => handshakes.add(socket))
  server.on("secureConnection", (socket: Socket) => handshakes.done(peerOf(socket)))
}

class Handshakes {
  readonly #server: Server
  readonly #begin: readonly Begin[]
  readonly #maxUnderWay: number
  readonly #slow: Deadlines
  /** By address, in the order of their turns; none of them empty. */
  readonly #waiting = new Map<string | undefined, Set<Socket>>()
  /** Where a socket waits: when it has closed, it has no address any more. */
  readonly #lines = new WeakMap<Socket, string | undefined>()
  /** By peer: a secure socket does not tell which one it stands on. */
  readonly #underWay = new Map<string, () => void>()
  #isScheduled = false
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

  add(socket: Socket): void {
    const { remoteAddress } = socket
    const line = this.#waiting.get(remoteAddress)
    if (line === undefined) this.#waiting.set(remoteAddress, new Set([socket]))
    else line.add(socket)
    this.#lines.set(socket, remoteAddress)
    // What is wrong with it after its turn is seen to by the server's own listeners.
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
    this.#startNext() // one in a turn of the loop
    this.#next()
  }

  #startNext(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    const [address, line] = first
    const [socket] = line
    // Who comes from the next address has the next turn.
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
    if (line?.size === 0) this.#waiting.delete(address)
  }

  #start(socket: Socket): void {
    const peer = peerOf(socket)
    socket.removeListener("close", this.#gone)
    const done = (): void => {
      inTime()
      socket.removeListener("close", done) // a connection lives long: it keeps nothing of its beginning
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

/** No two connections of one server have the same. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
