// What clients are told whose bytes are no request, in the words of Go's server: one line of text. Then the connection ends.
//
// So it does with a body that takes too long, except while a long-running request is being answered: what a client sends through a proxy may
// take hours, as upstream.

import type { ServerResponse } from "node:http"
import type { Server } from "node:https"
import type { Duplex } from "node:stream"
import { dictionary } from "../../apimachinery/dictionary.ts"
import { closeConnection } from "../../client/http/closing.ts"
import type { GatewayResponse } from "../filters/chain.ts"

/** Node says it of headers, too. */
const bodyTimeout = "ERR_HTTP_REQUEST_TIMEOUT"

/** A client whose body has taken too long, and goes on, has this long to read the answer. */
const lateMs = 30_000

/** By the code of Node's parser: status and text. */
const answers: Readonly<Record<string, readonly [status: string, text: string]>> = dictionary({
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "431 Request Header Fields Too Large"],
  HPE_INVALID_TRANSFER_ENCODING: ["501 Not Implemented", "Unsupported transfer encoding"],
  [bodyTimeout]: ["408 Request Timeout", ""],
})
const notFound = "404 page not found\n"
const badRequest = ["400 Bad Request", "400 Bad Request"] as const

/** The response in progress on a connection, which Node does not publish. */
type Connection = Duplex & { _httpMessage?: GatewayResponse | null }

export function answerFaults(server: Server): void {
  const answered = new WeakSet<Duplex>()
  server.on("clientError", (error: Error & { code?: string }, socket: Connection) => {
    if (answered.has(socket)) return // what follows the first fault is no request either
    if (error.code === bodyTimeout && mayTakeLonger(socket)) return
    answered.add(socket)
    if (!socket.writable || socket._httpMessage?.headersSent === true) {
      socket.destroy()
      return
    }
    const [status, text] = answers[error.code ?? ""] ?? badRequest
    closeConnection(socket, closing(status, text))
  })
  // Of a client that takes this server for its proxy. Node would close the connection without a word.
  server.on("connect", (_request: unknown, socket: Duplex | ServerResponse) => {
    // Node gives a response for HTTP/2.
    if ("writeHead" in socket) {
      socket.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end(notFound)
      return
    }
    socket.on("error", () => undefined) // it has left
    closeConnection(socket, closing("404 Not Found", notFound))
  })
}

/** Node says it once of a body: if that has not ended with the answer, the connection does. It may be the next head that is late, too. */
function mayTakeLonger({ _httpMessage: response }: Connection): boolean {
  if (response?.locals.state?.isLongRunning !== true || response.req.complete) return false
  response.once("finish", () => {
    if (!response.req.complete) closeConnection(response.req.socket, undefined, lateMs)
  })
  return true
}

function closing(status: string, text: string): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${text}`
}
