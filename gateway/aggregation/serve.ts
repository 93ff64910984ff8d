// Forwards requests for aggregated APIs, /apis/<group>/<version> and all paths below it, and for OpenAPI v3 documents that only
// their servers have, to their server, with the caller's identity. Source: k8s.io/kube-aggregator/pkg/apiserver/handler_proxy.go.

import type { ServerResponse } from "node:http"
import { StatusError } from "../../apimachinery/status.ts"
import { forward, tenantURL } from "../proxy/forward.ts"
import { builtInOpenAPIPaths } from "../registry/definitions.ts"
import type { Exchange } from "../registry/strategy.ts"
import type { RequestContext } from "../request/context.ts"
import { encodeQuery } from "../request/request-info.ts"
import { isBuiltInGroup } from "./priorities.ts"
import { isUserHeader, userHeaders } from "./remote.ts"
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
  const target = await aggregator.target(service)
  const { request } = exchange
  // The garbage collector may have to follow, but sees no write.
  if (!reads.has(request.method ?? "")) ctx.controlPlane.introduce()
  const [path = ""] = tenantURL(request).split("?", 1)
  const query = encodeQuery(ctx.query)
  const id = ctx.id === undefined ? {} : { "audit-id": ctx.id }
  try {
    await forward(
      exchange,
      {
        ...target,
        path: query === "" ? path : `${path}?${query}`,
        headers: { ...userHeaders(ctx.user), ...id, host: request.headers.host ?? target.host },
      },
      { without: Object.keys(request.headers).filter(isUserHeader), signal: ctx.signal },
    )
  } catch (error) {
    const { response, upgrade } = exchange
    if (upgrade !== undefined || response.headersSent || !(error instanceof StatusError)) throw error
    unavailable(response, error.message)
  }
  return true
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
  response.writeHead(503, { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" })
  response.end(`${why}\n`)
}
