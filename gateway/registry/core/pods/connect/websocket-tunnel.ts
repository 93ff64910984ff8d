// Port-forward of kubectl ≥ 1.31: a WebSocket whose concatenated binary messages are a SPDY/3.1 connection. The WebSocket is
// terminated here, and SPDY is forwarded to the node. Source: KEP-4006 and k8s.io/apiserver's tunneling handler.

import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { createWebSocketStream, WebSocketServer } from "ws"
import { closeTimeoutMs, join } from "../../../../../client/http/join.ts"
import { type ForwardOptions, openUpgradeFor, type UpgradeTarget } from "../../../../../client/http/upgrade.ts"
import { limitMessagesPerTurn } from "../../../../request/web-socket.ts"

const prefix = "SPDY/3.1+"
const portForwardProtocol = "portforward.k8s.io"
/** Limit of one message; kubectl's have at most 32 KiB. */
const maxMessageBytes = 1024 * 1024

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
  request: IncomingMessage,
  { socket, head }: { socket: Duplex; head: Buffer },
  target: UpgradeTarget,
  { hold, signal }: Pick<ForwardOptions, "hold" | "signal"> = {},
): Promise<void> {
  const headers = {
    ...target.headers,
    connection: "Upgrade",
    upgrade: "SPDY/3.1",
    "x-stream-protocol-version": portForwardProtocol,
  }
  const far = await openUpgradeFor(socket, { ...target, method: "POST", headers }, { signal })
  let near: Duplex | undefined
  const left = (): void => {
    if (near === undefined) far.socket.destroy() // a failed handshake
    else passOnLast(near, far.socket)
  }
  socket.once("close", left)
  if (socket.destroyed) left()
  const server = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes })
  // The protocol's name contains a slash and is not a token of RFC 6455. The library would reject it, so it is negotiated here.
  delete request.headers["sec-websocket-protocol"]
  server.on("headers", (headers) => headers.push(`Sec-WebSocket-Protocol: ${prefix}${portForwardProtocol}`))
  server.handleUpgrade(request, socket, head, (client) => {
    limitMessagesPerTurn(client)
    near = createWebSocketStream(client)
    join(near, far.socket, { hold, signal: exceptLeaving(socket, signal), heads: [Buffer.alloc(0), far.head] })
  })
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
