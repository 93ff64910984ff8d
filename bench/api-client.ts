// The client of bench/api.ts: a few open connections with sequential requests, whose durations are measured.

import { once } from "node:events"
import { Agent, request as httpsRequest, type RequestOptions } from "node:https"
import type { IncomingMessage } from "node:http"
import { json } from "node:stream/consumers"

export interface Server {
  name: string
  /** With the path of a tenant. */
  url: string
  certificateAuthority: string
  certificate?: string
  key?: string
  token?: string
  pids: readonly number[]
}

export interface Call {
  method: string
  path: string
  contentType?: string
  accept?: string
  /** Requests an uncompressed response. */
  isPlain?: boolean
  body?: string
}

export class BenchClient implements Disposable {
  readonly #agent: Agent
  readonly #server: Server

  constructor(server: Server) {
    const { certificateAuthority: ca, certificate, key } = server
    this.#server = server
    this.#agent = new Agent({
      keepAlive: true,
      ca,
      checkServerIdentity: () => undefined,
      ...(certificate === undefined ? {} : { cert: certificate }),
      ...(key === undefined ? {} : { key }),
    })
  }

  /**
   * Returns the milliseconds until the last byte. Fails if the response is not a success, since that would be measured as fast.
   */
  async call(call: Call): Promise<number> {
    const begin = performance.now()
    const response = await this.#send(call)
    const wrong: Buffer[] = []
    const failed = (response.statusCode ?? 0) >= 300
    for await (const chunk of response as AsyncIterable<Buffer>) if (failed) wrong.push(chunk)
    if (failed)
      throw new Error(`${call.method} ${call.path}: ${response.statusCode} ${Buffer.concat(wrong).toString()}`)
    return performance.now() - begin
  }

  /** Makes all calls over `connections` connections; returns the milliseconds of each. */
  async all(calls: readonly Call[], connections: number): Promise<number[]> {
    const waiting = calls.values()
    const took: number[] = []
    const work = async (): Promise<void> => {
      for (const call of waiting) took.push(await this.call(call))
    }
    await Promise.all(Array.from({ length: connections }, work))
    return took
  }

  /** Opens a watch and discards its events. */
  async watch(path: string): Promise<Disposable> {
    const response = await this.#send({ method: "GET", path })
    response.resume()
    response.on("error", () => undefined) // the connection is cut off at the end
    return { [Symbol.dispose]: () => void response.destroy() }
  }

  /** The current resourceVersion of a list. */
  async resourceVersion(path: string): Promise<string> {
    const response = await this.#send({ method: "GET", path, isPlain: true })
    const { metadata } = (await json(response)) as { metadata: { resourceVersion: string } }
    return metadata.resourceVersion
  }

  async #send({
    method,
    path,
    contentType,
    accept = "application/json",
    isPlain = false,
    body,
  }: Call): Promise<IncomingMessage> {
    const { url, token } = this.#server
    const { hostname, port, pathname } = new URL(url)
    const options: RequestOptions = {
      agent: this.#agent,
      hostname,
      port,
      method,
      path: `${pathname.replace(/\/$/, "")}${path}`,
      headers: {
        accept,
        ...(isPlain ? {} : { "accept-encoding": "gzip" }),
        "user-agent": "bench/1",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined
          ? {}
          : { "content-type": contentType ?? "application/json", "content-length": Buffer.byteLength(body) }),
      },
    }
    const request = httpsRequest(options)
    request.end(body)
    const [response] = (await once(request, "response")) as [IncomingMessage]
    return response
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
