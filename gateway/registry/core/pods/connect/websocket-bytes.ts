// The byte stream in the messages of a client's WebSocket. What comes is passed on as it comes, whether its message is complete or not,
// as upstream does; what is sent is one message for each piece.

import { Duplex } from "node:stream"
import { closeTimeoutMs } from "../../../../../client/http/join.ts"
import { gatherSmallPieces } from "../../../../../client/http/small-pieces.ts"
import { ClientFrames, closeCodes, closeFrame, messageHeader, pongFrame } from "./websocket-frames.ts"

export class WebSocketBytes extends Duplex {
  readonly #socket: Duplex
  readonly #frames = new ClientFrames()
  #hasEnded = false
  #hasSentClose = false
  /** A pong is not sent yet. Of the pings that come meanwhile the last is answered then. */
  #isAnswering = false

  /** `socket`: after the handshake; `head`: what has come after it. */
  constructor(socket: Duplex, head: Buffer) {
    super()
    this.#socket = socket
    gatherSmallPieces(socket)
    if (head.length > 0) socket.unshift(head)
    const take = (piece: Buffer): void => this.#take(piece)
    socket.on("data", take)
    socket.on("end", () => {
      this.#end()
      socket.end()
    })
    socket.on("error", () => undefined) // close follows
    socket.once("close", () => {
      socket.off("data", take)
      // What has come while nothing was read.
      for (let rest = socket.read() as Buffer | null; rest !== null; rest = socket.read() as Buffer | null)
        this.#take(rest)
      this.#end()
    })
  }

  override _read(): void {
    this.#socket.resume()
  }

  /** A client that has ended takes nothing more, but what it has sent before is still read. */
  override _write(piece: Buffer, _encoding: string, callback: (error?: Error | null) => void): void {
    if (!this.#socket.writable) {
      callback()
      return
    }
    this.#socket.cork()
    this.#socket.write(messageHeader(piece.length))
    // Not its error: what the client has sent before it left is still read.
    this.#socket.write(piece, () => callback())
    this.#socket.uncork()
  }

  /** Called back when all has been sent. */
  override _final(callback: () => void): void {
    const socket = this.#socket
    if (socket.writable) this.#sendClose(closeCodes.normal, callback)
    else if (socket.destroyed || socket.writableFinished) callback()
    else socket.once("close", callback)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#socket.destroy()
    callback(error)
  }

  #take(piece: Buffer): void {
    if (this.#hasEnded) return
    const bytes = this.#frames.read(piece)
    if (bytes.length > 0 && !this.push(bytes)) this.#socket.pause()
    if (this.#frames.closeCode === undefined) this.#answer()
    else this.#close(this.#frames.closeCode)
  }

  #answer(): void {
    const { ping } = this.#frames
    if (ping === undefined || this.#isAnswering || this.#hasSentClose || !this.#socket.writable) return
    this.#frames.ping = undefined
    this.#isAnswering = true
    this.#socket.write(pongFrame(ping), () => {
      this.#isAnswering = false
      this.#answer()
    })
  }

  /** The client has ended the stream, or what it sends cannot be read. */
  #close(code: number): void {
    const socket = this.#socket
    if (!socket.destroyed) {
      const late = setTimeout(() => socket.destroy(), closeTimeoutMs).unref()
      socket.once("close", () => clearTimeout(late))
      if (socket.writable) this.#sendClose(code)
      socket.end()
    }
    this.#end()
  }

  #sendClose(code: number, sent: () => void = () => undefined): void {
    if (this.#hasSentClose) return sent()
    this.#hasSentClose = true
    this.#socket.write(closeFrame(code), () => sent())
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.push(null)
    this.#socket.resume() // a connection that is closed with unread bytes is reset
  }
}
