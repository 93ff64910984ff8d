// A proxy before the API server of a super cluster, with faults of the test's choice: what a bad network, an overloaded server, or a
// load balancer does to the requests of Polyplane. Ends with its owner; listens on loopback only.

import { once } from "node:events"
import { readFile, writeFile } from "node:fs/promises"
import { Agent, createServer, request as httpsRequest, type Server } from "node:https"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import type { TestKubernetes } from "../harness/test-kubernetes.ts"

export interface ProxiedRequest {
  method: string
  /** Without the query. */
  path: string
  isWatch: boolean
}

/**
 * - reset: the connection ends before the server gets the request; lost: after the server has carried it out, before its answer.
 * - cut: the connection ends in the middle of the answer, for a watch in the middle of an event, after so many bytes.
 * - expired: a watch gets an event of 410 Expired and ends.
 * - refused: the answer of a server, with the seconds of a Retry-After.
 * - slow: the server gets it later.
 */
export type Fault =
  | { kind: "reset" }
  | { kind: "lost" }
  | { kind: "cut"; afterBytes: number }
  | { kind: "expired" }
  | { kind: "refused"; code: 409 | 429 | 500 | 503; reason: string; retryAfter?: number }
  | { kind: "slow"; ms: number }

export class FaultyProxy implements AsyncDisposable {
  /** Asked about each request; undefined: it is only passed on. */
  fault: (request: ProxiedRequest) => Fault | undefined = () => undefined
  /** Path of a kubeconfig that leads through the proxy. */
  readonly kubeconfig: string
  readonly #kubernetes: TestKubernetes
  readonly #server: Server
  readonly #agent: Agent
  readonly #sockets = new Set<Socket>()

  private constructor(kubernetes: TestKubernetes, server: Server, kubeconfig: string) {
    this.#kubernetes = kubernetes
    this.#server = server
    this.kubeconfig = kubeconfig
    this.#agent = new Agent({ keepAlive: true, ca: kubernetes.certificateAuthority })
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on("error", () => undefined) // close follows
      socket.once("close", () => this.#sockets.delete(socket))
    })
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      // What fails ends the connection, which is a fault like the others.
      this.#serve(request, response).catch(() => response.destroy())
    })
  }

  static async start(kubernetes: TestKubernetes): Promise<FaultyProxy> {
    const read = (name: "apiserver.crt" | "apiserver.key") => readFile(kubernetes.credential(name))
    const server = createServer({ cert: await read("apiserver.crt"), key: await read("apiserver.key") })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const text = await readFile(kubernetes.kubeconfig, "utf8")
    const kubeconfig = kubernetes.path(`proxy-${port}.kubeconfig`)
    await writeFile(kubeconfig, text.replaceAll(kubernetes.server, `https://127.0.0.1:${port}`), { mode: 0o600 })
    return new FaultyProxy(kubernetes, server, kubeconfig)
  }

  /** Ends all connections, as a load balancer does that is replaced. */
  disconnect(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close")
    this.#server.close()
    this.disconnect()
    this.#agent.destroy()
    await closed
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = request
    const { pathname, searchParams } = new URL(url, this.#kubernetes.server)
    const fault = this.fault({ method, path: pathname, isWatch: searchParams.has("watch") })
    if (fault?.kind === "reset") return void request.socket.destroy()
    if (fault?.kind === "refused") return refuse(request, response, fault)
    if (fault?.kind === "expired") return expire(response)
    if (fault?.kind === "slow") await delay(fault.ms)
    const answer = await this.#pass(request, response)
    if (fault?.kind === "lost") {
      answer.resume()
      await once(answer, "end")
      return void request.socket.destroy()
    }
    const { "transfer-encoding": _encoding, connection: _connection, ...headers } = answer.headers
    response.writeHead(answer.statusCode ?? 502, headers)
    response.flushHeaders()
    let left = fault?.kind === "cut" ? fault.afterBytes : Number.POSITIVE_INFINITY
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      if (chunk.length >= left) {
        response.write(chunk.subarray(0, left), () => request.socket.destroy())
        return
      }
      left -= chunk.length
      if (!response.write(chunk)) await Promise.race([once(response, "drain"), once(response, "close")])
    }
    response.end()
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<IncomingMessage> {
    const { host: _host, connection: _connection, ...headers } = request.headers
    const passed = httpsRequest(new URL(request.url ?? "/", this.#kubernetes.server), {
      method: request.method ?? "GET",
      headers,
      agent: this.#agent,
    })
    response.once("close", () => passed.destroy())
    request.pipe(passed)
    const answered = once(passed, "response")
    const [answer] = (await answered) as [IncomingMessage]
    passed.on("error", () => undefined) // the reader of the answer gets it
    return answer
  }
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { code, reason, retryAfter }: Fault & { kind: "refused" },
): void {
  request.resume()
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "a fault of the test",
    reason,
    code,
  }
  const headers = {
    "content-type": "application/json",
    ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
  }
  response.writeHead(code, headers).end(JSON.stringify(status))
}

function expire(response: ServerResponse): void {
  const object = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "too old",
    reason: "Expired",
    code: 410,
  }
  response.writeHead(200, { "content-type": "application/json" }).end(`${JSON.stringify({ type: "ERROR", object })}\n`)
}
