// Forwards requests to the process that owns their tenant, and the responses back: bodies, watches and protocol switches alike. A
// filter of the chain (server.ts), before all decisions: the owner authenticates and authorizes the caller.
//
// If an owner ends while it is answering: requests that only read are repeated with the tenant's next owner; a write that was being
// sent is answered with 504, since its outcome is unknown; a watch ends, and its client resumes it.

import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http"
import { serviceUnavailable, timeout } from "../../apimachinery/status.ts"
import { join } from "../../client/http/join.ts"
import { gatherSmallWrites, pushOrGather } from "../../client/http/small-pieces.ts"
import { countUnsent, type HoldUnsent } from "../../client/http/unsent.ts"
import { credentialsOf } from "../authentication/credentials.ts"
import type { Filter, GatewayResponse } from "../filters/chain.ts"
import type { RequestState } from "../filters/state.ts"
import { maxAnswerHeaderBytes } from "../proxy/forward.ts"
import { hopByHopOfAnswer, passInformation } from "../proxy/information.ts"
import { passTrailers } from "../proxy/trailers.ts"
import { sendBody } from "../proxy/upload.ts"
import { forwardedHeader, type ForwardedIdentity } from "./forwarded-identity.ts"
import { countEnded, ForwardedShares, type ForwardLimits } from "./forwarded-shares.ts"
import { primary, type Routes } from "./routes.ts"

interface ForwarderParts {
  routes: Routes
  identity: ForwardedIdentity
  /** Path of the private socket of a process. */
  socketOf: (owner: number) => string
  limits: ForwardLimits & { requestTimeoutMs: number }
}

/** How long requests wait for the next owner of their tenant. Beyond: 503 with Retry-After. */
const takeoverMs = 10_000
/** Delay before retrying a refused connection while the owner is unchanged: the socket's backlog may be full. */
const againMs = 20
/** A tenant may move while a request is being forwarded. Beyond: 503. */
const maxHops = 4
/** Added to the owner's own time limit, so that the owner can answer timeouts itself. */
const graceMs = 5_000
/** Idle connections kept per process. */
const maxFreeSockets = 1024
const newline = 10

/** Headers of a connection, not of the request. The forwarder sets its own. */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "upgrade",
  "expect",
  "audit-id",
  forwardedHeader,
])

interface Exchange {
  /** Called when the owner has begun to answer. */
  answered: () => void
  hold: HoldUnsent | undefined
}

export class Forwarder implements Disposable {
  readonly #parts: ForwarderParts
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets })
  readonly #shares: ForwardedShares

  constructor(parts: ForwarderParts) {
    this.#parts = parts
    this.#shares = new ForwardedShares(parts.limits)
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

  /** Returns false if this process must answer. */
  async #passOn(request: IncomingMessage, response: GatewayResponse, state: RequestState): Promise<boolean> {
    const { routes, identity } = this.#parts
    // A request without a tenant that another process has forwarded is meant for this process.
    const otherwise = identity.hops(request) > 0 ? routes.self : primary
    if (routes.ownerOf(state.named, state.credentials, otherwise) === routes.self) return false
    const tenant = routes.nameOf(state.named, state.credentials) ?? ""
    const answered = this.#shares.begin(tenant)
    try {
      const hold = state.isLongRunning && tenant !== "" ? this.#shares.holdFor(tenant) : undefined
      if (state.isLongRunning) state.tenantElsewhere = routes.tenant(tenant)
      return await this.#forward(request, response, state, { otherwise, answered, hold })
    } finally {
      answered()
    }
  }

  async #forward(
    request: IncomingMessage,
    response: GatewayResponse,
    state: RequestState,
    { otherwise, ...exchange }: Exchange & { otherwise: number },
  ): Promise<boolean> {
    const { routes, identity } = this.#parts
    const until = performance.now() + takeoverMs
    for (;;) {
      const owner = routes.ownerOf(state.named, state.credentials, otherwise)
      if (owner === routes.self) return false
      if (owner !== undefined) {
        if (identity.hops(request) >= maxHops) throw serviceUnavailable("the tenant is on its way to another process")
        if (await this.#exchange(request, response, state, { ...exchange, owner })) return true
      }
      if (state.isOver) return true
      // The tenant may be gone, or this process be stopping.
      if (state.isAborted || performance.now() > until)
        throw serviceUnavailable("no process serves the tenant at the moment")
      const pause = owner === undefined ? until - performance.now() : againMs
      await routes.change(AbortSignal.any([state.signal, AbortSignal.timeout(Math.max(1, Math.ceil(pause)))]))
    }
  }

  /**
   * Resolves with true if the request was answered or the client disconnected, with false if the owner was unreachable and nothing
   * has happened.
   */
  #exchange(
    request: IncomingMessage,
    response: GatewayResponse,
    state: RequestState,
    { owner, answered, hold }: Exchange & { owner: number },
  ): Promise<boolean> {
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
      // The owner adds some of its own.
      maxHeaderSize: 2 * maxAnswerHeaderBytes,
    })
    let answer: IncomingMessage | undefined
    let sent = false
    state.whenDone(() => {
      // An answer that has been parsed, and not read to its end, would keep its connection for good.
      if (answer?.readableEnded !== true || !outgoing.writableFinished) outgoing.destroy()
    })
    if (!state.isLongRunning) {
      const limit = this.#parts.limits.requestTimeoutMs + graceMs
      outgoing.setTimeout(limit, () => outgoing.destroy(new Error(`no answer within ${limit} ms`)))
    }
    outgoing.once("socket", (socket) => {
      const begin = (): void => {
        sent = true
        send(request, outgoing, response, { isUpgrade: upgrade !== undefined, hold })
      }
      if (socket.connecting) socket.once("connect", begin)
      else begin()
    })
    passInformation(outgoing, response)
    outgoing.once("response", (incoming) => {
      answer = Object.assign(incoming, { push: pushOrGather })
      answered()
      countUnsent(incoming, response, hold)
      // Anybody may get a refusal, which ends soon, as a watch does, of which many may end at once (connections/untaken.ts).
      if ((incoming.statusCode ?? 0) < 400 && state.info.verb !== "watch") countEnded(incoming, response, hold)
      passBack(request, incoming, response, state)
      incoming.once("close", () => resolve(true))
    })
    outgoing.once("upgrade", (incoming, socket, head) => {
      if (upgrade === undefined) return void socket.destroy()
      answer = incoming
      answered()
      upgrade.socket.write(printHead(incoming))
      countEnded(socket, upgrade.socket, hold)
      join(upgrade.socket, socket, { hold, signal: state.signal, heads: [upgrade.head, head] })
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
    // HTTP/2 has neither Host nor chunked encoding.
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

/** According to the headers, also for HTTP/2 (http2/stream-request.ts); the owner receives the same headers. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined
}

/** The request changes nothing and has no body that has been consumed. */
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
 * A body without announcing headers is not forwarded: the owner would parse it as the next request on the connection, which belongs
 * to another client.
 */
function send(
  request: IncomingMessage,
  outgoing: ClientRequest,
  response: GatewayResponse,
  { isUpgrade, hold }: { isUpgrade: boolean; hold: HoldUnsent | undefined },
): void {
  if (isUpgrade || !hasBody(request)) outgoing.end()
  else sendBody(request, outgoing, response, hold)
}

function passBack(
  request: IncomingMessage,
  incoming: IncomingMessage,
  response: GatewayResponse,
  state: RequestState,
): void {
  response.statusCode = incoming.statusCode ?? 502
  const given = new Set<string>()
  for (const [name, value] of headersOf(incoming)) {
    const lower = name.toLowerCase()
    if (given.has(lower)) response.appendHeader(name, value)
    else response.setHeader(name, value)
    given.add(lower)
  }
  passTrailers(request, incoming, response)
  // Responses without a foreseeable end send their headers at once.
  if (state.isLongRunning) response.flushHeaders()
  const isWatch = state.info.verb === "watch" && /^application\/json\b/.test(incoming.headers["content-type"] ?? "")
  let last = newline
  if (isWatch) incoming.on("data", (chunk: Buffer) => (last = chunk.at(-1) ?? last))
  gatherSmallWrites(response)
  incoming.pipe(response)
  // Interrupted: between two events this is a normal end of a watch; all other responses must not look complete.
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

/** The head of a protocol switch, unchanged from the owner. */
function printHead({ rawHeaders, statusCode = 101, statusMessage = "" }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`]
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  return `${lines.join("\r\n")}\r\n\r\n`
}
