// Requests and watches of one tenant over persistent connections, with every parameter and every answer.

import { Agent, type IncomingMessage } from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import type { KubeObject } from "../../../apimachinery/object.ts"
import type { TestGateway, TestTenant } from "../../../gateway/testing/start-gateway.ts"

export interface Answer {
  code: number
  body: KubeObject & { items?: KubeObject[]; metadata: { continue?: string; remainingItemCount?: number } }
}

export interface WatchedEvent {
  type: string
  object: KubeObject
}

/** Events that have come so far. */
export interface Stream {
  readonly code: number
  readonly events: WatchedEvent[]
  readonly hasEnded: boolean
  close(): void
}

export class TenantConnection implements Disposable {
  readonly #url: URL
  readonly #options: object
  readonly #agent: Agent

  constructor({ gateway }: TestGateway, { url, certificate, key }: TestTenant) {
    this.#url = new URL(url)
    this.#agent = new HttpsAgent({ keepAlive: true })
    this.#options = { ca: gateway.certificateAuthority, cert: certificate, key, agent: this.#agent }
  }

  async call(method: string, path: string, body?: object, contentType = "application/json"): Promise<Answer> {
    const response = await this.#send(method, path, body, contentType)
    const text = Buffer.concat((await response.toArray()) as Buffer[]).toString()
    return { code: response.statusCode ?? 0, body: JSON.parse(text) as Answer["body"] }
  }

  async watch(path: string): Promise<Stream> {
    const response = await this.#send("GET", path)
    const events: WatchedEvent[] = []
    let [rest, hasEnded] = ["", false]
    response.setEncoding("utf8")
    response.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n")
      rest = lines.pop() ?? ""
      events.push(...lines.map((line) => JSON.parse(line) as WatchedEvent))
    })
    response.on("error", () => undefined) // closed
    response.on("close", () => (hasEnded = true))
    return {
      code: response.statusCode ?? 0,
      events,
      get hasEnded() {
        return hasEnded
      },
      close: () => response.destroy(),
    }
  }

  #send(method: string, path: string, body?: object, contentType = "application/json"): Promise<IncomingMessage> {
    const { hostname, port, pathname } = this.#url
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = text === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(text) }
    return new Promise((resolve, reject) => {
      const options = { ...this.#options, hostname, port, path: pathname + path, method, headers }
      httpsRequest(options, resolve).on("error", reject).end(text)
    })
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
