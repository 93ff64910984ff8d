// /portForward over SPDY: for each connection the client opens a pair of streams, error and data, with the port in their
// headers. Source: k8s.io/streaming's portforward.

import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { KubeletError, type KubeletRequest } from "./request.ts"
import { acceptSpdy, isSpdy, type SpdyStream } from "./spdy.ts"

const protocols = ["portforward.k8s.io"]
/** Pairs of streams one client may have open or half open. */
const maxPairs = 256

interface Pair {
  error?: SpdyStream
  data?: SpdyStream
}

export function acceptPortForward(
  { sandbox }: KubeletRequest,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  if (!isSpdy(request)) throw new KubeletError(400, "port-forward needs SPDY/3.1")
  const pairs = new Map<string, Pair>()
  acceptSpdy(request, socket, head, protocols, (stream) => {
    const { streamtype, port = "", requestid = "" } = stream.headers
    if ((streamtype !== "error" && streamtype !== "data") || (!pairs.has(requestid) && pairs.size >= maxPairs)) {
      stream.destroy()
      return
    }
    const pair = pairs.get(requestid) ?? {}
    pairs.set(requestid, pair)
    pair[streamtype] = stream
    if (pair.error === undefined || pair.data === undefined) return
    const { error, data } = pair
    error.resume()
    const forget = (): boolean => pairs.delete(requestid)
    data.on("close", forget)
    const target = connect(sandbox, Number(port))
    if (target === undefined) {
      error.end(`error forwarding port ${port} to pod: nothing in the pod listens on it`)
      data.end()
      forget()
      return
    }
    data.pipe(target).pipe(data)
    target.on("end", () => error.end())
    target.on("error", () => data.destroy())
    data.on("error", () => target.destroy())
  })
}

function connect(sandbox: KubeletRequest["sandbox"], port: number): Duplex | undefined {
  for (const { current } of [...sandbox.containers.values(), ...sandbox.initContainers.values()]) {
    const target = current?.connect(port)
    if (target !== undefined) return target
  }
  return undefined
}
