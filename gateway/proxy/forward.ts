// Forwards a request to a server of the tenant and its response back, for any method, streaming both ways. Used by the proxy
// subresources and for aggregated APIs. Source: k8s.io/apimachinery/pkg/util/proxy/upgradeaware.go and Go's net/http/httputil.

import {
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as httpRequest,
  type ServerResponse,
} from "node:http"
import { request as httpsRequest } from "node:https"
import { pipeline } from "node:stream/promises"
import { gunzip, gzip } from "node:zlib"
import { promisify } from "node:util"
import { serviceUnavailable, type StatusError } from "../../apimachinery/status.ts"
import { GatheredBytes } from "../../client/http/gathered-bytes.ts"
import { gatherSmallWrites } from "../../client/http/small-pieces.ts"
import { countRest, countUnsent } from "../../client/http/unsent.ts"
import { forwardedHeaders, forwardUpgrade, UpgradeRefused, type UpgradeTarget } from "../../client/http/upgrade.ts"
import { answerTo } from "../backends/answer-to.ts"
import { goError, malformedResponse } from "../backends/go-errors.ts"
import { clientAddress } from "../connections/client-connection.ts"
import type { RequestContext } from "../request/context.ts"
import type { Exchange } from "../registry/strategy.ts"
import { hopByHopOfAnswer, passInformation } from "./information.ts"
import { type Place, rewriteHTML, rewriteURL } from "./rewrite.ts"
import { passTrailers, takesTrailers } from "./trailers.ts"
import { sendBody } from "./upload.ts"

/** Longer HTML is forwarded unchanged. */
const maxRewrittenBytes = 4 * 1024 * 1024

/** Of an answer. Node would take 16 KiB, Go's client 10 MiB. Beyond: 503. */
export const maxAnswerHeaderBytes = 256 * 1024

export interface ForwardTarget extends UpgradeTarget {
  protocol: "http:" | "https:"
  /** Including the query. */
  path: string
  /** Called with the request to the server, unless it is one for an upgrade, which has limits of its own. */
  limit?: (request: ClientRequest) => void
}

export interface ForwardOptions {
  /** If set, links and redirects in responses are rewritten to lead through the gateway. */
  place?: Place
  signal: AbortSignal
  /** Clients are told that the server tried to redirect them. */
  refusesRedirects?: boolean
  /** Used to decompress and rewrite HTML, and told of what one side does not take. */
  turns?: Turns
}

/** From the request context. */
type Turns = Pick<RequestContext, "aside" | "pause" | "holdUnsent" | "endTimeLimit">

const unreachable = (error: unknown): StatusError =>
  serviceUnavailable(`error trying to reach service: ${goError(error)}`, { cause: error })

function withoutUpgrade(error: unknown): string {
  const isClosed = error instanceof Error && error.message === "socket hang up"
  return malformedResponse(error) ?? (isClosed ? "unexpected EOF" : `error dialing backend: ${goError(error)}`)
}

export async function forward(
  { request, response, upgrade }: Exchange,
  target: ForwardTarget,
  { place, signal, refusesRedirects = false, turns = {} }: ForwardOptions,
): Promise<void> {
  const headers = { ...requestHeaders(request, place), ...target.headers }
  if (upgrade !== undefined) {
    try {
      const { upgrade: protocol } = request.headers
      const passed = Object.create(request, {
        headers: { value: { ...headers, upgrade: protocol } },
      }) as IncomingMessage
      await forwardUpgrade(passed, upgrade, { ...target, headers }, { hold: turns.holdUnsent, signal })
      turns.endTimeLimit?.()
    } catch (error) {
      if (error instanceof UpgradeRefused) passRefusal(response, error)
      else throw serviceUnavailable(withoutUpgrade(error), { cause: error })
    }
    return
  }
  const answer = await exchange(request, response, { ...target, headers }, { signal, turns }).catch(
    (error: unknown) => {
      throw unreachable(error)
    },
  )
  if (refusesRedirects && isRedirect(answer)) {
    answer.destroy()
    const words = "the backend attempted to redirect this request, which is not permitted"
    response.writeHead(502, { "content-type": "text/plain; charset=utf-8", "content-length": words.length }).end(words)
    return
  }
  await sendAnswer(request, response, answer, place, turns)
}

function isRedirect({ statusCode = 0, headers: { location = "" } }: IncomingMessage): boolean {
  return statusCode >= 300 && statusCode <= 399 && location !== ""
}

function exchange(
  client: IncomingMessage,
  response: ServerResponse,
  { limit, ...target }: ForwardTarget,
  { signal, turns = {} }: Pick<ForwardOptions, "signal" | "turns">,
): Promise<IncomingMessage> {
  const send = target.protocol === "https:" ? httpsRequest : httpRequest
  const { expect, ...headers } = target.headers ?? {}
  const method = client.method ?? "GET"
  const request = send({ maxHeaderSize: maxAnswerHeaderBytes, ...target, headers, method, signal })
  // As Go: a program that is told that the connection ends may end it when it has answered, while it is still being sent a body, and then its
  // answer is lost.
  request.removeHeader("connection")
  // With it Node would have sent the headers already.
  if (expect !== undefined) request.setHeader("expect", expect)
  limit?.(request)
  const answer = answerTo(request)
  passInformation(request, response)
  client.on("error", (error) => request.destroy(error))
  // A body without announcing headers would be parsed as another request, with headers chosen by the client.
  if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) request.end()
  else sendBody(client, request, response, turns.holdUnsent)
  return answer
}

function requestHeaders(request: IncomingMessage, place: Place | undefined): Record<string, string | string[]> {
  const headers = forwardedHeaders(request.headers)
  const { host, "content-length": length } = request.headers
  if (host !== undefined) headers["host"] = host
  // Go's proxies drop it like all that is of the connection alone, but for this.
  if (takesTrailers(request.headers)) headers["te"] = "trailers"
  // Without either header there is no body; for some methods Node would send one without announcing it.
  if (length !== undefined) headers["content-length"] = length
  else if (request.headers["transfer-encoding"] !== undefined) headers["transfer-encoding"] = "chunked"
  const before = request.headers["x-forwarded-for"]
  const client = clientAddress(request) ?? ""
  headers["x-forwarded-for"] = before === undefined ? client : `${String(before)}, ${client}`
  if (place !== undefined) headers["x-forwarded-uri"] = tenantURL(request).split("?", 1)
  return headers
}

/** As sent by the client, without the path prefix that names the tenant. */
export function tenantURL(request: IncomingMessage): string {
  return (request.url ?? "/").replace(/^\/tenants\/[^/?]+/, "")
}

/** A response of the gateway (filters/chain.ts, http2/stream-response.ts). */
interface Standing {
  standing(name: string): string | undefined
}

const dropped: ReadonlySet<string> = new Set([
  ...hopByHopOfAnswer,
  "proxy-authenticate",
  "te",
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
  for (const [name, value] of Object.entries(answer.headers)) {
    if (dropped.has(name)) continue
    // As kube-apiserver: what the gateway says of every response comes first. Clients always revalidate, therefore.
    const own = (response as Partial<Standing>).standing?.(name)
    headers[name] = own === undefined ? value : `${own}, ${String(value)}`
  }
  const { location } = answer.headers
  if (place !== undefined && location !== undefined) headers["location"] = rewriteURL(location, place)
  const code = answer.statusCode ?? 502
  if (place !== undefined && location === undefined && request.method !== "HEAD" && isHTML(answer)) {
    await sendHTML(response.writeHead.bind(response, code), headers, response, answer, place, turns)
    return
  }
  passTrailers(request, answer, response)
  response.writeHead(code, headers)
  response.flushHeaders()
  await passBody(answer, response, turns.holdUnsent)
}

/** If one side disconnects, the other one sees a truncated stream. */
async function passBody(answer: IncomingMessage, response: ServerResponse, hold: Turns["holdUnsent"]): Promise<void> {
  countUnsent(answer, response, hold)
  gatherSmallWrites(response)
  await pipeline(answer, response).catch(() => response.destroy())
}

function isHTML({ headers }: IncomingMessage): boolean {
  const encoding = headers["content-encoding"] ?? ""
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim()
  return type === "text/html" && (encoding === "" || encoding === "gzip")
}

/** Sends the whole document with rewritten links; longer ones are forwarded unchanged. */
async function sendHTML(
  begin: (headers: OutgoingHttpHeaders) => unknown,
  headers: OutgoingHttpHeaders,
  response: ServerResponse,
  answer: IncomingMessage,
  place: Place,
  turns: Turns,
): Promise<void> {
  const document = new GatheredBytes()
  const source = answer.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  for await (const chunk of source) {
    document.add(chunk)
    if (document.length > maxRewrittenBytes) break
  }
  const read = document.all()
  if (read.length > maxRewrittenBytes) {
    begin(headers)
    response.write(read)
    await passBody(answer, response, turns.holdUnsent)
    return
  }
  const body = await rewritten(read, answer.headers["content-encoding"] === "gzip", place, turns)
  begin({ ...headers, "content-length": body.length })
  response.end(body)
  countRest(response, turns.holdUnsent)
}

const expand = promisify(gunzip)
const compress = promisify(gzip)

async function rewritten(body: Buffer, isGzip: boolean, place: Place, { aside, pause }: Turns): Promise<Buffer> {
  const beside = aside ?? ((job) => job())
  try {
    // A few bytes may decompress to very many.
    const plain = isGzip ? await beside(() => expand(body, { maxOutputLength: maxRewrittenBytes })) : body
    const rewriting = rewriteHTML(plain.toString(), place)
    let step = rewriting.next()
    for (; step.done !== true; step = rewriting.next()) await pause?.()
    const html = Buffer.from(step.value)
    return isGzip ? await beside(() => compress(html)) : html
  } catch {
    return body // not valid, or too long: the client gets the server's bytes
  }
}

/** The server's own error; it has none for a client that it neither lets in nor turns away. */
function passRefusal(response: ServerResponse, error: UpgradeRefused): void {
  const { code, body, headers } = error
  if (code < 400) throw serviceUnavailable(`invalid upgrade response: status code ${code}`, { cause: error })
  const kept = Object.entries(headers).filter(([name]) => !dropped.has(name) && name !== "content-length")
  response.removeHeader("cache-control")
  response.writeHead(code, { ...Object.fromEntries(kept), "content-length": Buffer.byteLength(body) }).end(body)
}
