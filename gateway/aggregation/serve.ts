// Forwards requests for aggregated APIs, /apis/<group>/<version> and all paths below it, and for OpenAPI v3 documents that only
// their servers have, to their server, with the caller's identity. Source: k8s.io/kube-aggregator/pkg/apiserver/handler_proxy.go.
// Links and Locations in answers stay as they are: upstream lets them lead to the server's own address, which clients cannot reach.

import type { ServerResponse } from "node:http"
import { posix } from "node:path"
import { escapePath } from "../../apimachinery/go/text.ts"
import { StatusError } from "../../apimachinery/status.ts"
import { forward, type ForwardOptions } from "../proxy/forward.ts"
import { builtInOpenAPIPaths } from "../registry/definitions.ts"
import type { Exchange } from "../registry/strategy.ts"
import type { RequestContext } from "../request/context.ts"
import { encodeQuery } from "../request/query.ts"
import { isBuiltInGroup } from "./priorities.ts"
import { type RemoteTarget, UncallableServer, userHeaders } from "./remote.ts"
import { type APIService, isAvailable } from "../../client/api-services.ts"

const reads: ReadonlySet<string> = new Set(["GET", "HEAD"])

const shape = /^\/apis\/([^/]+)\/([^/]+)(?:\/|$)/
const openAPI = "/openapi/v3/"

export function mayBeAggregated(path: string): boolean {
  if (path.startsWith(openAPI)) return true
  const [, group] = shape.exec(path) ?? []
  return group !== undefined && !isBuiltInGroup(group)
}

/** Call if the path may be aggregated. Returns false if the request is for this server. */
export async function serveAggregated(ctx: RequestContext, exchange: Exchange): Promise<boolean> {
  const { aggregator } = ctx.controlPlane
  const service = await serviceOf(ctx)
  if (service === undefined) return false
  if (!isAvailable(service)) {
    unavailable(exchange.response, "service unavailable")
    return true
  }
  const { request, response, upgrade } = exchange
  // The garbage collector may have to follow, but sees no write.
  if (!reads.has(request.method ?? "")) ctx.controlPlane.introduce()
  try {
    const target = await aggregator.target(service)
    await forward(
      exchange,
      { ...target, path: pathOf(ctx), headers: headersFor(ctx, target) },
      optionsFor(ctx, exchange),
    )
  } catch (error) {
    if (upgrade?.socket.destroyed === true || response.headersSent) throw error
    if (error instanceof UncallableServer) answerInWords(response, 500, error.message)
    else if (isUnresolved(error)) unavailable(response, "service unavailable")
    else if (error instanceof StatusError) unavailable(response, error.message)
    else throw error
  }
  return true
}

/** The Service leads nowhere. */
function isUnresolved(error: unknown): boolean {
  return error instanceof StatusError && (error.cause === undefined || error.cause instanceof StatusError)
}

function optionsFor(ctx: RequestContext, { upgrade }: Exchange): ForwardOptions {
  const { info, signal } = ctx
  // Discovery is answered soon, or not at all.
  const isDiscovery = upgrade === undefined && !info.isResourceRequest && discovery.test(info.path)
  const limited = isDiscovery ? AbortSignal.any([signal, AbortSignal.timeout(discoveryTimeoutMs)]) : signal
  return { signal: limited, refusesRedirects: true, turns: ctx }
}

/** Of the requests that are forwarded. */
const discovery = /^\/+[^/]+\/[^/]+\/[^/]+\/*$/
const discoveryTimeoutMs = 5_000

/** Upstream decodes a path and encodes it again. */
function pathOf({ info, query }: RequestContext): string {
  const asked = encodeQuery(query)
  return `${escapePath(info.path)}${asked === "" ? "" : `?${asked}`}`
}

function headersFor({ user, id, info }: RequestContext, { address }: RemoteTarget): Record<string, string | string[]> {
  return {
    ...userHeaders(user),
    ...(id === undefined ? {} : { "audit-id": id }),
    "x-forwarded-host": address,
    "x-forwarded-proto": "https",
    "x-forwarded-uri": posix.normalize(escapePath(info.path)),
    host: address,
  }
}

async function serviceOf({ info: { path }, controlPlane }: RequestContext): Promise<APIService | undefined> {
  const { aggregator } = controlPlane
  if (path.startsWith(openAPI)) {
    const document = path.slice(openAPI.length)
    return builtInOpenAPIPaths().has(document) ? undefined : (await aggregator.openAPIPaths()).get(document)?.service
  }
  const [, group = "", version = ""] = shape.exec(path) ?? []
  return aggregator.find(group, version)
}

/** As plain text, as upstream: client-go then adds the request and the resource to the error. */
function unavailable(response: ServerResponse, why: string): void {
  answerInWords(response, 503, why)
}

function answerInWords(response: ServerResponse, code: number, words: string): void {
  const text = `${words}\n`
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" }
  response.writeHead(code, { ...headers, "content-length": Buffer.byteLength(text) }).end(text)
}
