// Runs the filters in order. A filter answers by itself, or calls next(); what it throws, at once or later, is answered by
// `fail`. It is express's contract without express, which costs more than all filters together (decision 0011).

import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"
import { pageNotFound } from "../../apimachinery/text-errors.ts"
import type { RequestState } from "./state.ts"

export type GatewayRequest = IncomingMessage & { method: string; url: string }

/**
 * Of a long answer so much is kept back until the rest is out. A client has an answer when its last byte is there, and may send its
 * next request before Node knows that the byte has left: Node takes a connection with more than 64 KiB on their way for one whose
 * client does not read, stops its parser, and over TLS fails then at what has been read of the request already
 * ("Parse Error: Paused"), which ends the connection.
 */
const lastBytes = 16 * 1024

/** Node's own, with the place for our state. */
export class GatewayResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  readonly locals = {} as { state: RequestState }
  /** Of the body, without what HTTP adds. */
  sentBytes = 0
  #standing: Readonly<Record<string, string>> | undefined
  /** end() has been called; it ends when what has been written is out. */
  isEnding = false

  /**
   * Headers the answer has if it has none of that name itself; names in lower case, here and in writeHead. As setHeader, but
   * Node need not put each header of the answer into a table first.
   */
  stand(headers: Readonly<Record<string, string>>): void {
    this.#standing = this.#standing === undefined ? headers : { ...this.#standing, ...headers }
  }

  override writeHead(
    code: number,
    reason?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    const isTable = typeof reason === "object" && !Array.isArray(reason)
    if (isTable && this.getHeaderNames().length === 0) return super.writeHead(code, this.#withStanding(reason))
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
    if (chunk instanceof Uint8Array && chunk.length > lastBytes && this.headersSent) {
      const at = chunk.length - lastBytes
      this.#endAfter((out) => super.write(chunk.subarray(0, at), out), [chunk.subarray(at), ...given.slice(1)])
    } else if (this.writableNeedDrain) this.#endAfter((out) => this.once("drain", out), given)
    else super.end(...(given as []))
    return this
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

/** `response` has to be a GatewayResponse: servers are made with it. */
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
