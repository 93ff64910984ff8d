// The only place that writes an error body. A StatusError is written in a format that the client accepts. A StorageError that
// reaches this place has a corresponding API status. Any other error is a bug: it is logged with its stack and answered with 500.

import type { IncomingMessage, ServerResponse } from "node:http"
import { printJson } from "../../apimachinery/go/print.ts"
import { errorMessage } from "../../apimachinery/error-message.ts"
import {
  internalError,
  resourceExpired,
  serviceUnavailable,
  type Status,
  StatusError,
} from "../../apimachinery/status.ts"
import { TextError, UnreadableRequest } from "../../apimachinery/text-errors.ts"
import type { Log } from "../../client/log.ts"
import { StorageError } from "../../storage/types.ts"
import { choose } from "../endpoints/negotiation.ts"
import { printing } from "../endpoints/responses/print.ts"
import type { Fail } from "./chain.ts"

export function statusErrors(log: Log): Fail {
  return (error, request, response) => {
    const status = asStatusError(error)
    if (!(error instanceof StatusError) && status.code >= 500 && !response.destroyed) {
      const { method, url } = request
      log.error({ err: error, method, url, request: response.locals.state?.id }, "request failed")
    }
    writeStatus(request, response, status)
  }
}

type Response = ServerResponse & { readonly isEnding?: boolean }

export function writeStatus(
  request: Pick<IncomingMessage, "headers" | "url">,
  response: Response,
  error: unknown,
): void {
  if (!canAnswer(response)) return
  const known = asStatusError(error)
  const body = known instanceof TextError ? textBody(known.message) : statusBody(request, known)
  if (!(body instanceof Promise)) return writeError(response, known, body)
  body.then(
    (printed) => {
      if (canAnswer(response)) writeError(response, known, printed)
    },
    () => response.destroy(),
  )
}

function writeError(response: Response, known: StatusError, body: ErrorBody): void {
  const retryAfter = known.status.details?.retryAfterSeconds
  if (retryAfter !== undefined && retryAfter > 0) response.setHeader("Retry-After", String(retryAfter))
  if (known instanceof TextError) response.setHeader("X-Content-Type-Options", "nosniff")
  answer(response, known.code, body, !(known instanceof UnreadableRequest))
}

const ofAnyAnswer: ReadonlySet<string> = new Set(["audit-id", "cache-control"])

/**
 * Upstream has one form for the error of a request whose time is over: JSON that is sent as text and does not say that it is a Status.
 * client-go reports it in its own words. What was said of its answer in the meantime belongs to the one that does not come.
 */
export function answerTimedOut(response: Response, { status, code }: StatusError): void {
  if (!canAnswer(response)) {
    // The client does not take its answer.
    response.destroy()
    return
  }
  for (const name of response.getHeaderNames()) if (!ofAnyAnswer.has(name)) response.removeHeader(name)
  const { kind: _kind, apiVersion: _apiVersion, ...shown } = status
  answer(response, code, textBody(printJson(shown)))
}

/** Once the response has begun, no error can be sent: the connection is closed, so that the client notices. */
function canAnswer(response: Response): boolean {
  if (response.isEnding === true || response.writableEnded || response.destroyed) return false
  if (response.headersSent) response.destroy()
  return !response.headersSent
}

function answer(response: Response, code: number, { body, contentType }: ErrorBody, tellsOfCaches = true): void {
  response.setHeader("Content-Type", contentType)
  if (tellsOfCaches) response.setHeader("Cache-Control", "no-cache, private")
  else response.removeHeader("cache-control")
  response.setHeader("Content-Length", body.byteLength)
  response.statusCode = code
  response.end(body)
}

interface ErrorBody {
  body: Buffer
  contentType: string
}

/** A client that accepts no supported format gets JSON: the original error must not be hidden behind a 406. */
function statusBody(
  { headers, url = "" }: Pick<IncomingMessage, "headers" | "url">,
  { status }: StatusError,
): ErrorBody | Promise<ErrorBody> {
  const mark = url.indexOf("?")
  const pretty = mark < 0 ? null : new URLSearchParams(url.slice(mark)).get("pretty")
  const wanted = choose(headers, pretty, "plain")
  const { format, contentType } = wanted ?? { format: "json", contentType: "application/json" }
  const { message = "", details: { name = "" } = {} } = status
  const wellFormedStatus = message.isWellFormed() && name.isWellFormed() ? status : wellFormed(status)
  const body = printing(wellFormedStatus, { format, pretty: wanted?.pretty ?? true })
  return body instanceof Promise ? body.then((bytes) => ({ body: bytes, contentType })) : { body, contentType }
}

/** Bytes of a path that are not UTF-8 (go/text.ts) become U+FFFD, as in Go. */
function wellFormed({ message = "", details, ...status }: Status): Status {
  const wellFormedStatus = { ...status, message: message.toWellFormed() }
  if (details?.name === undefined) return details === undefined ? wellFormedStatus : { ...wellFormedStatus, details }
  return { ...wellFormedStatus, details: { ...details, name: details.name.toWellFormed() } }
}

function textBody(text: string): ErrorBody {
  return { body: Buffer.from(`${text}\n`), contentType: "text/plain; charset=utf-8" }
}

function asStatusError(error: unknown): StatusError {
  if (error instanceof StatusError) return error
  if (error instanceof StorageError) {
    if (error.code === "Compacted") return resourceExpired()
    if (error.code === "Closed" || error.code === "Unavailable")
      return serviceUnavailable("the server is currently unable to handle the request", { cause: error })
  }
  return internalError(errorMessage(error), { cause: error })
}
