// Forwards a protocol switch (exec, attach, port-forward) from one server to another, for any protocol: SPDY/3.1 and WebSocket
// alike. The bytes after the switch are not interpreted here. Used by the gateway towards vn-agents and by vn-agents towards kubelets;
// a proxy library for WebSocket alone would not support SPDY.

import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from "node:http"
import { request as httpsRequest, type RequestOptions } from "node:https"
import type { Duplex } from "node:stream"
import { workedMs } from "../../apimachinery/thread-time.ts"
import { tcpKeepAlive } from "./tcp-keep-alive.ts"
import { nodeConnectTimeoutMs } from "./time-limits.ts"
import { countUnsent, type HoldUnsent } from "./unsent.ts"

/**
 * Timeout for a target to accept the last bytes of a client that has ended, for a client to end that has got the last bytes, and for one
 * to accept them whose stream is ended by a signal.
 */
export const closeTimeoutMs = 30_000
/** After longer work at one piece that is translated, its side rests, as many times as long: others share the thread. */
const longMs = 2
const restsPerWork = 4
/** Maximum size of a refusal's body that is read and passed on. */
const maxRefusalCharacters = 64 * 1024

/** Headers that belong to one connection and are not passed on. `connection` and `upgrade` are set again. */
const hopByHop = new Set([
  "connection",
  "upgrade",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "host",
  "authorization",
  "content-length",
])

/** The destination: host, port, path, TLS (unless `protocol` is "http:"), and headers to add. */
export interface UpgradeTarget extends Omit<RequestOptions, "headers"> {
  headers?: Readonly<Record<string, string | string[]>>
}

export interface UpgradedConnection {
  socket: Duplex
  head: Buffer
  headers: IncomingHttpHeaders
}

/** Called with each piece that one side sends; what it returns is sent on instead. If it throws, both sides are cut off. */
export type Translate = (piece: Buffer) => Buffer

export interface Translation {
  fromClient?: Translate | undefined
  fromTarget?: Translate | undefined
}

export interface OpenOptions {
  signal?: AbortSignal | undefined
  /** Timeout of the connection and the response to the upgrade request, together. */
  answerMs?: number
}

export interface ForwardOptions extends OpenOptions {
  /** Told of what one side has sent and the other does not take. */
  hold?: HoldUnsent | undefined
  /** Ends the stream. (It may also be aborted because the client has left, which the stream observes itself.) */
  signal?: AbortSignal | undefined
  /** Called when the target has accepted, with its headers. */
  translation?: (accepted: IncomingHttpHeaders) => Translation
}

/** The target responded without switching protocols. */
export class UpgradeRefused extends Error {
  override readonly name = "UpgradeRefused"
  readonly code: number
  readonly headers: IncomingHttpHeaders
  readonly body: string

  constructor(code: number, headers: IncomingHttpHeaders, body: string) {
    super(body.trim() === "" ? `the connection was answered with ${code} instead of an upgrade` : body.trim())
    this.code = code
    this.headers = headers
    this.body = body
  }
}

/** Requests the switch. Resolves after 101; fails with UpgradeRefused, or with the connection's error. */
export function openUpgrade(
  target: UpgradeTarget,
  { signal, answerMs = nodeConnectTimeoutMs }: OpenOptions = {},
): Promise<UpgradedConnection> {
  const { promise, resolve, reject } = Promise.withResolvers<UpgradedConnection>()
  const send = target.protocol === "http:" ? httpRequest : httpsRequest
  const request = send({ ...tcpKeepAlive, ...target, ...(signal === undefined ? {} : { signal }) })
  const late = setTimeout(
    () => request.destroy(new Error(`no answer to the upgrade in ${answerMs / 1000} s`)),
    answerMs,
  )
  request.once("close", () => clearTimeout(late))
  request.on("upgrade", (response, socket, head) => {
    clearTimeout(late)
    socket.on("error", () => undefined) // close follows; whoever joins it may listen too late
    resolve({ socket, head, headers: response.headers })
  })
  request.on("response", (response) => {
    let body = ""
    const refused = (): void => reject(new UpgradeRefused(response.statusCode ?? 502, response.headers, body))
    response.setEncoding("utf8")
    response.on("data", (text: string) => {
      body = (body + text).slice(0, maxRefusalCharacters)
      if (body.length < maxRefusalCharacters) return
      refused()
      // The response may have no end.
      request.destroy()
    })
    response.on("end", refused)
    response.on("error", reject)
  })
  request.on("error", reject)
  request.end()
  return promise
}

/** The same for a client that may leave before the target has answered. */
export async function openUpgradeFor(
  client: Duplex,
  target: UpgradeTarget,
  { signal, ...options }: OpenOptions = {},
): Promise<UpgradedConnection> {
  if (client.destroyed) throw new Error("the client has left")
  const left = new AbortController()
  const leave = (): void => left.abort()
  client.once("close", leave)
  try {
    const either = signal === undefined ? left.signal : AbortSignal.any([left.signal, signal])
    return await openUpgrade(target, { ...options, signal: either })
  } finally {
    client.off("close", leave)
  }
}

/** The client's headers for the target, without those of the connection, and those that tell who asks, which has been found out. */
export function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !hopByHop.has(name) && !ofCaller.test(name)) kept[name] = value
  }
  return kept
}

/** For these a server would impersonate once more, for the wrong user, or take the client for an authenticating proxy. */
const ofCaller = /^(?:impersonate-|x-remote-(?:user|uid|group)$|x-remote-extra-)/

/**
 * Forwards the client's upgrade request to `target` (host, port, path, TLS, headers to add) and joins both connections. Resolves
 * when they are joined. Fails before anything was written to the client, so that the caller can still respond.
 */
export async function forwardUpgrade(
  request: IncomingMessage,
  upgrade: { socket: Duplex; head: Buffer },
  target: UpgradeTarget,
  { hold, translation, ...options }: ForwardOptions = {},
): Promise<void> {
  const headers = {
    ...forwardedHeaders(request.headers),
    ...target.headers,
    connection: "Upgrade",
    upgrade: request.headers.upgrade ?? "",
  }
  const far = await openUpgradeFor(upgrade.socket, { ...target, method: request.method ?? "GET", headers }, options)
  const lines = ["HTTP/1.1 101 Switching Protocols"]
  for (const [name, value] of Object.entries(far.headers)) {
    for (const one of Array.isArray(value) ? value : [value]) lines.push(`${name}: ${one}`)
  }
  upgrade.socket.write(`${lines.join("\r\n")}\r\n\r\n`)
  const heads = [upgrade.head, far.head] as const
  join(upgrade.socket, far.socket, {
    hold,
    signal: options.signal,
    heads,
    translation: translation?.(far.headers),
  })
}

interface JoinOptions {
  /** As in ForwardOptions. */
  hold?: HoldUnsent | undefined
  signal?: AbortSignal | undefined
  /** What client and target have sent already. (It may have ended since, so that this can no longer be put back.) */
  heads?: readonly [Buffer, Buffer]
  translation?: Translation | undefined
}

/**
 * Pipes both directions with backpressure. When one side ends or fails, the other is ended after all data has been passed on. `hold`: told
 * of what one side has sent and the other does not take.
 */
export function join(
  client: Duplex,
  target: Duplex,
  { hold, signal, heads, translation = {} }: JoinOptions = {},
): void {
  if (client.destroyed || target.destroyed) {
    client.destroy()
    target.destroy()
    return
  }
  countUnsent(client, target, hold)
  countUnsent(target, client, hold)
  pass(client, target, translation.fromClient, heads?.[0])
  pass(target, client, translation.fromTarget, heads?.[1])
  // One for both reasons to end it: each listener for its close counts among those that Node finds too many.
  const late = new Late(client)
  const forget = signal === undefined ? undefined : endWith(signal, client, target, late)
  for (const side of [client, target]) side.on("error", () => undefined) // close follows
  client.on("close", () => {
    forget?.()
    late.stop()
    endTarget(target)
  })
  target.on("close", () => endClient(client, late))
}

/** Destroys a side after a time, if it has been told to. */
class Late {
  readonly #side: Duplex
  #timer: NodeJS.Timeout | undefined

  constructor(side: Duplex) {
    this.#side = side
  }

  /** The first one counts. */
  start(): void {
    if (this.#side.destroyed) return
    this.#timer ??= setTimeout(() => this.#side.destroy(), closeTimeoutMs).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}

/**
 * Returns a function to call when the client has closed, not before: one that takes nothing would otherwise hold what it has been sent when
 * its tenant is gone.
 */
function endWith(signal: AbortSignal, client: Duplex, target: Duplex, late: Late): () => void {
  const end = (): void => {
    // What a client has sent before it left is still passed on.
    if (client.destroyed) return
    target.destroy()
    late.start()
  }
  signal.addEventListener("abort", end, { once: true })
  if (signal.aborted) end()
  return () => signal.removeEventListener("abort", end)
}

function pass(from: Duplex, to: Duplex, translate: Translate | undefined, head: Buffer | undefined): void {
  if (translate === undefined) {
    if (head !== undefined && head.length > 0) to.write(head)
    from.pipe(to)
    return
  }
  // Like a pipe. (One with a transform in it would not have passed on everything when its source is closed.)
  let isResting = false
  const resume = (): void => void (isResting || to.writableNeedDrain || from.resume())
  const rest = (ms: number): void => {
    isResting = true
    from.pause()
    setTimeout(() => {
      isResting = false
      resume()
    }, ms).unref()
  }
  const send = (piece: Buffer): void => {
    if (!to.writable) return
    try {
      const before = workedMs()
      const translated = translate(piece)
      if (translated.length > 0 && !to.write(translated)) from.pause()
      const tookMs = workedMs() - before
      if (tookMs > longMs) rest(tookMs * restsPerWork)
    } catch (error) {
      from.destroy(error as Error)
      to.destroy()
    }
  }
  const end = (): void => void to.end()
  from.on("data", send)
  to.on("drain", resume)
  if (head !== undefined && head.length > 0) send(head)
  if (from.readableEnded) end()
  else from.on("end", end)
}

/** What the client has sent is still passed on. */
function endTarget(target: Duplex): void {
  if (target.destroyed) return
  if (target.writableFinished) {
    target.destroy()
    return
  }
  const timer = setTimeout(() => target.destroy(), closeTimeoutMs)
  timer.unref()
  // Also called if it is destroyed before.
  target.end(() => {
    clearTimeout(timer)
    target.destroy()
  })
}

/**
 * What the target has sent is still passed on: the last bytes of exec contain the command's exit status. As upstream, a client may take its
 * time, as a pager does, unless a signal ends the stream; meanwhile it holds what any slow reader holds. What it still sends is dropped, but read: a connection that is
 * closed with unread bytes is reset, and what the client has not read by then is lost.
 */
function endClient(client: Duplex, late: Late): void {
  if (client.destroyed) return
  client.resume()
  const finished = (): void => {
    if (client.destroyed) return
    late.start()
    const end = (): void => void client.destroy()
    if (client.readableEnded) end()
    else client.once("end", end)
  }
  if (client.writableFinished) finished()
  else client.end(finished)
}
