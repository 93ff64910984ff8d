// Runs the filters in order. A filter answers the request or calls next(). `fail` answers errors that it throws, synchronously or
// not. This is express's contract without express, which costs more than all filters together (decision 0011).

import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"
import { pageNotFound } from "../../apimachinery/text-errors.ts"
import type { RequestState } from "./state.ts"

export type GatewayRequest = IncomingMessage & { method: string; url: string }

/**
 * Number of bytes at the end of a long response that are held back until the rest has been sent. A client has the whole response when
 * its last byte arrives, and may send its next request before Node knows that the byte has left. Node considers the client of a
 * connection with more than 64 KiB of unsent data as slow and pauses its parser. Over TLS, parsing of request data that has already
 * been read then fails ("Parse Error: Paused"), which ends the connection.
 */
const lastBytes = 16 * 1024

/** With so much unsent data, and its headers, a response is far from that limit, and is written at once. */
const briefBytes = 48 * 1024

/** Node's response, with a field for the state of the filters. */
export class GatewayResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  readonly locals = {} as { state: RequestState }
  /** Bytes of the body, without HTTP's framing. */
  sentBytes = 0
  #standing: Readonly<Record<string, string>> | undefined
  /** end() has been called; the response ends when all written data has been sent. */
  isEnding = false

  /**
   * Default headers of the response. Names are in lower case, here and in writeHead. Like setHeader, but without the cost of
   * building Node's header table.
   */
  stand(headers: Readonly<Record<string, string>>): void {
    this.#standing = this.#standing === undefined ? headers : { ...this.#standing, ...headers }
  }

  /** Such a header has no default any more, either. */
  override removeHeader(name: string): void {
    super.removeHeader(name)
    if (this.#standing === undefined || !Object.hasOwn(this.#standing, name)) return
    const { [name]: _, ...others } = this.#standing
    this.#standing = others
  }

  /** Includes those that have only a default. */
  override getHeaderNames(): string[] {
    return [...new Set([...super.getHeaderNames(), ...Object.keys(this.#standing ?? {})])]
  }

  /** The default of one header. */
  standing(name: string): string | undefined {
    return this.#standing?.[name]
  }

  override writeHead(
    code: number,
    reason?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    const isTable = typeof reason === "object" && !Array.isArray(reason)
    if (isTable && super.getHeaderNames().length === 0) return super.writeHead(code, this.#withStanding(reason))
    const standing = this.#standing
    for (const name in standing) if (!this.hasHeader(name)) this.setHeader(name, standing[name] ?? "")
    return typeof reason === "string" ? super.writeHead(code, reason, headers) : super.writeHead(code, reason)
  }

  override write(chunk: string | Uint8Array, ...rest: never[]): boolean {
    this.sentBytes += Buffer.byteLength(chunk)
    return super.write(chunk, ...rest)
  }

  override end(callback?: () => void): this
  override end(chunk: unknown, callback?: () => void): this
  override end(chunk: unknown, encoding: BufferEncoding, callback?: () => void): this
  override end(...given: readonly unknown[]): this {
    if (this.isEnding) return this
    const [chunk] = given
    if (typeof chunk === "string" || chunk instanceof Uint8Array) this.sentBytes += Buffer.byteLength(chunk)
    if (chunk instanceof Uint8Array && this.headersSent && this.#isLong(chunk)) {
      const at = chunk.length - lastBytes
      this.#endAfter((out) => super.write(chunk.subarray(0, at), out), [chunk.subarray(at), ...given.slice(1)])
    } else if (this.#waitsForDrain) this.#endAfter((out) => this.once("drain", out), given)
    else super.end(...(given as []))
    return this
  }

  /** On a connection that Node has given away, Node does not notice that it takes more again (server.ts). */
  get #waitsForDrain(): boolean {
    return this.writableNeedDrain && this.socket?.writableNeedDrain !== false
  }

  /** Of pipelined requests, a response that has no socket yet does not know how much is before it. */
  #isLong({ length }: Uint8Array): boolean {
    const { socket } = this
    return length > lastBytes && (socket === null || length + socket.writableLength > briefBytes)
  }

  #endAfter(write: (out: () => void) => unknown, last: readonly unknown[]): void {
    this.isEnding = true
    write(() => {
      if (!this.destroyed) super.end(...(last as []))
    })
  }

  #withStanding(headers: OutgoingHttpHeaders): OutgoingHttpHeader[] {
    const all: OutgoingHttpHeader[] = []
    for (const name in headers) all.push(name, headers[name] ?? "")
    const standing = this.#standing
    for (const name in standing) if (!Object.hasOwn(headers, name)) all.push(name, standing[name] ?? "")
    return all
  }
}

export type Filter = (request: GatewayRequest, response: GatewayResponse, next: () => void) => void | Promise<void>

export type Fail = (error: unknown, request: GatewayRequest, response: GatewayResponse) => void

export type Chain = (request: IncomingMessage, response: ServerResponse) => void

/** `response` must be a GatewayResponse: the servers are created with that class. */
export function chainOf(filters: readonly Filter[], fail: Fail): Chain {
  const run = (at: number, request: GatewayRequest, response: GatewayResponse): void => {
    try {
      const filter = filters[at]
      if (filter === undefined) throw pageNotFound()
      const done = filter(request, response, () => run(at + 1, request, response))
      if (done !== undefined) done.catch((error: unknown) => fail(error, request, response))
    } catch (error) {
      fail(error, request, response)
    }
  }
  return (request, response) => run(0, request as GatewayRequest, response as GatewayResponse)
}
