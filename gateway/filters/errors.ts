// The only place that writes an error body. A StatusError goes out as it is; storage's errors that reach here have their
// code in the API; anything else is a bug of ours: logged with its stack, answered with 500.

import type { ServerResponse } from "node:http"
import type { NextFunction, Request } from "express"
import { internalError, resourceExpired, serviceUnavailable, StatusError } from "../../apimachinery/status.ts"
import type { Log } from "../../client/log.ts"
import { StorageError } from "../../storage/types.ts"
import type { GatewayResponse } from "./state.ts"

export function statusErrors(log: Log) {
  // Express knows an error handler by its four parameters.
  return (error: unknown, request: Request, response: GatewayResponse, _next: NextFunction): void => {
    const status = asStatusError(error)
    if (!(error instanceof StatusError) && status.code >= 500 && !response.destroyed) {
      const { method, originalUrl: url } = request
      log.error({ err: error, method, url, request: response.locals.state?.id }, "request failed")
    }
    writeStatus(response, status, wantsIndent(request))
  }
}

/** Once the answer has begun nothing can be said any more: the connection is cut, so that the client knows. */
export function writeStatus(response: ServerResponse, error: unknown, indent = false): void {
  if (response.writableEnded || response.destroyed) return
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { status, code } = asStatusError(error)
  const body = Buffer.from(JSON.stringify(status, undefined, indent ? 2 : undefined) + "\n")
  const retryAfter = status.details?.retryAfterSeconds
  if (retryAfter !== undefined && retryAfter > 0) response.setHeader("Retry-After", String(retryAfter))
  response.setHeader("Content-Type", "application/json")
  response.setHeader("Cache-Control", "no-cache, private")
  response.setHeader("Content-Length", body.byteLength)
  response.statusCode = code
  response.end(body)
}

function asStatusError(error: unknown): StatusError {
  if (error instanceof StatusError) return error
  if (error instanceof StorageError) {
    if (error.code === "Compacted") return resourceExpired()
    if (error.code === "Closed" || error.code === "Unavailable")
      return serviceUnavailable("the server is currently unable to handle the request", { cause: error })
  }
  return internalError(error instanceof Error ? error.message : String(error), { cause: error })
}

/** As upstream: people's tools get it indented. */
export function wantsIndent(request: {
  headers: { "user-agent"?: string | undefined }
  url?: string | undefined
}): boolean {
  const agent = request.headers["user-agent"] ?? ""
  return /[?&]pretty=(true|1)(&|$)/.test(request.url ?? "") || /^(curl|Wget|Mozilla\/5\.0)/.test(agent)
}
