// An HTTP/2 response with the methods, properties and events of an HTTP/1.1 response that the gateway uses (filters/chain.ts). It
// writes to Node's stream directly, and its events are those of the stream. With Node's own class (http2.Http2ServerResponse) a get
// costs half as much again.

import type { EventEmitter } from "node:events"
import type { OutgoingHttpHeader, OutgoingHttpHeaders } from "node:http"
import { constants, type ServerHttp2Stream } from "node:http2"
import { dictionary } from "../../apimachinery/dictionary.ts"
import type { RequestState } from "../filters/state.ts"
import type { StreamRequest } from "./stream-request.ts"

/** Connection-specific headers of HTTP/1.1, which are forbidden in HTTP/2 (RFC 9113, section 8.2.2). */
const connectionHeaders: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
])

/** A shared instance: creating one per response would cost more than the rest. */
const cutOff = new Error("the answer is cut off")

type Callback = () => void
type Listener = Parameters<EventEmitter["on"]>[1]

export class StreamResponse {
  readonly locals = {} as { state: RequestState }
  readonly req: StreamRequest
  readonly isEnding = false
  statusCode = 200
  /** HTTP/2 has no status message. */
  statusMessage = ""
  /** Bytes of the body, without HTTP framing. */
  sentBytes = 0
  readonly #stream: ServerHttp2Stream
  readonly #headers: OutgoingHttpHeaders = dictionary({})
  /** writeHead() has been called. */
  #hasHead = false
  #hasBegun = false
  /** Not the stream's: Node ends the stream of a HEAD request before it is answered. */
  #hasEnded = false
  #waitsForTrailers = false
  #trailers: OutgoingHttpHeaders | undefined

  /** Node creates one per stream, with `new`. */
  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream
    this.req = stream
  }

  /** As over HTTP/1, from when it has been decided what they are. */
  get headersSent(): boolean {
    return this.#hasHead || this.#hasBegun
  }
  get destroyed(): boolean {
    return this.#stream.destroyed
  }
  get writable(): boolean {
    return this.#stream.writable
  }
  get writableEnded(): boolean {
    return this.#hasEnded
  }
  get writableFinished(): boolean {
    return this.#stream.writableFinished
  }
  get writableNeedDrain(): boolean {
    return this.#stream.writableNeedDrain
  }
  get writableLength(): number {
    return this.#stream.writableLength
  }
  get socket(): unknown {
    return this.#stream.session?.socket
  }

  setHeader(name: string, value: OutgoingHttpHeader): this {
    const lower = name.toLowerCase()
    if (!connectionHeaders.has(lower)) this.#headers[lower] = value
    return this
  }

  appendHeader(name: string, value: string | readonly string[]): this {
    const before = this.getHeader(name)
    return this.setHeader(name, before === undefined ? [...asList(value)] : [...asList(before), ...asList(value)])
  }

  getHeader(name: string): OutgoingHttpHeader | undefined {
    return this.#headers[name.toLowerCase()]
  }

  hasHeader(name: string): boolean {
    return this.getHeader(name) !== undefined
  }

  getHeaderNames(): string[] {
    return Object.keys(this.#headers)
  }

  removeHeader(name: string): void {
    delete this.#headers[name.toLowerCase()]
  }

  /** Sets headers that the response does not have yet; names in lower case. */
  stand(headers: Readonly<Record<string, string>>): void {
    for (const name in headers) this.#headers[name] ??= headers[name]
  }

  /** The default of one header, or what it was set to before. */
  standing(name: string): string | undefined {
    const value = this.#headers[name]
    return typeof value === "string" ? value : undefined
  }

  writeHead(code: number, reason?: string | OutgoingHttpHeaders, headers?: OutgoingHttpHeaders): this {
    this.#hasHead = true
    this.statusCode = code
    const given = typeof reason === "object" ? reason : headers
    for (const name in given) this.setHeader(name, given[name] ?? "")
    return this
  }

  writeContinue(): void {
    if (!this.#hasBegun) this.#stream.additionalHeaders({ ":status": constants.HTTP_STATUS_CONTINUE })
  }

  /** Any informational answer but 101, before the response begins. `headers`: names, in lower case, each with its value behind it. */
  writeInformation(code: number, headers: readonly string[]): void {
    const stream = this.#stream
    if (this.#hasBegun || stream.destroyed || stream.closed) return
    const sent: OutgoingHttpHeaders = dictionary({ ":status": code })
    for (let at = 0; at + 1 < headers.length; at += 2) {
      const [name = "", value = ""] = headers.slice(at, at + 2)
      const before = sent[name]
      if (!connectionHeaders.has(name)) sent[name] = before === undefined ? value : [...asList(before), value]
    }
    stream.additionalHeaders(sent)
  }

  /** Must be called before the response begins, if only with none, and may be called again until it ends. */
  addTrailers(trailers: readonly (readonly [string, string])[]): void {
    const own: OutgoingHttpHeaders = (this.#trailers ??= dictionary({}))
    for (const [name, value] of trailers) {
      const lower = name.toLowerCase()
      const before = own[lower]
      if (!connectionHeaders.has(lower)) own[lower] = before === undefined ? value : `${String(before)}, ${value}`
    }
  }

  flushHeaders(): void {
    this.#begin(false)
  }

  write(chunk: string | Uint8Array, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
    this.#begin(false)
    this.#count(chunk, encoding)
    const stream = this.#stream
    // The response to a HEAD ends with its headers.
    if (stream.writableEnded) return true
    return typeof encoding === "string" ? stream.write(chunk, encoding, callback) : stream.write(chunk, encoding)
  }

  end(...given: readonly unknown[]): this {
    const stream = this.#stream
    if (this.#hasEnded) return this
    this.#hasEnded = true
    const [chunk, encoding] = given
    const isEmpty = chunk === undefined || chunk === null || typeof chunk === "function" || chunk === ""
    if (!isEmpty) this.#count(chunk as string | Uint8Array, encoding)
    this.#begin(isEmpty)
    if (!stream.writableEnded) stream.end(...(given as []))
    // Without this the request would last until its client has sent the rest of its body. As in Go's server.
    if (!this.#waitsForTrailers && !stream.endAfterHeaders && !stream.readableEnded)
      stream.once("finish", () => stream.close())
    return this
  }

  /** Without an error Node would end the stream as if the body were complete. */
  destroy(error = cutOff): this {
    this.#stream.destroy(error)
    return this
  }

  cork(): void {
    this.#stream.cork()
  }

  uncork(): void {
    this.#stream.uncork()
  }

  on(event: string, listener: Listener): this {
    this.#stream.on(event, listener)
    return this
  }

  once(event: string, listener: Listener): this {
    this.#stream.once(event, listener)
    return this
  }

  off(event: string, listener: Listener): this {
    this.#stream.off(event, listener)
    return this
  }

  addListener(event: string, listener: Listener): this {
    return this.on(event, listener)
  }

  removeListener(event: string, listener: Listener): this {
    return this.off(event, listener)
  }

  prependListener(event: string, listener: Listener): this {
    this.#stream.prependListener(event, listener)
    return this
  }

  listenerCount(event: string): number {
    return this.#stream.listenerCount(event)
  }

  emit(event: string, ...values: unknown[]): boolean {
    return (this.#stream as EventEmitter).emit(event, ...values)
  }

  #count(chunk: string | Uint8Array, encoding: unknown): void {
    this.sentBytes +=
      typeof chunk === "string"
        ? Buffer.byteLength(chunk, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8")
        : chunk.byteLength
  }

  /** `isWhole`: there is no body. */
  #begin(isWhole: boolean): void {
    const stream = this.#stream
    if (this.#hasBegun || stream.destroyed || stream.closed) return
    this.#hasBegun = true
    const waitForTrailers = !isWhole && this.#trailers !== undefined
    this.#waitsForTrailers = waitForTrailers
    if (waitForTrailers) stream.once("wantTrailers", () => this.#sendTrailers())
    stream.respond({ ":status": this.statusCode, ...this.#headers }, { endStream: isWhole, waitForTrailers })
  }

  #sendTrailers(): void {
    const stream = this.#stream
    if (stream.closed || stream.destroyed) return
    try {
      stream.sendTrailers(this.#trailers ?? {})
    } catch {
      stream.sendTrailers({}) // Node takes some of them for none; the answer is whole without them
    }
    // As above. They are sent when this event is over.
    if (!stream.readableEnded) setImmediate(() => stream.close())
  }
}

function asList(value: OutgoingHttpHeader | readonly string[]): readonly string[] {
  return typeof value === "object" ? value : [String(value)]
}
