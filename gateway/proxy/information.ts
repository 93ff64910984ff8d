// Informational answers (1xx, for example 103 Early Hints), which a server sends before its answer. As kube-apiserver, they are sent on.
// Source: Go's net/http/httputil.

import type { ClientRequest, InformationEvent, ServerResponse } from "node:http"

/** Headers of an answer that belong to the connection, and are not sent on. */
export const hopByHopOfAnswer: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "trailer",
  "transfer-encoding",
  "upgrade",
])

/** Of all that come before one answer. A server may send any number of them, and a client need not take them. Others are not sent on. */
const maxBytes = 16 * 1024
/** Of one without headers. */
const headBytes = 64

/** `asking`: the request to the server, to which `response` will be its answer. */
export function passInformation(asking: ClientRequest, response: ServerResponse): void {
  const { httpVersionMajor, httpVersionMinor } = response.req
  // Older clients would take it for the answer. RFC 9110, section 15.2.
  if (httpVersionMajor < 2 && httpVersionMinor < 1) return
  let left = maxBytes
  asking.on("information", ({ statusCode, headers, rawHeaders }: InformationEvent) => {
    // The gateway itself tells clients to continue.
    if (statusCode === 100 || response.headersSent || response.destroyed) return
    left -= headBytes + rawHeaders.join("").length
    if (left < 0) return
    const kept = Object.entries(headers).filter(([name]) => !hopByHopOfAnswer.has(name) && name !== "content-length")
    // Name by name: of several Set-Cookie in a list Node would make one.
    response.writeInformation(
      statusCode,
      kept.flatMap(([name, value]) => [value ?? ""].flat().flatMap((one) => [name, one])),
    )
  })
}
