// Serializes the requests of an HTTP/1.1 connection. A client may pipeline requests, and Node would begin all of them as soon as
// they are read, hundreds from one packet. Here the next one begins after the previous response, as in Go's server. A waiting
// request holds only its head. After a request that offers an upgrade none begins.

import { IncomingMessage, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { pushOrGather } from "../../client/http/small-pieces.ts"

/** Beyond it the connection is closed. Kubernetes clients do not pipeline at all. */
const maxWaiting = 16

type Serve<Response extends ServerResponse> = (request: IncomingMessage, response: Response) => void

/** Makes Node stop reading after a request that leaves HTTP. */
const leavingHTTP = { get: () => true, set: () => undefined }

/**
 * The request class of the servers. When a connection has ended, Node would still create requests from all it has read, hundreds,
 * and an error with a stack for each when it closes. This class stops Node at the first.
 */
export class ReadRequest extends IncomingMessage {
  constructor(socket: Socket) {
    super(socket)
    if (socket.destroyed) Object.defineProperty(this, "upgrade", leavingHTTP)
  }

  /** While a request waits, its body may come in tens of thousands of chunks. */
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    return pushOrGather.call(this, chunk, encoding)
  }
}

/**
 * Node drops what it has read behind the body of a request that offers an upgrade and does not get it; what comes later is no longer
 * where a request begins.
 */
const isLast = ({ headers }: IncomingMessage): boolean => headers.upgrade !== undefined

/** The queue of one connection. */
interface Line {
  /** A request is in progress. */
  isBusy: boolean
  /** The last request has come. */
  isOver: boolean
  readonly waiting: (() => void)[]
}

export function oneAtATime<Response extends ServerResponse>(serve: Serve<Response>): Serve<Response> {
  const lines = new WeakMap<Socket, Line>()

  function begin(request: IncomingMessage, response: Response, line: Line): void {
    line.isBusy = true
    response.once("close", () => {
      // The next one is behind it. Node does so with a body that nobody has begun to read.
      if (!request.complete) request.unpipe().resume()
      next(line, request.socket)
    })
    if (isLast(request)) response.shouldKeepAlive = false
    serve(request, response)
  }

  function next(line: Line, socket: Socket): void {
    line.isBusy = false
    const call = line.waiting.shift()
    if (!socket.destroyed) call?.()
  }

  return (request, response) => {
    const { socket } = request
    // HTTP/2 streams have their own limits.
    if (request.httpVersionMajor > 1) return serve(request, response)
    let line = lines.get(socket)
    if (line === undefined) lines.set(socket, (line = { isBusy: false, isOver: false, waiting: [] }))
    if (line.isOver) return
    line.isOver = isLast(request)
    if (!line.isBusy) begin(request, response, line)
    else if (line.waiting.length < maxWaiting) line.waiting.push(() => begin(request, response, line))
    else socket.destroy()
  }
}
