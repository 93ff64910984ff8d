// Passes a request on to a program of the tenant and its answer back, whatever the method, streaming both ways. Used by the
// proxy subresources and for aggregated APIs. Source: k8s.io/apimachinery/pkg/util/proxy/upgradeaware.go and Go's
// net/http/httputil.

import { type IncomingMessage, type OutgoingHttpHeaders, request as httpRequest, type ServerResponse } from "node:http"
import { request as httpsRequest } from "node:https"
import { pipeline } from "node:stream/promises"
import { gunzip, gzip } from "node:zlib"
import { promisify } from "node:util"
import { badRequest, serviceUnavailable, type StatusError } from "../../apimachinery/status.ts"
import { forwardedHeaders, forwardUpgrade, UpgradeRefused, type UpgradeTarget } from "../../client/upgrade.ts"
import { goError } from "../backends/go-errors.ts"
import { forwardedConnection } from "../request/connection.ts"
import type { RequestContext } from "../request/context.ts"
import type { Exchange } from "../registry/strategy.ts"
import { type Place, rewriteHTML, rewriteURL } from "./rewrite.ts"

/** HTML longer than this goes through as it is. */
const maxRewrittenBytes = 4 * 1024 * 1024

export interface ForwardTarget extends UpgradeTarget {
  protocol: "http:" | "https:"
  /** With the query. */
  path: string
}

export interface ForwardOptions {
  /** Given: links and redirects in answers are made to lead through the gateway. */
  place?: Place
  /** Headers from the client that are not passed on, besides its credential and the connection's own. */
  without?: readonly string[]
  signal: AbortSignal
  /** HTML may have to be unpacked, and is gone through. */
  turns?: Turns
}

/** Of the request. */
type Turns = Pick<RequestContext, "aside" | "pause">

const unreachable = (error: unknown): StatusError =>
  serviceUnavailable(`error trying to reach service: ${goError(error)}`, { cause: error })

export async function forward(
  { request, response, upgrade }: Exchange,
  target: ForwardTarget,
  { place, without = [], signal, turns = {} }: ForwardOptions,
): Promise<void> {
  const headers = { ...requestHeaders(request, place), ...target.headers }
  for (const name of without) if (target.headers?.[name] === undefined) delete headers[name]
  if (upgrade !== undefined) {
    try {
      const { upgrade: protocol } = request.headers
      const passed = Object.create(request, {
        headers: { value: { ...headers, upgrade: protocol } },
      }) as IncomingMessage
      await forwardUpgrade(passed, upgrade, { ...target, headers })
    } catch (error) {
      if (error instanceof UpgradeRefused) throw refusedUpgrade(error)
      throw unreachable(error)
    }
    return
  }
  const answer = await exchange(request, { ...target, headers }, signal).catch((error: unknown) => {
    throw unreachable(error)
  })
  await sendAnswer(request, response, answer, place, turns)
}

function exchange(client: IncomingMessage, target: ForwardTarget, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const send = target.protocol === "https:" ? httpsRequest : httpRequest
  const request = send({ ...target, method: client.method ?? "GET", signal })
  request.on("response", resolve)
  request.on("error", reject)
  // The far side answers with what it likes; told as a stranger, an upgrade nobody asked for ends the connection.
  request.on("upgrade", (_, socket) => {
    socket.destroy()
    reject(new Error("unexpected upgrade"))
  })
  client.on("error", (error) => request.destroy(error))
  const { headers = {} } = target
  // What no header announces would be the beginning of another request, with headers of the client's choice.
  if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) request.end()
  else client.pipe(request)
  return promise
}

function requestHeaders(request: IncomingMessage, place: Place | undefined): Record<string, string | string[]> {
  const headers = forwardedHeaders(request.headers)
  // Who is meant has been decided; behind it, it would be asked for once more, as somebody else.
  for (const name of Object.keys(headers)) if (name.startsWith("impersonate-")) delete headers[name]
  const { host, "content-length": length } = request.headers
  if (host !== undefined) headers["host"] = host
  // Without either there is no body; Node would send one in neither form for some methods.
  if (length !== undefined) headers["content-length"] = length
  else if (request.headers["transfer-encoding"] !== undefined) headers["transfer-encoding"] = "chunked"
  const before = request.headers["x-forwarded-for"]
  const client = request.socket.remoteAddress ?? forwardedConnection(request)?.remoteAddress ?? ""
  headers["x-forwarded-for"] = before === undefined ? client : `${String(before)}, ${client}`
  if (place !== undefined) headers["x-forwarded-uri"] = tenantURL(request).split("?", 1)
  return headers
}

/** As the client sent it, without a path in front that names the tenant. */
export function tenantURL(request: IncomingMessage): string {
  return (request.url ?? "/").replace(/^\/tenants\/[^/?]+/, "")
}

const dropped: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
])

async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: IncomingMessage,
  place: Place | undefined,
  turns: Turns,
): Promise<void> {
  const headers: OutgoingHttpHeaders = {}
  for (const [name, value] of Object.entries(answer.headers)) if (!dropped.has(name)) headers[name] = value
  const { location } = answer.headers
  if (place !== undefined && location !== undefined) headers["location"] = rewriteURL(location, place)
  const code = answer.statusCode ?? 502
  if (place !== undefined && location === undefined && request.method !== "HEAD" && isHTML(answer)) {
    const rewrite = (html: Buffer): Promise<Buffer> =>
      rewritten(html, answer.headers["content-encoding"] === "gzip", place, turns)
    await sendHTML(response.writeHead.bind(response, code), headers, response, answer, rewrite)
    return
  }
  response.writeHead(code, headers)
  response.flushHeaders()
  await pipeline(answer, response).catch(() => response.destroy()) // one side left; the other sees a cut stream
}

function isHTML({ headers }: IncomingMessage): boolean {
  const encoding = headers["content-encoding"] ?? ""
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim()
  return type === "text/html" && (encoding === "" || encoding === "gzip")
}

/** Whole, with its links rewritten; what is too long for that goes on as it is. */
async function sendHTML(
  begin: (headers: OutgoingHttpHeaders) => unknown,
  headers: OutgoingHttpHeaders,
  response: ServerResponse,
  answer: IncomingMessage,
  rewrite: (html: Buffer) => Promise<Buffer>,
): Promise<void> {
  const chunks: Buffer[] = []
  let bytes = 0
  const source = answer.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  for await (const chunk of source) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxRewrittenBytes) break
  }
  const read = Buffer.concat(chunks)
  if (bytes > maxRewrittenBytes) {
    begin(headers)
    response.write(read)
    await pipeline(answer, response).catch(() => response.destroy())
    return
  }
  const body = await rewrite(read)
  begin({ ...headers, "content-length": body.length })
  response.end(body)
}

const expand = promisify(gunzip)
const compress = promisify(gzip)

async function rewritten(body: Buffer, isGzip: boolean, place: Place, { aside, pause }: Turns): Promise<Buffer> {
  const beside = aside ?? ((job) => job())
  try {
    // A few bytes may unpack to very many.
    const plain = isGzip ? await beside(() => expand(body, { maxOutputLength: maxRewrittenBytes })) : body
    const rewriting = rewriteHTML(plain.toString(), place)
    let step = rewriting.next()
    for (; step.done !== true; step = rewriting.next()) await pause?.()
    const html = Buffer.from(step.value)
    return isGzip ? await beside(() => compress(html)) : html
  } catch {
    return body // not what it says it is, or too long: the client gets what the program sent
  }
}

/** The program's own refusal, as far as it can be said after an upgrade was asked for. */
function refusedUpgrade(error: UpgradeRefused): StatusError {
  return error.code === 400
    ? badRequest(error.message, { cause: error })
    : serviceUnavailable(error.message, { cause: error })
}
