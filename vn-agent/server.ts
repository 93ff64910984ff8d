// vn-agent: serves the kubelet's logs, exec, attach and port-forward of one node to tenants. A call needs a known route, an
// identity signed by the gateway, and a pod that carries the tenant's marks and runs on this node. Then names are translated and
// the call is forwarded to the kubelet. Deny by default: a call is refused unless the pod provably belongs to the tenant.

import type { KeyObject } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Agent } from "node:https"
import type { Duplex } from "node:stream"
import type { ConnectionOptions, SecureContextOptions } from "node:tls"
import type { RequestHandler } from "http-proxy-middleware"
import type { Pod } from "../apimachinery/object.ts"
import { isNotFound } from "../apimachinery/status.ts"
import type { Log } from "../client/log.ts"
import { pods } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import { CallRefused, NodeServer } from "../client/http/node-server.ts"
import { gatherSmallWrites, pushOrGather } from "../client/http/small-pieces.ts"
import { SilentServers } from "../client/http/silent-servers.ts"
import { kubeletConnectTimeoutMs, limitConnecting } from "../client/http/time-limits.ts"
import { forwardUpgrade, UpgradeRefused, type UpgradeTarget } from "../client/http/upgrade.ts"
import { errorTranslation } from "./error-channel/translation.ts"
import { verifyIdentity, type TenantIdentity } from "./identity.ts"
import type { KubeletAccess, VnAgentOptions } from "./options.ts"
import { route, type RoutedRequest } from "./routes.ts"
import { apiServerPath, kubeletPath, refusal, refusalText, superNamespaceOf } from "./translate.ts"

/** Of what the kubelet says of a call that it refuses. */
const maxRefusalBytes = 64 * 1024

export class VnAgent implements AsyncDisposable {
  readonly #calls: Calls
  readonly #server: NodeServer

  private constructor(calls: Calls, server: NodeServer) {
    this.#calls = calls
    this.#server = server
  }

  static async start(options: VnAgentOptions): Promise<VnAgent> {
    const calls = new Calls(options)
    const server = await NodeServer.start({
      host: options.host,
      port: options.port,
      maxConnections: options.limits.connections,
      tls: secureContext(options.tls),
      serve: (request, response) => calls.serve(request, response),
      upgrade: (request, upgrade) => calls.upgrade(request, upgrade),
      explain(error, request) {
        options.log.error({ err: error, method: request.method, node: options.node }, "a call failed")
        return new CallRefused(502, "the call could not be passed on")
      },
    })
    return new VnAgent(calls, server)
  }

  get port(): number {
    return this.#server.port
  }

  /** Applies to new calls; those in progress continue. Throws if certificate and key of `tls` do not match. */
  renew({ tls, identityKeys, kubelet }: Partial<Pick<VnAgentOptions, "tls" | "identityKeys" | "kubelet">>): void {
    if (tls !== undefined) this.#server.setSecureContext(secureContext(tls))
    if (identityKeys !== undefined) this.#calls.identityKeys = identityKeys
    if (kubelet !== undefined) this.#calls.renewTLS(kubelet)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]()
    this.#calls[Symbol.dispose]()
  }
}

/** Handles a call: authenticates the caller, routes and authorizes the call, and forwards it to the kubelet. */
class Calls implements Disposable {
  identityKeys: readonly KeyObject[]
  readonly #node: string
  readonly #client: KubeClient
  readonly #log: Log
  #kubelet: UpgradeTarget & Pick<KubeletAccess, "host" | "port">
  /** For requests without upgrade. */
  readonly #agent: Agent
  readonly #path: typeof kubeletPath
  readonly #token: (() => Promise<string>) | undefined
  #forward: RequestHandler | undefined
  readonly #silence = new SilentServers()
  /** Requests that have been forwarded. */
  readonly #asked = new WeakMap<IncomingMessage, PromiseWithResolvers<IncomingMessage>>()
  readonly #maxCalls: number
  /** Number of calls in progress, and of these by cluster key. */
  #calls = 0
  readonly #underWay = new Map<string, number>()

  constructor(options: VnAgentOptions) {
    this.#node = options.node
    this.#client = options.superClient
    this.identityKeys = options.identityKeys
    this.#log = options.log
    const { host, port, apiServerPath: basePath, token } = options.kubelet
    const tls = kubeletTLS(options.kubelet)
    this.#maxCalls = Math.floor(options.limits.connections * (15 / 16))
    this.#agent = new Agent({ ...tls, keepAlive: true, maxSockets: options.limits.connections })
    this.#kubelet = { ...tls, host, port, agent: false }
    this.#path =
      basePath === undefined ? kubeletPath : (identity, request) => `${basePath}${apiServerPath(identity, request)}`
    this.#token = token
  }

  /** Its package is loaded with the first call: it would be a fifteenth of the work of a start of `polyplane up`, which runs agents. */
  async #forwarding(): Promise<RequestHandler> {
    const { createProxyMiddleware } = await import("http-proxy-middleware")
    const { host, port } = this.#kubelet
    return (this.#forward ??= createProxyMiddleware({
      target: { protocol: "https:", host, port }, // an address may be one of IPv6
      agent: this.#agent,
      proxyTimeout: 0, // a followed log may be silent for hours
      selfHandleResponse: true, // a refusal is told in other words
      on: {
        proxyReq: (asking) => {
          limitConnecting(asking, kubeletConnectTimeoutMs)
          this.#silence.follow(asking, this.#kubelet)
        },
        proxyRes: (answer, request) => this.#asked.get(request)?.resolve(Object.assign(answer, { push: pushOrGather })),
        error: (error, request) => {
          this.#log.warn({ err: error, node: this.#node }, "the kubelet did not answer")
          this.#asked.get(request)?.reject(new CallRefused(502, "the kubelet of this node does not answer"))
        },
      },
    }))
  }

  /** Closes the connections to the kubelet that are kept. */
  [Symbol.dispose](): void {
    this.#agent.destroy()
  }

  /** Sets authority and client identity for new connections to the same kubelet. */
  renewTLS(kubelet: KubeletAccess): void {
    const tls = kubeletTLS(kubelet)
    Object.assign(this.#agent.options, tls)
    this.#kubelet = { ...this.#kubelet, ...tls }
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { identity, routed, path } = await this.#authorize(request)
    if (routed.upgrade) throw new CallRefused(400, "Upgrade request required")
    if (hasBody(request)) throw new CallRefused(400, "this takes no body")
    await this.#replaceHeaders(request)
    const forward = this.#forward ?? (await this.#forwarding())
    if (response.destroyed) return // the caller has disconnected: nothing would end a connection opened now
    this.#begin(identity, response)
    request.url = path
    const asked = Promise.withResolvers<IncomingMessage>()
    this.#asked.set(request, asked)
    forward(request, response).catch(asked.reject)
    const answer = await asked.promise // until the caller disconnects
    const { statusCode: code = 502 } = answer
    if (code >= 400) throw new CallRefused(code, refusalText(identity, routed, await beginningOf(answer)))
    for (const name of ["content-type", "content-encoding"]) {
      const value = answer.headers[name]
      if (value !== undefined) response.setHeader(name, value)
    }
    response.writeHead(code)
    response.flushHeaders()
    gatherSmallWrites(response)
    answer.pipe(response) // the proxy ends each if the other one is cut off
  }

  async upgrade(request: IncomingMessage, upgrade: { socket: Duplex; head: Buffer }): Promise<void> {
    const { identity, routed, path } = await this.#authorize(request)
    if (!routed.upgrade) throw new CallRefused(400, "this cannot be upgraded")
    const headers = await this.#replaceHeaders(request)
    if (upgrade.socket.destroyed) return
    this.#begin(identity, upgrade.socket)
    try {
      await forwardUpgrade(
        request,
        upgrade,
        { ...this.#kubelet, headers, path },
        {
          answerMs: kubeletConnectTimeoutMs,
          translation: (accepted) => errorTranslation(identity, routed, accepted),
        },
      )
    } catch (error) {
      if (!(error instanceof UpgradeRefused)) throw error
      throw new CallRefused(error.code, refusalText(identity, routed, Buffer.from(error.body)))
    }
  }

  /** Counts the call until its response or socket is closed. */
  #begin({ clusterKey }: TenantIdentity, answered: ServerResponse | Duplex): void {
    const before = this.#underWay.get(clusterKey) ?? 0
    if (before >= this.#maxCalls - this.#calls)
      throw new CallRefused(429, `too many calls are under way on this node, ${before} of them for this tenant`)
    this.#calls++
    this.#underWay.set(clusterKey, before + 1)
    answered.once("close", () => {
      this.#calls--
      const left = (this.#underWay.get(clusterKey) ?? 1) - 1
      if (left === 0) this.#underWay.delete(clusterKey)
      else this.#underWay.set(clusterKey, left)
    })
  }

  /** The order matters: nothing about pods is looked up or revealed before the caller is authenticated. */
  async #authorize(
    request: IncomingMessage,
  ): Promise<{ identity: TenantIdentity; routed: RoutedRequest; path: string }> {
    const token = /^Bearer ([^ ]+)$/.exec(request.headers.authorization ?? "")?.[1]
    const identity = token === undefined ? undefined : await verifyIdentity(token, this.#node, this.identityKeys)
    if (identity === undefined) throw new CallRefused(401, "Unauthorized")
    const routed = route(request.method ?? "", request.url ?? "")
    if (routed === undefined) throw new CallRefused(404, "404 page not found")
    const absent = new CallRefused(404, `pod "${routed.pod}" in namespace "${routed.namespace}" is not on this node`)
    const pod = await this.#client
      .get<Pod>(pods, superNamespaceOf(identity, routed), routed.pod)
      .catch((error: unknown) => {
        throw isNotFound(error) ? absent : error
      })
    const why = refusal(identity, routed, pod, this.#node)
    if (why !== undefined) {
      this.#log.warn({ tenant: identity.tenant, namespace: routed.namespace, pod: routed.pod, why }, "refused a call")
      throw absent
    }
    return { identity, routed, path: this.#path(identity, routed) }
  }

  /** The caller's headers are not forwarded, except those of the protocol: they could request impersonation. */
  async #replaceHeaders(request: IncomingMessage): Promise<Record<string, string>> {
    const { headers } = request
    for (const name of Object.keys(headers)) if (!isProtocolHeader(name)) delete headers[name]
    if (this.#token === undefined) return {}
    const authorization = `Bearer ${await this.#token()}`
    headers.authorization = authorization
    return { authorization }
  }
}

async function beginningOf(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  // The proxy would take its end for that of the call.
  for await (const chunk of answer.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= maxRefusalBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxRefusalBytes)
}

function secureContext({ certificate, key }: VnAgentOptions["tls"]): SecureContextOptions {
  return { cert: certificate, key, minVersion: "TLSv1.2" }
}

type TLSOptions = Pick<ConnectionOptions, "ca" | "cert" | "key" | "servername" | "rejectUnauthorized">

function kubeletTLS(kubelet: KubeletAccess): TLSOptions {
  const { certificateAuthority, certificate, key, serverName, insecureSkipTlsVerify } = kubelet
  return {
    ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
    ...(certificate === undefined ? {} : { cert: certificate }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
  }
}

/**
 * The headers with a body's length are not forwarded, so the kubelet would take the body for further requests on a trusted
 * connection.
 */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0

const protocolHeaders = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "upgrade",
  "x-stream-protocol-version",
  // Not the extensions: what is compressed could not be translated.
  "sec-websocket-key",
  "sec-websocket-protocol",
  "sec-websocket-version",
])
const isProtocolHeader = (name: string): boolean => protocolHeaders.has(name)
