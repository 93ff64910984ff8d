// What the node of a pod says of a log or a stream that it refuses, with the code that kube-apiserver would answer with.

import {
  badRequest,
  internalError,
  noSuchPath,
  restated,
  type StatusError,
  tooManyRequests,
} from "../../../../../apimachinery/status.ts"

/** The only limit at a node is that of its vn-agent (vn-agent/server.ts). */
const retryAfterSeconds = 1

/** Any other code says something of the gateway's own right or way to the node, not of the caller's request. */
export function refusedByNode(code: number, text: string, cause?: unknown): StatusError {
  const options = { cause }
  if (code === 400) return badRequest(text, options)
  if (code === 404) return restated(noSuchPath(), { message: text }, options)
  if (code === 429) return tooManyRequests(text, retryAfterSeconds, undefined, options)
  return internalError(text, options)
}

/** For a log upstream has its own words for what is not there, and says of what. Source: GenericHttpResponseChecker, NewGenericServerResponse. */
export function refusedLog(code: number, text: string, pod: string): StatusError {
  const error = refusedByNode(code, text)
  if (code !== 404) return error
  const kind = "pods/log"
  const message = `${noSuchPath().message} ( ${kind} ${pod})`
  return restated(error, { message, details: { name: pod, kind } })
}
