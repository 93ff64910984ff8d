// Sends requests to one API server over keep-alive connections: credentials, time limits, and errors as StatusError.
// client.ts defines the requests.

import {
  Agent as HttpAgent,
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import { setTimeout as delay } from "node:timers/promises"
import type { SecureContextOptions } from "node:tls"
import { serviceUnavailable, StatusError, timeout } from "../../apimachinery/status.ts"
import { connectionMessage, readError } from "./errors.ts"
import { limitConnecting, limitStream } from "./time-limits.ts"
import type { ClientMetrics } from "../metrics/client-metrics.ts"
import { noAnswer, type RequestMetrics } from "../metrics/request-metrics.ts"

/** The certificate authority and the client certificate. */
export interface TlsIdentity {
  /** PEM; default: the system's roots. */
  certificateAuthority?: string
  /** PEM of the client certificate and its key. */
  certificate?: string
  key?: string
}

export interface HttpClientConfig extends TlsIdentity {
  /** https://host:port, optionally with a path before /api. */
  server: string
  /** A function is called before every request and must cache. `refused`: the token that the server has rejected with 401. */
  token?: string | ((refused?: string) => Promise<string>)
  /** Basic authentication, as in old kubeconfigs. */
  username?: string
  password?: string
  insecureSkipTlsVerify?: boolean
  /** The name the server's certificate must contain, if it is not the host. */
  serverName?: string
  /** The Unix socket of a server on this machine, instead of the host of `server`, which then begins with http://. */
  socketPath?: string
  /** Sent with every request. A function is called before each. */
  headers?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>)
  limits?: Partial<HttpClientLimits>
  /** Counts the requests. */
  metrics?: ClientMetrics | undefined
}

export interface HttpClientLimits {
  /** Connections for requests that are not watches. */
  sockets: number
  /** Connections for watches. */
  watchSockets: number
  /**
   * Until the connection is established, including TLS. The destination of an address may have changed (a replaced pod, another
   * backend of a load balancer): data sent to the old one is lost silently, while a new connection reaches the new one.
   */
  connectTimeoutMs: number
  /** From sending a request to the end of its response; for a watch, to the start of the response. */
  requestTimeoutMs: number
  /** Per response that is not a watch. */
  responseBytes: number
  /** Per watch event. */
  watchLineBytes: number
  /** How often a request is retried that the server rejected with 429. */
  retries: number
  /** The longest Retry-After that is followed. */
  retryAfterSeconds: number
}

const defaultHttpClientLimits: HttpClientLimits = {
  sockets: 64,
  watchSockets: 256,
  connectTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  responseBytes: 512 * 1024 * 1024,
  watchLineBytes: 16 * 1024 * 1024,
  retries: 5,
  retryAfterSeconds: 30,
}

export interface TransportRequest {
  method: string
  /** Relative to the server's path, including the query. */
  path: string
  headers?: Record<string, string>
  body?: string
  signal?: AbortSignal | undefined
  /**
   * Streams have no foreseeable end: they use separate connections, and end after `idleMs` without data instead of a time limit.
   */
  stream?: { idleMs: number }
}

export class HttpTransport implements AsyncDisposable {
  readonly limits: HttpClientLimits
  readonly #config: HttpClientConfig
  readonly #base: URL
  readonly #metrics: RequestMetrics | undefined
  readonly #agent: HttpAgent
  readonly #watchAgent: HttpAgent
  readonly #disposed = new AbortController()
  /** The last token that the server rejected. */
  #refused: string | undefined

  constructor(config: HttpClientConfig) {
    this.#config = config
    this.limits = { ...defaultHttpClientLimits, ...config.limits }
    this.#base = new URL(config.server)
    this.#metrics = config.metrics?.requests(this.#base.host)
    const create = (maxSockets: number): HttpAgent => {
      const common = { keepAlive: true, keepAliveMsecs: 30_000, maxSockets, scheduling: "lifo" as const }
      if (this.#base.protocol === "http:") return new HttpAgent(common)
      return new HttpsAgent({
        ...common,
        ...contextOf(config),
        ...(config.serverName === undefined ? {} : { servername: config.serverName }),
        rejectUnauthorized: config.insecureSkipTlsVerify !== true,
      })
    }
    this.#agent = create(this.limits.sockets)
    this.#watchAgent = create(this.limits.watchSockets)
  }

  /** Returns the head of a successful response; the caller reads the body. Other responses are thrown as StatusError. */
  async open(wanted: TransportRequest): Promise<IncomingMessage> {
    for (let tried = 0; ; tried++) {
      const response = await this.#send(wanted)
      const code = response.statusCode ?? 0
      if (code >= 200 && code < 300) return response
      const error = readError(wanted, code, await this.readBody(wanted, response))
      const seconds = Number(response.headers["retry-after"] ?? "")
      if (code !== 429 || !(seconds > 0) || tried >= this.limits.retries) throw error
      const signal = AbortSignal.any(this.#signalsOf(wanted))
      const delayMs = Math.min(seconds, this.limits.retryAfterSeconds) * 1000
      // Unlike pause(), it keeps the process alive. If the signal ends it, the next attempt throws the reason.
      await delay(delayMs, undefined, { signal }).catch(() => undefined)
    }
  }

  async readBody(wanted: TransportRequest, response: IncomingMessage): Promise<Buffer> {
    const chunks: Buffer[] = []
    let size = 0
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > this.limits.responseBytes) {
          response.destroy()
          throw serviceUnavailable(
            `${wanted.method} ${wanted.path}: the answer exceeds ${this.limits.responseBytes} bytes`,
          )
        }
        chunks.push(chunk)
      }
    } catch (error) {
      throw this.asStatusError(wanted, error)
    }
    this.#metrics?.received(wanted.method, size)
    const [only] = chunks
    return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
  }

  asStatusError(wanted: TransportRequest, error: unknown): StatusError {
    if (error instanceof StatusError) return error
    const what = `${wanted.method} ${this.#base.origin}${wanted.path.split("?")[0] ?? ""}`
    return serviceUnavailable(`${what}: ${connectionMessage(error)}`, { cause: error })
  }

  /** Applies to new connections; requests and watches in progress keep theirs. */
  renew(identity: TlsIdentity): void {
    for (const agent of [this.#agent, this.#watchAgent])
      if (agent instanceof HttpsAgent) Object.assign(agent.options, contextOf(identity))
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort(new Error("the client is closed"))
    this.#agent.destroy()
    this.#watchAgent.destroy()
    return Promise.resolve()
  }

  async #send(wanted: TransportRequest): Promise<IncomingMessage> {
    for (let tried = 0; ; tried++) {
      const began = performance.now()
      const headers = await this.#headers(wanted)
      const { response, stale } = await this.#exchange(wanted, headers)
      this.#count(wanted, response, performance.now() - began)
      if (response?.statusCode === 401) this.#refused = headers["authorization"]?.replace(/^Bearer /, "")
      if (response !== undefined) return response
      // The server closed an idle connection just when it was reused; only reads can be retried safely.
      if (stale.reused && wanted.method === "GET" && tried < this.limits.retries) continue
      throw this.asStatusError(wanted, stale.error)
    }
  }

  #count({ method, body = "", stream }: TransportRequest, response: IncomingMessage | undefined, ms: number): void {
    if (this.#metrics === undefined) return
    this.#metrics.answered(method, response?.statusCode ?? noAnswer)
    this.#metrics.sent(method, Buffer.byteLength(body))
    if (stream === undefined) this.#metrics.took(method, ms / 1000)
  }

  #exchange(
    wanted: TransportRequest,
    headers: Record<string, string>,
  ): Promise<
    { response: IncomingMessage; stale?: never } | { response?: never; stale: { reused: boolean; error: unknown } }
  > {
    const { stream } = wanted
    const signals = this.#signalsOf(wanted)
    const limit = stream === undefined ? AbortSignal.timeout(this.limits.requestTimeoutMs) : undefined
    const signal = AbortSignal.any(limit === undefined ? signals : [...signals, limit])
    const { socketPath } = this.#config
    const options: RequestOptions = {
      method: wanted.method,
      ...(socketPath === undefined ? {} : { socketPath }),
      hostname: this.#base.hostname.replace(/^\[|\]$/g, ""),
      port: this.#base.port === "" ? (this.#base.protocol === "http:" ? 80 : 443) : Number(this.#base.port),
      path: this.#base.pathname.replace(/\/$/, "") + wanted.path,
      headers,
      agent: stream === undefined ? this.#agent : this.#watchAgent,
      signal,
    }
    return new Promise((resolve) => {
      const request = this.#begin(options)
      if (request instanceof Error) return resolve({ stale: { reused: false, error: request } })
      request.on("response", (response) => resolve({ response }))
      request.on("error", (error: NodeJS.ErrnoException) => {
        const late = limit?.aborted === true && !signals.some((other) => other.aborted)
        const reason = late ? timeout(`no answer within ${this.limits.requestTimeoutMs} ms`) : (signal.reason ?? error)
        const reused = request.reusedSocket && error.code === "ECONNRESET" && !signal.aborted
        resolve({ stale: { reused, error: late ? reason : signal.aborted ? reason : error } })
      })
      limitConnecting(request, this.limits.connectTimeoutMs)
      if (stream !== undefined) limitStream(request, stream.idleMs, this.limits.requestTimeoutMs)
      request.end(wanted.body)
    })
  }

  /** Node throws for what it cannot send: a certificate that is none, a token with a line break. */
  #begin(options: RequestOptions): ClientRequest | Error {
    try {
      return this.#base.protocol === "http:" ? httpRequest(options) : httpsRequest(options)
    } catch (error) {
      return error as Error
    }
  }

  /** Any of them ends the request. */
  #signalsOf({ signal }: TransportRequest): AbortSignal[] {
    return signal === undefined ? [this.#disposed.signal] : [this.#disposed.signal, signal]
  }

  async #headers(wanted: TransportRequest): Promise<Record<string, string>> {
    const { token, username, password, headers: more } = this.#config
    const headers: Record<string, string> = {
      accept: "application/json",
      "user-agent": "polyplane",
      ...(typeof more === "function" ? more() : more),
      ...wanted.headers,
    }
    if (token !== undefined) {
      const value = typeof token === "string" ? token : await this.#token(wanted, token)
      headers["authorization"] = `Bearer ${value}`
    } else if (username !== undefined) {
      headers["authorization"] = `Basic ${Buffer.from(`${username}:${password ?? ""}`).toString("base64")}`
    }
    if (wanted.body !== undefined) headers["content-length"] = String(Buffer.byteLength(wanted.body))
    return headers
  }

  async #token(wanted: TransportRequest, token: (refused?: string) => Promise<string>): Promise<string> {
    try {
      return await token(this.#refused)
    } catch (error) {
      throw this.asStatusError(wanted, error)
    }
  }
}

function contextOf({ certificateAuthority, certificate, key }: TlsIdentity): SecureContextOptions {
  return {
    ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
    ...(certificate === undefined ? {} : { cert: certificate }),
    ...(key === undefined ? {} : { key }),
  }
}
