// Port-forward of kubectl ≥ 1.31: a WebSocket whose concatenated binary messages are a SPDY/3.1 connection. The WebSocket is
// terminated here, and SPDY is forwarded to the node. Source: KEP-4006 and k8s.io/apiserver's tunneling handler.

import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { badRequest } from "../../../../../apimachinery/status.ts"
import { closeTimeoutMs, join } from "../../../../../client/http/join.ts"
import { type ForwardOptions, openUpgradeFor, type UpgradeTarget } from "../../../../../client/http/upgrade.ts"
import type { Exchange } from "../../../strategy.ts"
import { WebSocketBytes } from "./websocket-bytes.ts"

const prefix = "SPDY/3.1+"
const portForwardProtocol = "portforward.k8s.io"
const version = "13"
/** 16 bytes. */
const keyPattern = /^[A-Za-z\d+/]{22}==$/
/** Source: RFC 6455, section 1.3. */
const acceptanceSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

function protocols(request: IncomingMessage): string[] {
  return (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim())
}

export function isTunnelled(request: IncomingMessage): boolean {
  return (
    request.headers.upgrade?.toLowerCase() === "websocket" && protocols(request).some((name) => name.startsWith(prefix))
  )
}

/** Opens the SPDY connection first, so that an error can still be returned as an HTTP response. */
export async function tunnel(
  { request, response, upgrade: { socket, head } }: Exchange & { upgrade: { socket: Duplex; head: Buffer } },
  target: UpgradeTarget,
  { hold, signal }: Pick<ForwardOptions, "hold" | "signal"> = {},
): Promise<void> {
  const acceptance = acceptanceOf(request)
  if (acceptance === undefined) {
    response.setHeader("Sec-WebSocket-Version", version) // a client that asks for another one may try again
    throw badRequest("websocket: bad handshake")
  }
  const headers = {
    ...target.headers,
    connection: "Upgrade",
    upgrade: "SPDY/3.1",
    "x-stream-protocol-version": portForwardProtocol,
  }
  const far = await openUpgradeFor(socket, { ...target, method: "POST", headers }, { signal })
  if (socket.destroyed) {
    far.socket.destroy()
    return
  }
  socket.write(`${acceptance.join("\r\n")}\r\n\r\n`)
  const near = new WebSocketBytes(socket, head)
  socket.once("close", () => passOnLast(near, far.socket))
  join(near, far.socket, { hold, signal: exceptLeaving(socket, signal), heads: [Buffer.alloc(0), far.head] })
}

/** The lines of the handshake's answer. undefined if it is none. */
function acceptanceOf({ method, headers }: IncomingMessage): readonly string[] | undefined {
  const key = headers["sec-websocket-key"] ?? ""
  if (method !== "GET" || headers["sec-websocket-version"] !== version || !keyPattern.test(key)) return undefined
  const accepted = createHash("sha1").update(`${key}${acceptanceSuffix}`).digest("base64")
  return [
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Accept: ${accepted}`,
    `Sec-WebSocket-Protocol: ${prefix}${portForwardProtocol}`,
  ]
}

/** Aborted with the request's signal, but not because the client has left: then the node gets what it has sent before. */
function exceptLeaving(client: Duplex, signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined
  const ended = new AbortController()
  const end = (): void => {
    if (!client.destroyed) ended.abort(signal.reason)
  }
  if (signal.aborted) end()
  else signal.addEventListener("abort", end, { once: true })
  return ended.signal
}

/** When the client's connection has closed. Without this, its stream would stay open until the node has ended, too. */
function passOnLast(near: Duplex, far: Duplex): void {
  const late = setTimeout(() => far.destroy(), closeTimeoutMs).unref()
  const end = (): void => {
    clearTimeout(late)
    near.destroy()
  }
  if (near.readableEnded) end()
  else near.once("end", end)
}
