// A request over HTTP/2: Node's stream, which is its body, and beside it what Node says of a request's head over HTTP/1.1. Node's own
// class for this (http2.Http2ServerRequest) copies the body through a second stream; a request without one pays for that, too.

import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import type { ServerHttp2Stream } from "node:http2"
import type { Socket } from "node:net"

type Head = Pick<IncomingMessage, "method" | "url" | "headers" | "rawHeaders"> &
  Pick<IncomingMessage, "httpVersion" | "httpVersionMajor" | "httpVersionMinor"> & { socket: Socket | undefined }

/** Node makes one per stream, with `new`. */
export class StreamRequest {
  constructor(stream: ServerHttp2Stream, given: IncomingHttpHeaders, _options: unknown, rawHeaders: string[]) {
    // A client that goes away is no failure: whoever reads the body or writes the answer sees the stream close.
    stream.on("error", () => undefined)
    const head: Head = {
      method: text(given[":method"]) ?? "GET",
      url: text(given[":path"]) ?? "/",
      headers: headersOf(stream, given),
      rawHeaders,
      // The connection's: what is known of a connection is found by this object.
      socket: stream.session?.socket,
      httpVersion: "2.0",
      httpVersionMajor: 2,
      httpVersionMinor: 0,
    }
    return Object.assign(stream, head)
  }
}

function headersOf(stream: ServerHttp2Stream, given: IncomingHttpHeaders): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {}
  for (const name in given) if (!name.startsWith(":")) headers[name] = given[name]
  const authority = text(given[":authority"])
  if (authority !== undefined) headers.host ??= authority
  // Frames say where a body ends; whoever passes the request on over HTTP/1.1 has to know that one comes.
  if (headers["content-length"] === undefined && !stream.endAfterHeaders) headers["transfer-encoding"] = "chunked"
  return headers
}

function text(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined
}
