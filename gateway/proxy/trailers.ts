// Trailers: headers that a server sends after the body of its answer, whether it has announced them before it or not. As kube-apiserver,
// those of answers to GET and so on are sent on, those of requests are not. Source: Go's net/http and net/http/httputil.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"

/** They would say where a body ends. Source: fixTrailer. */
const framing: ReadonlySet<string> = new Set(["content-length", "trailer", "transfer-encoding"])

/** Whether such a header cannot follow the body. */
export const isFraming = (name: string): boolean => framing.has(name.trim().toLowerCase())

/** Whether a client has said so, in its header te. */
export const takesTrailers = ({ te }: IncomingHttpHeaders): boolean =>
  String(te)
    .split(",")
    .some((coding) => coding.trim().toLowerCase() === "trailers")

/** Whether the answer to this request can have any, as its client sees it. */
function mayHaveTrailers(
  { method, httpVersionMajor, httpVersionMinor }: IncomingMessage,
  { statusCode = 200, headers }: IncomingMessage,
): boolean {
  const hasBody = method !== "HEAD" && statusCode !== 204 && statusCode !== 304
  return hasBody && headers["content-length"] === undefined && (httpVersionMajor > 1 || httpVersionMinor > 0)
}

/** To be called before the response begins, which is to end when the answer does. */
export function passTrailers(request: IncomingMessage, answer: IncomingMessage, response: ServerResponse): void {
  if (!mayHaveTrailers(request, answer)) return
  const announced = (answer.headers.trailer ?? "").split(",").filter((name) => name.trim() !== "" && !isFraming(name))
  if (announced.length > 0) response.setHeader("trailer", announced.join(",").trim())
  response.addTrailers([]) // over HTTP/2, a response that begins must know that there may be some
  answer.once("end", () => {
    const { rawTrailers } = answer
    const kept: [string, string][] = []
    for (let at = 0; at + 1 < rawTrailers.length; at += 2) {
      const name = rawTrailers[at] ?? ""
      if (!isFraming(name)) kept.push([name, rawTrailers[at + 1] ?? ""])
    }
    try {
      response.addTrailers(kept)
    } catch {
      response.destroy() // there are bytes in it that Node takes, but does not send
    }
  })
}
