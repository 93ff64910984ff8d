// An HTTP/2 request: Node's stream as the body, with the properties of an HTTP/1.1 request head. Node's own class
// (http2.Http2ServerRequest) copies the body through a second stream, which costs time even if there is no body.

import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import type { Http2Session, ServerHttp2Stream } from "node:http2"
import type { Socket } from "node:net"
import { pushOrGather } from "../../client/http/small-pieces.ts"

type Head = Pick<IncomingMessage, "method" | "url" | "headers" | "rawHeaders"> &
  Pick<IncomingMessage, "httpVersion" | "httpVersionMajor" | "httpVersionMinor" | "push"> & {
    socket: Socket | undefined
  }

const sockets = new WeakMap<Http2Session, Socket>()

/** The socket that Node's session itself shows throws at every access once the client has left. */
export function rememberSocket(session: Http2Session, socket: Socket): void {
  sockets.set(session, socket)
}

/** Node creates one per stream, with `new`. */
export class StreamRequest {
  constructor(stream: ServerHttp2Stream, given: IncomingHttpHeaders, _options: unknown, rawHeaders: string[]) {
    // A client that disconnects is not an error: readers of the body and writers of the response observe the close of the stream.
    stream.on("error", () => undefined)
    const head: Head = {
      method: text(given[":method"]) ?? "GET",
      url: text(given[":path"]) ?? "/",
      headers: headersOf(stream, given),
      rawHeaders,
      // The connection's socket, which is the key of per-connection data.
      socket: stream.session && sockets.get(stream.session),
      httpVersion: "2.0",
      httpVersionMajor: 2,
      httpVersionMinor: 0,
      push: pushOrGather,
    }
    return Object.assign(stream, head)
  }
}

function headersOf(stream: ServerHttp2Stream, given: IncomingHttpHeaders): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {}
  for (const name in given) if (!name.startsWith(":")) headers[name] = given[name]
  const authority = text(given[":authority"])
  if (authority !== undefined) headers.host ??= authority
  // HTTP/2 frames delimit the body; forwarding over HTTP/1.1 needs this header to know that there is one.
  if (headers["content-length"] === undefined && !stream.endAfterHeaders) headers["transfer-encoding"] = "chunked"
  return headers
}

function text(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined
}
