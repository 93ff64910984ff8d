// An aggregated API server, as one that a tenant runs: it serves fixed documents and remembers what it was asked.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import type { TLSSocket } from "node:tls"
import { WebSocketServer } from "ws"
import { createAuthority, issueServingCertificate } from "../../pki/pki.ts"

export const group = "wardle.example.com"

interface Seen {
  method: string
  url: string
  headers: IncomingHttpHeaders
  client: string
  body: string
}

export const flunders = {
  name: "flunders",
  singularName: "flunder",
  namespaced: true,
  kind: "Flunder",
  verbs: ["get", "list"],
}
export const numbers = Array.from({ length: 8 }, (_, index) => index)
const documents: Readonly<Record<string, unknown>> = {
  [`/apis/${group}/v1alpha1`]: {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: `${group}/v1alpha1`,
    resources: [
      flunders,
      { name: "flunders/status", singularName: "", namespaced: true, kind: "Flunder", verbs: ["get"] },
    ],
  },
  [`/apis/${group}/v1broken`]: {
    kind: "APIResourceList",
    resources: [flunders, { name: 5, verbs: "get" }],
  },
  [`/apis/${group}/v1empty`]: { resources: [null, {}, { name: "" }, flunders] },
  // Each document is as long as one may be.
  ...Object.fromEntries(
    numbers.map((n) => [`/apis/long${n}.example.com/v1`, { resources: [{ name: "long" }], padding: "x".repeat(1e6) }]),
  ),
  [`/apis/${group}/v1long`]: { resources: [flunders], padding: "x".repeat(2e6) },
  "/openapi/v3": {
    paths: {
      [`apis/${group}/v1alpha1`]: { serverRelativeURL: "/openapi/v3/apis/x?hash=1" },
      [`apis/${group}`]: { serverRelativeURL: "/openapi/v3/apis/y?hash=1" },
      version: { serverRelativeURL: "/openapi/v3/version?hash=1" },
      nothing: null,
    },
  },
  [`/openapi/v3/apis/${group}/v1alpha1`]: { openapi: "3.0.0" },
  [`/openapi/v3/apis/${group}`]: { openapi: "3.0.1" },
  "/openapi/v2": {
    paths: {
      [`/apis/${group}/v1alpha1/flunders`]: { get: { responses: {} } },
      "/apis/apps/v1/deployments": { get: { description: "not of this server" } },
    },
    definitions: { Flunder: { type: "object" } },
  },
}

/** Is never answered. */
export const silent = `/apis/${group}/v1alpha1/namespaces/default/flunders/silent`
export const watched = [
  { type: "ADDED", object: { metadata: { name: "x", resourceVersion: "7" } } },
  { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "too old" } },
]

export class FlunderServer {
  readonly seen: Seen[] = []
  readonly caBundle: string
  readonly #server: Server

  /** `clientAuthority`: the PEM of the authority of the gateway's certificates. */
  static async start(clientAuthority: string): Promise<FlunderServer> {
    const authority = await createAuthority("wardle")
    const { certificate, key } = await issueServingCertificate(authority, ["wardle.default.svc"])
    const server = createServer({ cert: certificate, key, ca: clientAuthority, requestCert: true })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return new FlunderServer(server, Buffer.from(authority.certificate).toString("base64"))
  }

  private constructor(server: Server, caBundle: string) {
    this.#server = server
    this.caBundle = caBundle
    server.on("request", (request, response) => this.#answer(request, response))
    const sockets = new WebSocketServer({ server })
    sockets.on("connection", (socket) => socket.on("message", (message) => socket.send(message)))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { url = "", method = "", headers } = request
    const client = (request.socket as TLSSocket).getPeerCertificate().subject.CN as string
    const asked: Seen = { method, url, headers, client, body: "" }
    this.seen.push(asked)
    request.on("data", (chunk: Buffer) => (asked.body += chunk.toString()))
    if (url.startsWith(silent)) return
    const [, refusal] = /\/answered-(\d+)$/.exec(url) ?? []
    if (refusal !== undefined) {
      response.writeHead(Number(refusal), { "content-type": "text/plain" }).end("in its own words\n")
      return
    }
    if (url.includes("watch=true")) {
      response.end(watched.map((event) => `${JSON.stringify(event)}\n`).join(""))
      return
    }
    const document = documents[url.split("?")[0] ?? ""] ?? { kind: "Flunder", asked: url }
    const headersOfAnswer = { "content-type": "application/json", "cache-control": "max-age=60" }
    response.writeHead(200, headersOfAnswer).end(JSON.stringify(document))
  }
}
