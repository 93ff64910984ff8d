// Errors that are returned as one line of text, because the request has not reached code that returns a Status.

import { badRequest, noSuchPath, StatusError } from "./status.ts"

export class TextError extends StatusError {}

/** For paths outside of any API, where clients and proxies expect text. */
export function pageNotFound(): TextError {
  return new TextError({ ...noSuchPath().status, message: "404 page not found" })
}

/** For invalid HTTP requests. Source: net/http (conn.serve), which answers before any handler sees them. */
export function malformedRequest(): TextError {
  return new TextError(badRequest("400 Bad Request").status)
}

/** For paths that cannot be parsed. Source: k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go (InternalError). */
export function unreadablePath(path: string, detail: string): TextError {
  const shown = JSON.stringify(path.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"))
  const message = `Internal Server Error: ${shown}: failed to create RequestInfo: ${detail}`
  return new TextError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 })
}
