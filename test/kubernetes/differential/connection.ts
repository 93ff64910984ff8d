// One of the two servers: requests over persistent connections, and watches.

import { Agent, request as httpsRequest } from "node:https"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import { connect } from "node:tls"
import { WebSocket } from "ws"

interface ConnectionOptions {
  name: string
  /** Includes the path of the tenant, if there is one. */
  url: string
  certificateAuthority?: string
  certificate?: string
  key?: string
  token?: string
}

export interface Answer {
  code: number
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface OpenWatch {
  code: number
  headers: IncomingHttpHeaders
  /** All received chunks in order; grows. */
  chunks: Buffer[]
  readonly ended: boolean
  close(): void
}

/** What came over a WebSocket until it was closed. `refused`: the code of the answer there was instead. */
export type Heard =
  | { refused: number }
  | { protocol: string; messages: { isBinary: boolean; data: Buffer }[]; closed: number }

interface Wire {
  text: string
  isClosed: boolean
}

export type Headers = Readonly<Record<string, string | readonly string[]>>

interface CallOptions {
  headers?: Headers
  body?: string | Uint8Array | undefined
}

/**
 * A server that does not respond within this time counts as not responding. Upstream itself ends requests after a minute, which some with
 * dear expressions take on a busy machine.
 */
const answerTimeoutMs = 75_000
/** More than the watches of all scenarios that run at the same time. */
const maxSockets = 256
/** A connection on which nothing more comes for this long has been answered. */
const silenceMs = 1_500
/** One on which nothing has come for this long never will be: a document may have to be made first. */
const patienceMs = 10_000

export class Connection implements Disposable {
  readonly name: string
  readonly #options: ConnectionOptions
  readonly #url: URL
  readonly #agent: Agent
  readonly #token: string | undefined
  #anonymous: Connection | undefined

  constructor(options: ConnectionOptions) {
    const { name, url, certificateAuthority, certificate, key, token } = options
    this.name = name
    this.#options = options
    this.#url = new URL(url)
    this.#token = token
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets,
      ...(certificateAuthority === undefined ? { rejectUnauthorized: false } : { ca: certificateAuthority }),
      checkServerIdentity: () => undefined,
      ...(certificate === undefined ? {} : { cert: certificate }),
      ...(key === undefined ? {} : { key }),
    })
  }

  get port(): number {
    return Number(this.#url.port)
  }

  /** A connection without credentials. */
  withoutCredentials(): Connection {
    const { certificate: _certificate, key: _key, token: _token, ...others } = this.#options
    return new Connection(others)
  }

  /** The one without credentials that is closed with this connection. */
  get anonymous(): Connection {
    this.#anonymous ??= this.withoutCredentials()
    return this.#anonymous
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const response = await this.#send(method, path, options)
    const chunks = (await response.toArray()) as Buffer[]
    return { code: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }
  }

  async watch(path: string, headers: Headers = {}): Promise<OpenWatch> {
    const response = await this.#send("GET", path, { headers })
    const chunks: Buffer[] = []
    let ended = false
    response.on("data", (chunk: Buffer) => chunks.push(chunk))
    response.on("error", () => undefined) // the connection is closed then
    response.on("close", () => (ended = true))
    return {
      code: response.statusCode ?? 0,
      headers: response.headers,
      chunks,
      get ended() {
        return ended
      },
      close: () => response.destroy(),
    }
  }

  async hear(path: string, protocols: string[], headers: Record<string, string>): Promise<Heard> {
    const url = new URL(this.#url.pathname.replace(/\/$/, "") + path, this.#url.href.replace(/^http/, "ws"))
    const authorization = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }
    const client = new WebSocket(url, protocols, { agent: this.#agent, headers: { ...authorization, ...headers } })
    const { promise, resolve, reject } = Promise.withResolvers<Heard>()
    const messages: { isBinary: boolean; data: Buffer }[] = []
    client.on("message", (data: Buffer, isBinary) => messages.push({ isBinary, data }))
    client.on("unexpected-response", (_request, response) => {
      resolve({ refused: response.statusCode ?? 0 })
      response.destroy()
    })
    client.on("error", reject)
    client.on("close", (closed) => resolve({ protocol: client.protocol, messages, closed }))
    return promise
  }

  /**
   * Everything that is answered to bytes that need not be a request, until the connection is closed or silent. In the text `@{path}` is
   * the path of the tenant, `@{host}` the host and `@{credentials}` a header, if there is one.
   */
  async raw(text: string): Promise<Wire> {
    const { hostname, port, pathname, host } = this.#url
    const { certificate, key } = this.#options
    const credentials = this.#token === undefined ? "" : `Authorization: Bearer ${this.#token}\r\n`
    const values: Readonly<Record<string, string>> = { path: pathname.replace(/\/$/, ""), host, credentials }
    const filled = text.replaceAll(/@\{(\w+)\}/g, (_, name: string) => values[name] ?? "")
    const identity = {
      ...(certificate === undefined ? {} : { cert: certificate }),
      ...(key === undefined ? {} : { key }),
    }
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false, ...identity })
    const chunks: Buffer[] = []
    const { promise, resolve } = Promise.withResolvers<boolean>()
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      socket.setTimeout(silenceMs)
    })
    socket.on("close", () => resolve(true))
    socket.on("end", () => resolve(true))
    socket.on("error", () => resolve(true))
    socket.setTimeout(patienceMs, () => resolve(false))
    socket.write(Buffer.from(filled, "latin1"))
    const isClosed = await promise
    socket.destroy()
    return { text: Buffer.concat(chunks).toString("latin1"), isClosed }
  }

  #send(method: string, path: string, { headers = {}, body }: CallOptions): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const { hostname, port, pathname } = this.#url
    const request = httpsRequest(
      {
        hostname,
        port,
        agent: this.#agent,
        method,
        path: pathname.replace(/\/$/, "") + path,
        headers: {
          ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
          // Node would send the body of a DELETE without its length.
          ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
          ...headers,
        },
      },
      resolve,
    )
    request.setTimeout(answerTimeoutMs, () =>
      request.destroy(new Error(`${this.name} did not answer ${method} ${path}`)),
    )
    request.on("error", reject)
    request.end(body)
    return promise
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
    this.#anonymous?.[Symbol.dispose]()
  }
}
