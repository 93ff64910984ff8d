// Passes requests on to the process that has their tenant, and its answer back: bodies, watches and switched protocols alike.
// A filter of the chain (server.ts), before anything is decided: who the caller is and what it may do is the owner's to say.
//
// An owner that ends while it answers: what only reads is asked again of the tenant's next owner; a write that was on its
// way is answered with 504, because nobody knows whether it was carried out; a watch ends, and is resumed by its client.

import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http"
import { serviceUnavailable, timeout } from "../../apimachinery/status.ts"
import { join } from "../../client/upgrade.ts"
import { credentialsOf } from "../authentication/credentials.ts"
import type { Filter, GatewayResponse, RequestState } from "../filters/state.ts"
import { forwardedHeader, type ForwardedIdentity } from "./forwarded-identity.ts"
import { primary, type Routes } from "./routes.ts"

export interface ForwarderParts {
  routes: Routes
  identity: ForwardedIdentity
  /** Path of the private socket of a process. */
  socketOf: (owner: number) => string
  limits: { requestTimeoutMs: number }
}

/** Requests wait so long for their tenant's next owner. Beyond: 503 with Retry-After. */
const takeoverMs = 10_000
/** A connection that is refused while nothing has changed is tried again after it: the socket's backlog may be full. */
const againMs = 20
/** A tenant may move while a request is on its way. Beyond: 503. */
const maxHops = 4
/** Beyond the owner's own time limit: it answers itself as long as it can. */
const graceMs = 5_000
/** Idle connections kept to each process. */
const maxFreeSockets = 1024
const newline = 10

/** Of one connection, not of the request. Who forwards names them anew. */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "upgrade",
  "expect",
  "audit-id",
  forwardedHeader,
])
const hopByHopOfAnswer = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"])

export class Forwarder implements Disposable {
  readonly #parts: ForwarderParts
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets })

  constructor(parts: ForwarderParts) {
    this.#parts = parts
  }

  readonly filter: Filter = async (request, response, next) => {
    const { state } = response.locals
    state.credentials = credentialsOf(request)
    if (await this.#passOn(request, response, state)) return
    next()
  };

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }

  /** false: this process answers. */
  async #passOn(request: IncomingMessage, response: GatewayResponse, state: RequestState): Promise<boolean> {
    const { routes, identity } = this.#parts
    // What names no tenant and comes from another process of ours is meant for this one.
    const otherwise = identity.hops(request) > 0 ? routes.self : primary
    const until = performance.now() + takeoverMs
    for (;;) {
      const owner = routes.ownerOf(state.named, state.credentials, otherwise)
      if (owner === routes.self) return false
      if (owner !== undefined) {
        if (identity.hops(request) >= maxHops) throw serviceUnavailable("the tenant is on its way to another process")
        if (await this.#exchange(request, response, state, owner)) return true
      }
      if (state.isOver) return true
      if (performance.now() > until) throw serviceUnavailable("no process serves the tenant at the moment")
      const pause = owner === undefined ? until - performance.now() : againMs
      await routes.change(AbortSignal.any([state.signal, AbortSignal.timeout(Math.max(1, Math.ceil(pause)))]))
    }
  }

  /** true: answered, or the client is gone. false: the owner was not there, and nothing has happened. */
  #exchange(request: IncomingMessage, response: GatewayResponse, state: RequestState, owner: number): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    const { upgrade } = state
    const { method = "GET", url = "/" } = request
    const outgoing = httpRequest({
      socketPath: this.#parts.socketOf(owner),
      agent: upgrade === undefined ? this.#agent : false,
      method,
      path: url,
      headers: this.#headers(request, state),
      setHost: false,
    })
    let answer: IncomingMessage | undefined
    let sent = false
    state.whenDone(() => {
      if (answer?.complete !== true) outgoing.destroy()
    })
    if (!state.isLongRunning) {
      const limit = this.#parts.limits.requestTimeoutMs + graceMs
      outgoing.setTimeout(limit, () => outgoing.destroy(new Error(`no answer within ${limit} ms`)))
    }
    outgoing.once("socket", (socket) => {
      const begin = (): void => {
        sent = true
        send(request, outgoing, upgrade !== undefined)
      }
      if (socket.connecting) socket.once("connect", begin)
      else begin()
    })
    outgoing.once("response", (incoming) => {
      answer = incoming
      passBack(incoming, response, state)
      incoming.once("close", () => resolve(true))
    })
    outgoing.once("upgrade", (incoming, socket, head) => {
      if (upgrade === undefined) return void socket.destroy()
      answer = incoming
      upgrade.socket.write(printHead(incoming))
      if (head.length > 0) upgrade.socket.write(head)
      if (upgrade.head.length > 0) socket.write(upgrade.head)
      join(upgrade.socket, socket)
      resolve(true)
    })
    outgoing.on("error", (error) => {
      request.unpipe(outgoing)
      if (answer !== undefined || state.isOver) resolve(true)
      else if (!sent || isRepeatable(request, state)) resolve(false)
      else reject(interrupted(error))
    })
    return promise
  }

  #headers(request: IncomingMessage, state: RequestState): string[] {
    const { rawHeaders } = request
    const headers: string[] = []
    let sized = false
    let named = false
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] ?? ""
      const lower = name.toLowerCase()
      if (hopByHop.has(lower) || name.startsWith(":")) continue
      if (lower === "host") named = true
      if (lower === "content-length" || lower === "transfer-encoding") sized = true
      headers.push(name, rawHeaders[at + 1] ?? "")
    }
    // HTTP/2 has neither Host nor chunks.
    if (request.httpVersionMajor > 1) {
      if (!named) headers.push("Host", request.headers.host ?? "")
      if (!sized && hasBody(request)) headers.push("Transfer-Encoding", "chunked")
    }
    if (state.upgrade !== undefined) headers.push("Connection", "Upgrade", "Upgrade", request.headers.upgrade ?? "")
    headers.push("Audit-Id", state.id, forwardedHeader, this.#parts.identity.headerOf(request))
    return headers
  }
}

function isReading({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD"
}

/** As its headers say it, also of HTTP/2 (http2/stream-request.ts): the owner is told the same. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined
}

/** Nothing of it is used up, and it changes nothing. */
function isRepeatable(request: IncomingMessage, { upgrade }: RequestState): boolean {
  return isReading(request) && !hasBody(request) && upgrade === undefined
}

function interrupted(cause: Error): Error {
  const error = timeout(
    "the process that serves the tenant ended before it answered: the request may have been carried out",
  )
  error.cause = cause
  return error
}

/**
 * What no header announces is not passed on: the owner would take it for the beginning of the next request on the connection,
 * which is somebody else's.
 */
function send(request: IncomingMessage, outgoing: ClientRequest, isUpgrade: boolean): void {
  if (isUpgrade || !hasBody(request)) outgoing.end()
  else request.pipe(outgoing)
}

function passBack(incoming: IncomingMessage, response: GatewayResponse, state: RequestState): void {
  response.statusCode = incoming.statusCode ?? 502
  const given = new Set<string>()
  for (const [name, value] of headersOf(incoming)) {
    const lower = name.toLowerCase()
    if (given.has(lower)) response.appendHeader(name, value)
    else response.setHeader(name, value)
    given.add(lower)
  }
  // What has no end in sight is told at once that it has begun.
  if (state.isLongRunning) response.flushHeaders()
  const isWatch = state.info.verb === "watch" && /^application\/json\b/.test(incoming.headers["content-type"] ?? "")
  let last = newline
  if (isWatch) incoming.on("data", (chunk: Buffer) => (last = chunk.at(-1) ?? last))
  incoming.pipe(response)
  // Cut off: between two events that is the end of a watch like any other; anything else must not look whole.
  incoming.once("error", () => {
    if (isWatch && last === newline) response.end()
    else response.destroy()
  })
}

function* headersOf({ rawHeaders }: IncomingMessage): Generator<[name: string, value: string]> {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ""
    if (!hopByHopOfAnswer.has(name.toLowerCase())) yield [name, rawHeaders[at + 1] ?? ""]
  }
}

/** Of a switch of protocols: everything the owner said, as it said it. */
function printHead({ rawHeaders, statusCode = 101, statusMessage = "" }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`]
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  return `${lines.join("\r\n")}\r\n\r\n`
}
