// Errors that are answered as text, in one line, since nothing that knows a Status has seen the request.

import { badRequest, noSuchPath, StatusError } from "./status.ts"

export class TextError extends StatusError {}

/** Where not even an API is: text is what clients and proxies expect of a path nobody serves. */
export function pageNotFound(): TextError {
  return new TextError({ ...noSuchPath().status, message: "404 page not found" })
}

/** What is no request at all. Source: net/http (conn.serve), which answers before any handler sees it. */
export function malformedRequest(): TextError {
  return new TextError(badRequest("400 Bad Request").status)
}

/** A path that cannot be taken apart. Source: k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go (InternalError). */
export function unreadablePath(path: string, detail: string): TextError {
  const shown = JSON.stringify(path.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"))
  const message = `Internal Server Error: ${shown}: failed to create RequestInfo: ${detail}`
  return new TextError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 })
}
