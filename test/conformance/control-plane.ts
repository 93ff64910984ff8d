// The control plane of one tenant over real HTTPS, for the tests of this folder. Each test states one guarantee of the API.

import { Agent, request as httpsRequest, type RequestOptions } from "node:https"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import { startTestGateway } from "../../gateway/testing/start-gateway.ts"

interface Answer {
  code: number
  headers: IncomingHttpHeaders
  text: string
  /** The body as JSON. Loosely typed: tests access the fields they expect. */
  // oxlint-disable-next-line typescript/no-explicit-any
  json: any
}

interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR"
  // oxlint-disable-next-line typescript/no-explicit-any
  object: any
}

interface Watch {
  code: number
  headers: IncomingHttpHeaders
  /** Undefined at the end of the stream. */
  next(): Promise<WatchEvent | undefined>
  /** Ends the watch and returns the events that have not been read. */
  stop(): Promise<WatchEvent[]>
}

interface CallOptions {
  headers?: Record<string, string>
  contentType?: string
}

export interface TestControlPlane extends AsyncDisposable {
  kubeconfig: string
  /** `body`: buffers and strings are sent as they are, everything else as JSON. */
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>
  watch(path: string, headers?: Record<string, string>): Promise<Watch>
  /** Compacts the history up to now. */
  compact(): Promise<void>
}

export async function startControlPlane(): Promise<TestControlPlane> {
  const gateway = await startTestGateway()
  const { certificate = "", key = "", url, kubeconfig } = await gateway.createTenant("conformance")
  const agent = new Agent({
    keepAlive: true,
    ca: gateway.gateway.certificateAuthority,
    cert: certificate,
    key,
    checkServerIdentity: () => undefined,
  })
  const { hostname, port, pathname } = new URL(url)
  const send = (options: RequestOptions, body?: string | Uint8Array): Promise<IncomingMessage> => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const request = httpsRequest({ hostname, port, agent, ...options, path: pathname + (options.path ?? "") }, resolve)
    request.on("error", reject)
    request.end(body)
    return promise
  }
  return {
    kubeconfig,
    async call(method, path, body, { headers = {}, contentType = "application/json" } = {}) {
      const raw = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)
      // Node sends the body of a DELETE without a content-length.
      const type = raw === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(raw) }
      const response = await send({ method, path, headers: { ...type, ...headers } }, raw)
      const text = Buffer.concat(await response.toArray()).toString()
      return { code: response.statusCode ?? 0, headers: response.headers, text, json: jsonOf(text) }
    },
    async watch(path, headers = {}) {
      const response = await send({ path: `${path}${path.includes("?") ? "&" : "?"}watch=true`, headers })
      const events = readEvents(response)
      return {
        code: response.statusCode ?? 0,
        headers: response.headers,
        next: () => events.next(),
        stop() {
          response.destroy()
          return Promise.resolve(events.rest())
        },
      }
    },
    async compact() {
      const store = (await gateway.gateway.tenants.byName("conformance"))?.store
      await store?.compact(store.revision)
    },
    async [Symbol.asyncDispose]() {
      agent.destroy()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

/** Maximum wait for each line; a line is an event. */
const patienceMs = 60_000

function readEvents(response: IncomingMessage) {
  const queue: WatchEvent[] = []
  let ended = false
  let wake = Promise.withResolvers<void>()
  let pending = ""
  response.setEncoding("utf8")
  response.on("data", (text: string) => {
    const lines = (pending + text).split("\n")
    pending = lines.pop() ?? ""
    for (const line of lines) if (line !== "") queue.push(JSON.parse(line) as WatchEvent)
    wake.resolve()
  })
  response.on("error", () => undefined) // the connection is closed then
  response.on("close", () => {
    ended = true
    wake.resolve()
  })
  return {
    rest: () => queue.splice(0),
    async next(): Promise<WatchEvent | undefined> {
      while (queue.length === 0 && !ended) {
        wake = Promise.withResolvers<void>()
        const late = setTimeout(() => wake.reject(new Error(`no event in ${patienceMs / 1000} s`)), patienceMs)
        try {
          await wake.promise
        } finally {
          clearTimeout(late)
        }
      }
      return queue.shift()
    },
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // text or YAML
  }
}
