// Over HTTP/1.1 a client may send requests before it has the answer to the one before. Node would begin all of them when they
// are read, hundreds in one piece; here the next begins when the one before is answered, as with Go's server. What waits holds
// no more than its head.

import { IncomingMessage, type ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** Beyond it the connection ends: no client of Kubernetes sends a second one. */
const maxWaiting = 16

type Serve<Response extends ServerResponse> = (request: IncomingMessage, response: Response) => void

/** After a request that leaves HTTP, Node reads no further. */
const leavingHTTP = { get: () => true, set: () => undefined }

/**
 * Servers are made with it. Of a connection that has ended, Node would make requests of all it has read already, hundreds, and an
 * error with a stack for each when it closes. This one stops it at the first.
 */
export class ReadRequest extends IncomingMessage {
  constructor(socket: Socket) {
    super(socket)
    if (socket.destroyed) Object.defineProperty(this, "upgrade", leavingHTTP)
  }
}

/** Of one connection. */
interface Line {
  /** A request is under way. */
  isBusy: boolean
  readonly waiting: (() => void)[]
}

export function oneAtATime<Response extends ServerResponse>(serve: Serve<Response>): Serve<Response> {
  const lines = new WeakMap<Socket, Line>()

  function begin(request: IncomingMessage, response: Response, line: Line): void {
    line.isBusy = true
    response.once("close", () => next(line, request.socket))
    serve(request, response)
  }

  function next(line: Line, socket: Socket): void {
    line.isBusy = false
    const call = line.waiting.shift()
    if (!socket.destroyed) call?.()
  }

  return (request, response) => {
    const { socket } = request
    // Streams of HTTP/2 have limits of their own.
    if (request.httpVersionMajor > 1) return serve(request, response)
    let line = lines.get(socket)
    if (line === undefined) lines.set(socket, (line = { isBusy: false, waiting: [] }))
    if (!line.isBusy) begin(request, response, line)
    else if (line.waiting.length < maxWaiting) line.waiting.push(() => begin(request, response, line))
    else socket.destroy()
  }
}
