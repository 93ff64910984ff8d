// Forwards a protocol switch (exec, attach, port-forward) from one server to another, for any protocol: SPDY/3.1 and WebSocket
// alike. The bytes after the switch are not interpreted here. Used by the gateway towards vn-agents and by vn-agents towards kubelets;
// a proxy library for WebSocket alone would not support SPDY.

import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from "node:http"
import { request as httpsRequest, type RequestOptions } from "node:https"
import type { Duplex } from "node:stream"
import { join, type JoinOptions, type Translation } from "./join.ts"
import { tcpKeepAlive } from "./tcp-keep-alive.ts"
import { nodeConnectTimeoutMs } from "./time-limits.ts"

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

interface OpenOptions {
  signal?: AbortSignal | undefined
  /** Timeout of the connection and the response to the upgrade request, together. */
  answerMs?: number
}

export interface ForwardOptions extends OpenOptions, Pick<JoinOptions, "hold" | "signal"> {
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
