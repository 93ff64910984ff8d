// An HTTPS server on loopback with its own authority, for tests of the gateway's calls to webhooks and similar servers.

import { createServer, type Server } from "node:https"
import type { IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import type { Loose } from "./kinds.ts"
import { createAuthority, issueServingCertificate } from "../pki/pki.ts"

export interface WebhookCall {
  path: string
  headers: IncomingHttpHeaders
  body: Loose
}

/** `text` and `bytes` are sent unchanged; the response is delayed until `wait` resolves. */
export interface WebhookReply {
  code?: number
  headers?: Record<string, string>
  body?: unknown
  text?: string
  bytes?: Buffer
  wait?: Promise<unknown>
}

export type WebhookHandler = (call: WebhookCall) => WebhookReply | Promise<WebhookReply>

export class WebhookServer implements AsyncDisposable {
  readonly calls: WebhookCall[] = []
  /** PEM. */
  readonly certificateAuthority: string
  readonly #server: Server

  private constructor(server: Server, certificateAuthority: string) {
    this.#server = server
    this.certificateAuthority = certificateAuthority
  }

  /** `names`: those in its certificate. */
  static async start(handler: WebhookHandler, names: readonly string[] = ["127.0.0.1"]): Promise<WebhookServer> {
    const authority = await createAuthority("webhook test authority")
    const { certificate, key } = await issueServingCertificate(authority, names)
    const server = createServer({ cert: certificate, key })
    const started = new WebhookServer(server, authority.certificate)
    server.on("request", (request, response) => {
      const chunks: Buffer[] = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        const body = (text === "" ? {} : JSON.parse(text)) as Loose
        const call = { path: request.url ?? "", headers: request.headers, body }
        started.calls.push(call)
        void Promise.resolve(handler(call)).then(async (reply) => {
          await reply.wait
          response.writeHead(reply.code ?? 200, { "content-type": "application/json", ...reply.headers })
          response.end(reply.bytes ?? reply.text ?? JSON.stringify(reply.body))
        })
      })
    })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", resolve)
    await promise
    return started
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`
  }

  /** For a clientConfig. */
  get caBundle(): string {
    return Buffer.from(this.certificateAuthority).toString("base64")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#server.close(() => resolve())
    this.#server.closeAllConnections()
    await promise
  }
}

/** An AdmissionReview in response to that of the call. */
export function reviewed({ body }: WebhookCall, response: Loose): WebhookReply {
  const { apiVersion, request } = body
  return { body: { kind: "AdmissionReview", apiVersion, response: { uid: request.uid, allowed: true, ...response } } }
}

export function jsonPatch(...operations: readonly Loose[]): Loose {
  return { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(operations)).toString("base64") }
}
