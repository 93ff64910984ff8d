// The common part of pods/proxy, services/proxy and nodes/proxy, which determine the address of the server. Source:
// k8s.io/apimachinery/pkg/util/proxy/upgradeaware.go.

import type { Duplex } from "node:stream"
import { badRequest } from "../../apimachinery/status.ts"
import { admitConnect } from "../admission/admit.ts"
import { connectOptions, connectQuery } from "../registry/core/pods/connect/options.ts"
import type { Registry } from "../registry/rest.ts"
import type { Exchange } from "../registry/strategy.ts"
import type { RequestContext } from "../request/context.ts"
import { forward, type ForwardTarget } from "./forward.ts"
import { parseProxyName, parseProxyPath, type ProxyName } from "./path.ts"

/** Timeout for connecting to the server. */
const dialTimeoutMs = 15_000

export type Locate = (
  ctx: RequestContext,
  registry: Registry,
  name: ProxyName,
) => Promise<{ dial: (signal: AbortSignal) => Promise<Duplex>; host: string } | { target: Omit<ForwardTarget, "path"> }>

/** `what`: "pod", "service" or "node", for messages; `kind`: that of its options. */
export async function serveProxy(
  ctx: RequestContext,
  registry: Registry,
  { request, response, upgrade }: Exchange,
  { what, kind, locate }: { what: string; kind: string; locate: Locate },
): Promise<void> {
  const { prefix, rest, query } = parseProxyPath(request)
  const given = rest === "" ? "" : `/${ctx.info.rest}`
  const options = connectOptions(kind, new URLSearchParams({ path: given }))
  await admitConnect(ctx, registry.definition, options)
  const admitted = connectQuery(options).get("path") ?? ""
  const asked = parseProxyName(ctx.info.name)
  if (asked === undefined) throw badRequest(`invalid ${what} request ${JSON.stringify(ctx.info.name)}`)
  const place = await locate(ctx, registry, asked)
  // A server's relative links require the trailing slash.
  if (rest === "" && upgrade === undefined && (request.method === "GET" || request.method === "HEAD")) {
    response.writeHead(301, { location: `${prefix}/${query}`, "content-length": 0 }).end()
    return
  }
  const asGiven = rest === "" ? "/" : rest
  const path = `${admitted === given ? asGiven : encodeURI(admitted)}${query}`
  const target = "target" in place ? place.target : await connected(ctx, place, asked)
  const hosts = ["host" in place ? place.host : undefined, request.headers.host]
  const exchange: Exchange = upgrade === undefined ? { request, response } : { request, response, upgrade }
  await forward(exchange, { ...target, path }, { place: { prefix, hosts }, signal: ctx.signal, turns: ctx })
}

/** Connects when the request is made, so that a failure is that of the request. As upstream, certificates are not verified. */
async function connected(
  { controlPlane, signal }: RequestContext,
  { dial, host }: { dial: (signal: AbortSignal) => Promise<Duplex>; host: string },
  { scheme }: ProxyName,
): Promise<Omit<ForwardTarget, "path">> {
  const { backends } = controlPlane
  const createConnection = (_options: unknown, callback: (error: Error | null, socket?: Duplex) => void): undefined => {
    const soon = AbortSignal.any([signal, AbortSignal.timeout(dialTimeoutMs)])
    dial(soon)
      .then((raw) => (scheme === "https" ? backends.secure(raw, { rejectUnauthorized: false, host }, soon) : raw))
      .then(
        (socket) => callback(null, socket),
        (error: unknown) => callback(error as Error),
      )
    return undefined
  }
  return { protocol: `${scheme}:`, host, createConnection } as Omit<ForwardTarget, "path">
}
