// Over HTTP/1.1 a client may send requests before it has the answer to the one before. Node would begin all of them when they
// are read, hundreds in one piece; here the next begins when the one before is answered, as with Go's server. What waits holds
// no more than its head.

import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** Beyond it the connection ends: no client of Kubernetes sends a second one. */
const maxWaiting = 16

type Serve<Response extends ServerResponse> = (request: IncomingMessage, response: Response) => void

export function oneAtATime<Response extends ServerResponse>(serve: Serve<Response>): Serve<Response> {
  /** Connections with a request under way, and what waits for it. */
  const lines = new WeakMap<Socket, (() => void)[]>()

  function begin(request: IncomingMessage, response: Response): void {
    response.once("close", () => next(request.socket))
    serve(request, response)
  }

  function next(socket: Socket): void {
    const call = lines.get(socket)?.shift()
    if (call === undefined) lines.delete(socket)
    else if (!socket.destroyed) call()
  }

  return (request, response) => {
    const { socket } = request
    // Streams of HTTP/2 have limits of their own.
    if (request.httpVersionMajor > 1) return serve(request, response)
    const line = lines.get(socket)
    if (line === undefined) {
      lines.set(socket, [])
      begin(request, response)
    } else if (line.length < maxWaiting) line.push(() => begin(request, response))
    else socket.destroy()
  }
}
