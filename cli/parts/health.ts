// /livez, /readyz and /metrics over plain HTTP, for the probes and the Prometheus of the cluster that the parts run in. The gateway
// serves the same paths on its own port, where reading the metrics needs the credential of its administrator.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { limitConnections } from "../../client/http/connection-limit.ts"
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { expositionType } from "../../client/metrics/exposition.ts"
import { allAddresses, explainListen } from "../../gateway/connections/listener.ts"
import { printProcess } from "../../gateway/metrics/process.ts"
import { UserError } from "../command.ts"
import { listenPort, optional, section, text } from "../config.ts"

const fields = section({ host: optional(text), port: listenPort })

/** Configuration field of every part. */
export const healthField = { health: optional(fields) }

/** Lines for the help of a part. */
export const healthHelp = `  health:                serve /livez, /readyz and /metrics over plain HTTP, without a credential (default: not served)
    host                 address to listen on (default: all addresses, of IPv6 and IPv4)
    port                 required; 0 selects a free port
`

/** Probes and scrapes are few and short, so more connections or slower requests come from other clients, which must not keep them out. */
const maxConnections = 64
const requestTimeoutMs = 10_000

export class HealthServer implements AsyncDisposable {
  readonly #server: Server
  #print: () => string | Promise<string>
  #isReady = false

  private constructor(metrics: ClientMetrics) {
    const print = () => metrics.print() + printProcess()
    this.#print = print
    this.#server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error))
    })
    limitConnections(this.#server, maxConnections)
  }

  /** Resolves when the server listens; throws a UserError if it cannot. */
  static async start({ host, port }: { host?: string; port: number }, metrics: ClientMetrics): Promise<HealthServer> {
    const started = new HealthServer(metrics)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    started.#server.once("error", reject)
    started.#server.listen(port, host, resolve)
    try {
      await promise
    } catch (error) {
      const { message } = explainListen(error as NodeJS.ErrnoException, host ?? allAddresses, port)
      throw new UserError(`health cannot be served: ${message}`, { cause: error })
    }
    return started
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Makes /readyz succeed: the part has found its dependencies. It may still be waiting for its Lease. */
  ready(): void {
    this.#isReady = true
  }

  /** From now on /metrics serves this instead of the clients' metrics. */
  serveMetrics(print: () => Promise<string>): void {
    this.#print = print
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#server.close(() => resolve())
    this.#server.closeAllConnections()
    await promise
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const plain = { "content-type": "text/plain; charset=utf-8" }
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { ...plain, allow: "GET, HEAD" }).end("only GET is served\n")
      return
    }
    const [path] = (request.url ?? "").split("?", 1)
    if (path === "/livez" || path === "/healthz") response.writeHead(200, plain).end("ok")
    else if (path === "/readyz")
      response.writeHead(this.#isReady ? 200 : 503, plain).end(this.#isReady ? "ok" : "starting\n")
    else if (path === "/metrics") {
      const text = await this.#print()
      response.writeHead(200, { "content-type": expositionType }).end(text)
    } else response.writeHead(404, plain).end("known are /livez, /readyz and /metrics\n")
  }
}
