// Trailers: headers that a server sends after the body of its answer, and has announced before it. As kube-apiserver, those of answers to
// GET and so on are sent on, those of requests are not. Source: Go's net/http and net/http/httputil.

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

/** The header that announces them; undefined if there are none, or the answer to this request cannot have any. */
export function announcedTrailers(
  { method, httpVersionMajor, httpVersionMinor }: IncomingMessage,
  { statusCode = 200, headers }: IncomingMessage,
): string | undefined {
  const { trailer, "content-length": length } = headers
  const hasBody = method !== "HEAD" && statusCode !== 204 && statusCode !== 304
  const hasPieces = length === undefined && (httpVersionMajor > 1 || httpVersionMinor > 0)
  if (trailer === undefined || !hasBody || !hasPieces) return undefined
  const names = trailer.split(",").filter((name) => !isFraming(name))
  return names.length === 0 ? undefined : names.join(",").trim()
}

/** To be called before the response is to end when the answer does, if they have been announced. */
export function passTrailers(answer: IncomingMessage, response: Pick<ServerResponse, "addTrailers" | "destroy">): void {
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
