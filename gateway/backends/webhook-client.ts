// POSTs JSON to a webhook, by URL or Service, and returns its JSON response. Errors are those of kube-apiserver. Source:
// k8s.io/apiserver/pkg/util/webhook/client.go and k8s.io/client-go/rest/request.go.

import type { IncomingMessage } from "node:http"
import { request as httpsRequest, type RequestOptions } from "node:https"
import { posix } from "node:path"
import { pipeline, type Readable } from "node:stream"
import { setTimeout as delay } from "node:timers/promises"
import { createGunzip } from "node:zlib"
import type { Json } from "../../apimachinery/object.ts"
import { parseMediaType } from "../../apimachinery/go/media-type.ts"
import { goQuote } from "../../apimachinery/go/quote.ts"
import { isJsonText, parseObject } from "../../apimachinery/schema/json/parse.ts"
import { StatusError } from "../../apimachinery/status.ts"
import { answerTo, UnexpectedUpgrade } from "./answer-to.ts"
import { authoritiesOf } from "../pki/authorities.ts"
import type { Backends, ServiceTarget } from "./backends.ts"
import { goError } from "./go-errors.ts"
import { readBody } from "./read-body.ts"

export interface WebhookClientConfig {
  url?: string | undefined
  service?: { namespace?: string; name?: string; path?: string; port?: number } | null | undefined
  /** Base64 of PEM. */
  caBundle?: string | undefined
}

const webhookLimits = {
  /** Maximum size of a response, like kube-apiserver's of a request. Beyond: the call fails. */
  maxAnswerBytes: 3 * 1024 * 1024,
  /** Maximum quotation of an error response. */
  maxErrorBytes: 2048,
} as const

/** The webhook was unreachable or returned no usable response. */
class WebhookError extends Error {
  override readonly name = "WebhookError"
}

const { maxAnswerBytes } = webhookLimits
const tooLong = () => new WebhookError(`the answer is longer than ${maxAnswerBytes} bytes`)

/**
 * `timeoutMs`: for the whole call. `leftMs`: until `signal`, that of the original request, is aborted. The webhook is told the shorter one.
 * Throws WebhookError.
 */
export async function callWebhook(
  backends: Backends,
  config: WebhookClientConfig,
  body: Json,
  timeoutMs: number,
  signal: AbortSignal,
  leftMs = Infinity,
): Promise<Json> {
  const { options, shown } = destination(backends, config)
  const timeoutSignal = AbortSignal.timeout(timeoutMs)
  const toldMs = Math.min(timeoutMs, leftMs)
  const query = toldMs > 0 ? `?timeout=${Math.ceil(toldMs / 1000)}s` : ""
  const first: Hop = {
    options: { ...options, path: `${options.path}${query}` },
    shown: `${shown}${query}`,
    body: Buffer.from(JSON.stringify(body)),
  }
  return await follow(backends, first, AbortSignal.any([signal, timeoutSignal]), () =>
    timeoutSignal.aborted ? "context deadline exceeded" : signal.aborted ? "context canceled" : undefined,
  )
}

/** One request of a call, which may consist of several because of redirects. */
interface Hop {
  options: RequestOptions & { path: string }
  /** The URL. */
  shown: string
  /** Undefined for a GET. */
  body: Buffer | undefined
  referer?: string
}

/** Maximum number of requests per call. */
const maxRequests = 10
/** Maximum number of repetitions that the webhook asks for. Source: k8s.io/client-go/rest/with_retry.go. */
const maxRetries = 10
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** Source: k8s.io/client-go/rest/request.go: beyond 206 (Partial Content), a response is a failure. */
const greatestSuccess = 206
const keepsBody: ReadonlySet<number> = new Set([307, 308])

/** `ended`: returns the reason if the call was aborted. Source: net/http (Client.do). */
async function follow(
  backends: Backends,
  first: Hop,
  signal: AbortSignal,
  ended: () => string | undefined,
): Promise<Json> {
  const failed = (shown: string, error: unknown): WebhookError =>
    error instanceof WebhookError
      ? error
      : error instanceof UnexpectedUpgrade
        ? new WebhookError(error.message, { cause: error })
        : new WebhookError(`Post "${shown}": ${ended() ?? goError(error)}`, { cause: error })
  let hop = first
  let retries = 0
  for (let count = 1; ; count++) {
    const { shown } = hop
    const answer = await send(hop, signal).catch((error: unknown) => {
      throw failed(shown, error)
    })
    const { code, location, retryAfter } = answer
    if (retryAfter !== undefined && retries < maxRetries) {
      retries++
      await delay(retryAfter * 1000, undefined, { signal }).catch((error: unknown) => {
        throw failed(first.shown, error)
      })
      hop = first
      count = 0
      continue
    }
    if (!redirects.has(code) || !location) return readAnswer(answer)
    if (count === maxRequests) throw new WebhookError(`Post "${location}": stopped after ${maxRequests} redirects`)
    hop = next(backends, hop, location, keepsBody.has(code))
  }
}

/**
 * Another origin is called like a webhook with that URL: with the same trust, only where the tenant may connect, and only by https.
 */
function next(backends: Backends, { options, shown, body }: Hop, location: string, isWhole: boolean): Hop {
  if (!URL.canParse(location, shown)) {
    throw new WebhookError(`Post "${shown}": failed to parse Location header ${goQuote(location)}`)
  }
  const [from, to] = [new URL(shown), new URL(location, shown)]
  const { protocol, hostname, port, pathname, search } = to
  if (protocol !== "https:") {
    throw new WebhookError(`Post "${location}": unsupported protocol scheme ${goQuote(protocol.slice(0, -1))}`)
  }
  const path = `${pathname}${search}`
  const { ca, allowPartialTrustChain } = options
  const trust = ca === undefined ? {} : { ca, allowPartialTrustChain }
  const host = hostname.replace(/^\[|\]$/g, "")
  return {
    options:
      from.origin === to.origin
        ? { ...options, path }
        : { ...trust, agent: backends.urls, host, port: port || 443, path },
    shown: to.href,
    body: isWhole ? body : undefined,
    referer: shown,
  }
}

function destination(
  backends: Backends,
  config: WebhookClientConfig,
): { options: RequestOptions & ServiceTarget & { path: string }; shown: string } {
  const { url, service } = config
  const trust = config.caBundle ? { ca: [authoritiesOf(config).certificates], allowPartialTrustChain: true } : {}
  if (service) {
    const { namespace = "", name = "", port = 443 } = service
    const host = `${name}.${namespace}.svc`
    const path = joined(service.path ?? "")
    const target = { namespace, name, port }
    return {
      options: { ...trust, agent: backends.services, service: target, host, port, servername: host, path },
      shown: `https://${host}:${port}${path}`,
    }
  }
  const parsed = URL.canParse(url ?? "") ? new URL(url ?? "") : undefined
  if (parsed === undefined) throw new WebhookError("webhook configuration must have either service or URL")
  const host = parsed.hostname.replace(/^\[|\]$/g, "")
  const path = joined(parsed.pathname)
  return {
    options: { ...trust, agent: backends.urls, host, port: parsed.port || 443, path },
    shown: `https://${parsed.host}${path}`,
  }
}

/** Go's path.Join, which client-go's rest.NewRequest applies: no empty segments, no trailing slash. */
function joined(path: string): string {
  return posix.join("/", path).replace(/(?<=.)\/$/, "")
}

interface Answer {
  code: number
  /** "": the response does not say. */
  contentType: string
  location: string | undefined
  /** Seconds after which the webhook wants to be called again. */
  retryAfter: number | undefined
  body: Buffer
}

async function send({ options, body, referer }: Hop, signal: AbortSignal): Promise<Answer> {
  const request = httpsRequest({
    ...options,
    method: body === undefined ? "GET" : "POST",
    signal,
    headers: {
      accept: "application/json, */*",
      "accept-encoding": "gzip",
      "user-agent": "kube-apiserver-admission",
      ...(body === undefined ? {} : { "content-type": "application/json", "content-length": body.length }),
      ...(referer === undefined ? {} : { referer }),
    },
  })
  request.end(body)
  const response = await answerTo(request)
  const { statusCode: code = 0, headers: answered } = response
  const { location, "content-type": contentType = "" } = answered
  const retryAfter = code === 429 || code >= 500 ? secondsOf(answered["retry-after"]) : undefined
  return { code, contentType, location, retryAfter, body: await readBody(unzipped(response), maxAnswerBytes, tooLong) }
}

const secondsOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined

/** The size of the whole is limited, not that of its compressed form. */
function unzipped(response: IncomingMessage): Readable {
  if (response.headers["content-encoding"]?.toLowerCase() !== "gzip") return response
  const unzip = createGunzip()
  pipeline(response, unzip, () => undefined) // an error also ends the reading of `unzip`
  return unzip
}

function readAnswer({ code, contentType, body }: Answer): Json {
  const { type = "", fault } = contentType === "" ? { type: "text/plain" } : parseMediaType(contentType)
  if (fault !== undefined) throw new WebhookError(`Internal error occurred: ${fault}`)
  if (code < 200 || code > greatestSuccess) throw new WebhookError(refusal(code, type, body))
  if (body.length === 0) {
    const shown = contentType || "application/json"
    throw new WebhookError(`0-length response with status code: ${code} and content type: ${shown}`)
  }
  try {
    // As upstream, text of any type that does not begin like a JSON object is YAML.
    return parseObject(body, isJsonText(body) ? "json" : "yaml", { duplicates: false }).value
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw new WebhookError(error.cause instanceof Error ? error.cause.message : error.message, { cause: error })
  }
}

/** The message of a Status; for other responses the code, and for some the text. */
function refusal(code: number, type: string, body: Buffer): string {
  const status = statusMessage(body)
  if (status !== undefined) return status
  const given = body.subarray(0, webhookLimits.maxErrorBytes).toString().trim()
  const text = type.startsWith("text/") ? given : "unknown"
  const reasons: Readonly<Record<number, string>> = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    403: text,
    404: "the server could not find the requested resource",
    409: "the server reported a conflict",
    405: "the server does not allow this method on the requested resource",
    406:
      text === "" || text === "unknown"
        ? "the server was unable to respond with a content type that the client supports"
        : text,
    415: text,
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
  }
  const known = reasons[code]
  if (known !== undefined) return known
  return code >= 500
    ? `an error on the server (${goQuote(text)}) has prevented the request from succeeding`
    : `the server responded with the status code ${code} but did not return more information`
}

function statusMessage(body: Buffer): string | undefined {
  try {
    const parsed = JSON.parse(body.toString()) as { kind?: string; status?: string; message?: string } | null
    return parsed?.kind === "Status" && parsed.status === "Failure" ? (parsed.message ?? "") : undefined
  } catch {
    return undefined // not JSON, so not a Status
  }
}
