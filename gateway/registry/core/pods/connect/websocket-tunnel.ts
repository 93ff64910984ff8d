// Port-forward as kubectl ≥ 1.31 asks for it: a WebSocket whose binary messages are, joined, a SPDY/3.1 connection. The
// messages end here; SPDY goes on to the node. Source: KEP-4006 and k8s.io/apiserver's tunneling handler.

import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { createWebSocketStream, WebSocketServer } from "ws"
import { join, openUpgrade, type UpgradeTarget } from "../../../../../client/upgrade.ts"

const prefix = "SPDY/3.1+"
const portForwardProtocol = "portforward.k8s.io"
/** Of one message; kubectl's are at most 32 KiB. */
const maxMessageBytes = 1024 * 1024

function protocols(request: IncomingMessage): string[] {
  return (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim())
}

export function isTunnelled(request: IncomingMessage): boolean {
  return (
    request.headers.upgrade?.toLowerCase() === "websocket" && protocols(request).some((name) => name.startsWith(prefix))
  )
}

/** Opens the SPDY connection first, so that a refusal can still be answered as one. */
export async function tunnel(
  request: IncomingMessage,
  { socket, head }: { socket: Duplex; head: Buffer },
  target: UpgradeTarget,
): Promise<void> {
  const far = await openUpgrade({
    ...target,
    method: "POST",
    headers: {
      ...target.headers,
      connection: "Upgrade",
      upgrade: "SPDY/3.1",
      "x-stream-protocol-version": portForwardProtocol,
    },
  })
  // Whatever becomes of the client's side, also when its handshake fails: the far side does not outlive it.
  socket.once("close", () => far.socket.destroy())
  if (socket.destroyed) far.socket.destroy()
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
  })
  // The protocol's name has a slash, which is no token of RFC 6455: the library would refuse it, so it is agreed on here.
  delete request.headers["sec-websocket-protocol"]
  server.on("headers", (headers) => headers.push(`Sec-WebSocket-Protocol: ${prefix}${portForwardProtocol}`))
  server.handleUpgrade(request, socket, head, (client) => {
    const near = createWebSocketStream(client)
    if (far.head.length > 0) near.write(far.head)
    join(near, far.socket)
  })
}
