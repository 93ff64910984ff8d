// The kubelet's HTTP API of one simulated node: logs, exec, attach, port-forward, over the real protocols, so that gateway and
// vn-agents speak to it as to any kubelet. Callers prove themselves with a client certificate.

import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import type { Log } from "../../client/log.ts"
import type { PodSandbox } from "../kubelet/pod-sandbox.ts"
import { sendLogs } from "./logs.ts"
import { acceptPortForward } from "./port-forward.ts"
import { acceptRemoteCommand } from "./remote-command.ts"
import { KubeletError, type KubeletRequest } from "./request.ts"

const maxConnections = 1024

export interface KubeletServerOptions {
  node: string
  host: string
  /** 0: any free one. */
  port: number
  tls: { certificate: string; key: string }
  /** PEM: who signs the certificates callers must have. */
  clientCertificateAuthority: string
  sandbox(namespace: string, pod: string): PodSandbox | undefined
  log: Log
}

export class KubeletServer implements AsyncDisposable {
  readonly #server: Server
  readonly #options: KubeletServerOptions
  readonly #sockets = new Set<Duplex>()

  private constructor(options: KubeletServerOptions) {
    this.#options = options
    this.#server = createServer({
      cert: options.tls.certificate,
      key: options.tls.key,
      ca: options.clientCertificateAuthority,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: "TLSv1.2",
    })
    this.#server.maxConnections = maxConnections
    this.#server.on("request", (request, response) => this.#serve(request, response))
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head))
  }

  static async start(options: KubeletServerOptions): Promise<KubeletServer> {
    const kubelet = new KubeletServer(options)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    kubelet.#server.once("error", reject)
    kubelet.#server.listen(options.port, options.host, resolve)
    await promise
    return kubelet
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#server.close(() => resolve())
    this.#server.closeAllConnections()
    for (const socket of this.#sockets) socket.destroy()
    await promise
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    try {
      if (request.url === "/healthz") {
        response.end("ok")
        return
      }
      const found = this.#route(request)
      if (found.action !== "containerLogs") throw new KubeletError(400, "Upgrade request required")
      sendLogs(found, response)
    } catch (error) {
      const { code, message } = this.#explain(error)
      response.writeHead(code, { "content-type": "text/plain" }).end(message)
    }
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#sockets.add(socket)
    socket.on("close", () => this.#sockets.delete(socket))
    socket.on("error", () => socket.destroy())
    try {
      const found = this.#route(request)
      if (found.action === "portForward") acceptPortForward(found, request, socket, head)
      else if (found.action === "exec" || found.action === "attach") acceptRemoteCommand(found, request, socket, head)
      else throw new KubeletError(400, "this cannot be upgraded")
    } catch (error) {
      const { code, message } = this.#explain(error)
      socket.end(
        `HTTP/1.1 ${code} Refused\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(message)}\r\nConnection: close\r\n\r\n${message}`,
      )
    }
  }

  /** /action/namespace/pod[/uid][/container] */
  #route(request: IncomingMessage): KubeletRequest {
    const url = new URL(request.url ?? "/", "https://kubelet")
    const [action = "", namespace = "", pod = "", ...rest] = url.pathname.slice(1).split("/").map(decodeURIComponent)
    const lengths: Record<string, readonly number[]> = {
      containerLogs: [1],
      exec: [1, 2],
      attach: [1, 2],
      portForward: [0, 1],
    }
    if (lengths[action]?.includes(rest.length) !== true) throw new KubeletError(404, "404 page not found")
    const sandbox = this.#options.sandbox(namespace, pod)
    if (sandbox === undefined) throw new KubeletError(404, `pod does not exist: pod "${pod}_${namespace}" not found`)
    const uid = rest.length === 2 || (action === "portForward" && rest.length === 1) ? rest[0] : undefined
    if (uid !== undefined && uid !== sandbox.uid)
      throw new KubeletError(404, `pod "${pod}_${namespace}" has another uid`)
    return { action, sandbox, container: action === "portForward" ? "" : (rest.at(-1) ?? ""), query: url.searchParams }
  }

  #explain(error: unknown): KubeletError {
    if (error instanceof KubeletError) return error
    this.#options.log.error({ err: error, node: this.#options.node }, "a kubelet call failed")
    return new KubeletError(500, "internal error of the simulated kubelet")
  }
}
