// Errors that are returned as one line of text, because the request has not reached code that returns a Status.

import { badRequest, noSuchPath, StatusError } from "./status.ts"

export class TextError extends StatusError {}

/** Of a request that is not understood at all: the answer does not say how it may be cached. */
export class UnreadableRequest extends TextError {}

/** For paths outside of any API, where clients and proxies expect text. */
export function pageNotFound(): TextError {
  return new TextError({ ...noSuchPath().status, message: "404 page not found" })
}

/** For invalid HTTP requests. Source: net/http (conn.serve), which answers before any handler sees them. */
export function malformedRequest(): TextError {
  return new TextError(badRequest("400 Bad Request").status)
}

/**
 * For targets that cannot be parsed. Source: k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go (InternalError).
 */
export function unreadableTarget(target: string, detail: string): TextError {
  const text = `Internal Server Error: ${JSON.stringify(target)}: failed to create RequestInfo: ${detail}`
  const message = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
  return new UnreadableRequest({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    code: 500,
  })
}
