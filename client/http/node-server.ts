// Common code of the servers of a node, the kubelet's HTTP API and vn-agent's: HTTPS, plain and upgraded requests (exec, attach,
// port-forward), errors as a code and a sentence of plain text, and a shutdown that leaves no socket open.

import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server, type ServerOptions } from "node:https"
import type { AddressInfo, Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { SecureContextOptions } from "node:tls"
import { closeConnection } from "./closing.ts"
import { limitConnections } from "./connection-limit.ts"
import { tcpKeepAlive } from "./tcp-keep-alive.ts"
import { UpgradeRefused } from "./upgrade.ts"

/**
 * The request line contains the command of exec: a request that a gateway accepts (64 KiB by default) must fit, together with its
 * token.
 */
const maxHeaderBytes = 256 * 1024

/** A client that has not completed the TLS handshake by then is disconnected. */
const handshakeMs = 10_000

/** The response to a call that is refused. */
export class CallRefused extends Error {
  override readonly name = "CallRefused"
  /** HTTP status code. */
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export interface NodeServerOptions {
  /** Default: all addresses, of IPv6 and of IPv4. */
  host?: string | undefined
  /** 0 selects a free port. */
  port: number
  tls: ServerOptions
  /** Maximum number of connections. A further one replaces the one that has been without a request for longest, if there is one. */
  maxConnections: number
  /** Both throw CallRefused, or the UpgradeRefused of the server they called, before anything is sent. */
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>
  upgrade(request: IncomingMessage, upgrade: { socket: Duplex; head: Buffer }): Promise<void>
  /** Handles any other error, which is a bug: logs it and returns the response. */
  explain(error: unknown, request: IncomingMessage): CallRefused
}

export class NodeServer implements AsyncDisposable {
  readonly #server: Server
  readonly #options: NodeServerOptions
  readonly #sockets: ReadonlySet<Socket>
  #port = 0

  private constructor(options: NodeServerOptions) {
    this.#options = options
    const limits = { handshakeTimeout: handshakeMs, maxHeaderSize: maxHeaderBytes }
    this.#server = createServer({ ...limits, ...tcpKeepAlive, ...options.tls })
    this.#sockets = limitConnections(this.#server, options.maxConnections)
    this.#server.on("request", (request, response) => void this.#serve(request, response))
    this.#server.on("upgrade", (request, socket, head) => void this.#upgrade(request, socket, head))
  }

  /** Resolves when the server listens; fails if it cannot (e.g. EADDRINUSE). */
  static async start(options: NodeServerOptions): Promise<NodeServer> {
    const started = new NodeServer(options)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    started.#server.once("error", reject)
    started.#server.listen(options.port, options.host, resolve)
    await promise
    started.#port = (started.#server.address() as AddressInfo).port
    return started
  }

  get port(): number {
    return this.#port
  }

  /** Applies to new connections; absent values are unchanged. Throws if certificate and key do not match. */
  setSecureContext(context: SecureContextOptions): void {
    this.#server.setSecureContext({ ...this.#options.tls, ...context })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#server.close(() => resolve())
    for (const socket of this.#sockets) socket.destroy()
    await promise
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/healthz") {
      response.end("ok")
      return
    }
    try {
      await this.#options.serve(request, response)
    } catch (error) {
      answer(response, this.#refusal(error, request))
    }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy())
    try {
      await this.#options.upgrade(request, { socket, head })
    } catch (error) {
      if (socket.destroyed) return // the caller has left, which has ended the call
      const { code, message } = this.#refusal(error, request)
      const length = Buffer.byteLength(message)
      const lines = [`HTTP/1.1 ${code} Refused`, "Content-Type: text/plain", `Content-Length: ${length}`]
      closeConnection(socket, [...lines, "Connection: close", "", message].join("\r\n"))
    }
  }

  #refusal(error: unknown, request: IncomingMessage): CallRefused {
    if (error instanceof CallRefused) return error
    if (error instanceof UpgradeRefused) return new CallRefused(error.code, error.message)
    return this.#options.explain(error, request)
  }
}

/** A response that has started is cut off, so that the client does not take it for complete. */
function answer(response: ServerResponse, { code, message }: CallRefused): void {
  if (response.headersSent) response.destroy()
  else response.writeHead(code, { "content-type": "text/plain" }).end(message)
}
