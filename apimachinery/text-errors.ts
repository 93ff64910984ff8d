// Errors that are returned as one line of text, because the request has not reached code that returns a Status.

import { goQuote } from "./go/quote.ts"
import { badRequest, noSuchPath, StatusError, tooManyRequests, unexplained } from "./status.ts"

export class TextError extends StatusError {}

/** Of a request that is not understood at all: the answer does not say how it may be cached. */
export class UnreadableRequest extends TextError {}

/** For paths outside of any API, where clients and proxies expect text. */
export function pageNotFound(): TextError {
  return new TextError({ ...noSuchPath().status, message: "404 page not found" })
}

/** Source: k8s.io/apiserver/pkg/server/filters/priority-and-fairness.go (tooManyRequests). */
export function tooManyAtOnce(retryAfterSeconds: number): TextError {
  return new TextError(tooManyRequests("Too many requests, please try again later.", retryAfterSeconds).status)
}

/** For invalid HTTP requests. Source: net/http (conn.serve), which answers before any handler sees them. */
export function malformedRequest(): TextError {
  return new TextError(badRequest("400 Bad Request").status)
}

/**
 * For targets that cannot be parsed. Source: k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go (InternalError).
 */
export function unreadableTarget(target: string, detail: string): TextError {
  const text = `Internal Server Error: ${goQuote(target)}: failed to create RequestInfo: ${detail}`
  return new UnreadableRequest(unexplained(withoutMarkup(text)).status)
}

/** Errors that repeat what a client wrote do not look like HTML. */
export function withoutMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}
