// HTTP/2 for clients that request it (ALPN), on the same port and with the same filter chain. Many watches can then share one
// connection, which accounts for most of the cost of a watch. Upgrades (exec, port-forward) remain on HTTP/1.1, as clients expect.
// Requests and responses are adapted to the interface of HTTP/1.1 here; the code below cannot distinguish them.

import type { RequestListener } from "node:http"
import {
  constants,
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type SecureServerOptions,
  type ServerHttp2Session,
} from "node:http2"
import type { Server, ServerOptions } from "node:https"
import type { Socket } from "node:net"
import type { GatewayLimits } from "../options.ts"
import { rememberSocket, StreamRequest } from "./stream-request.ts"
import { StreamResponse } from "./stream-response.ts"

const MiB = 1024 * 1024

/**
 * PING and SETTINGS frames per connection and window. Each must be answered but costs its sender nothing; clients send one every
 * few seconds. Beyond: the connection is closed.
 */
const maxControlFrames = 1000
const controlFramesWindowMs = 10_000

/** A client that is told that its connection is closed has this long to close it as well. As Go's server. */
const closingMs = 1000

type StreamLimits = Pick<GatewayLimits, "maxStreams" | "maxHeaderBytes" | "maxSessionBytes" | "keepAliveMs">

/** What each header counts beyond its text. RFC 9113, section 6.5.2. */
const bytesOfPair = 32

/**
 * Creates a server for both versions. `options` are those of an HTTP/1.1 server; the result supports the part of its interface that
 * the gateway uses. Node itself limits resets by clients (streamResetBurst and streamResetRate, 1,000 and 33 per second) and
 * endless headers (8 CONTINUATION frames).
 */
export function createHttp2Server(options: ServerOptions, limits: StreamLimits, serve: RequestListener): Server {
  const server = createSecureServer(
    {
      ...options,
      allowHTTP1: true,
      ALPNProtocols: ["h2", "http/1.1"],
      settings: {
        maxConcurrentStreams: limits.maxStreams,
        maxHeaderListSize: limits.maxHeaderBytes,
        enablePush: false,
      },
      maxHeaderListPairs: Math.ceil(limits.maxHeaderBytes / bytesOfPair), // Node would take 128, and groups are a header each
      // More than an answer of a proxy may have (proxy/forward.ts): beyond, Node would tell the client nothing.
      maxSendHeaderBlockLength: MiB,
      maxSessionMemory: Math.ceil(limits.maxSessionBytes / MiB),
      Http2ServerRequest: StreamRequest,
      Http2ServerResponse: StreamResponse,
    } as unknown as SecureServerOptions,
    serve as unknown as (request: Http2ServerRequest, response: Http2ServerResponse) => void,
  )
  const sessions = new Set<ServerHttp2Session>()
  const sockets = new Set<Socket>()
  let arrived: Socket | undefined
  // Before Node's own listener, which creates the session.
  server.prependListener("secureConnection", (socket: Socket) => {
    arrived = socket
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  server.on("session", (session) => {
    if (arrived !== undefined) rememberSocket(session, arrived)
    sessions.add(session)
    session.once("close", () => sessions.delete(session))
    // The connection broke; its streams have been notified.
    session.on("error", () => undefined)
    // Less while there are many (connections/keep-alive.ts).
    closeWhenIdle(session, arrived, () => Math.min((server as unknown as Server).keepAliveTimeout, limits.keepAliveMs))
    closeWhenFlooded(session)
  })
  const close = server.close.bind(server)
  return Object.assign(server as unknown as Server, {
    close(callback?: (error?: Error) => void) {
      // Sessions accept no new streams and end with those in progress.
      for (const session of sessions) session.close()
      close(callback)
      return server as unknown as Server
    },
    closeAllConnections() {
      for (const socket of sockets) socket.destroy()
    },
  })
}

/**
 * Closes a session that has had no request for so long. As in Go's server, PINGs do not keep it open: anybody could hold all connections
 * with them. Sessions with idle watches stay open.
 */
function closeWhenIdle(session: ServerHttp2Session, socket: Socket | undefined, idleMs: () => number): void {
  let streams = 0
  let idleSince = performance.now()
  session.on("stream", (stream) => {
    streams++
    stream.once("close", () => {
      streams--
      idleSince = performance.now()
    })
  })
  // No timer is set for each request.
  const check = (): void => {
    const limit = idleMs()
    const left = streams > 0 ? limit : idleSince + limit - performance.now()
    if (left > 0) timer = setTimeout(check, Math.ceil(left)).unref()
    else {
      session.close()
      // Node alone would leave it open for as long as its client does.
      timer = setTimeout(() => socket?.destroy(), closingMs).unref()
    }
  }
  let timer = setTimeout(check, idleMs()).unref()
  session.once("close", () => clearTimeout(timer))
}

function closeWhenFlooded(session: ServerHttp2Session): void {
  let since = 0
  let count = 0
  const take = (): void => {
    const now = performance.now()
    if (now - since > controlFramesWindowMs) {
      since = now
      count = 0
    }
    if (++count === maxControlFrames) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }
  session.on("ping", take)
  session.on("remoteSettings", take)
}
