// /portForward over SPDY: for each connection the client opens a pair of streams, error and data, with the port in their headers.
// Over WebSocket: two channels for each port of the query, data and error, which begin with the port as two bytes; closed when nothing
// is connected any more. Source: k8s.io/cri-streaming/pkg/streaming/portforward.

import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocket, WebSocketServer } from "ws"
import { CallRefused } from "../../client/http/node-server.ts"
import type { KubeletRequest } from "./request.ts"
import { acceptSpdy, isSpdy, type SpdyStream } from "./spdy.ts"

const protocols = ["portforward.k8s.io"]
const webSocketProtocol = "v4.channel.k8s.io"
/** Per message of the client. */
const maxMessageBytes = 1024 * 1024
/** Maximum number of stream pairs that one client may have open or half open. */
const maxPairs = 256

interface Pair {
  error?: SpdyStream
  data?: SpdyStream
}

export function acceptPortForward(found: KubeletRequest, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { sandbox } = found
  if (request.headers.upgrade?.toLowerCase() === "websocket") {
    overWebSocket(found, request, socket, head)
    return
  }
  if (!isSpdy(request)) throw new CallRefused(400, `unable to upgrade to ${request.headers.upgrade ?? ""}`)
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
    // Without an error if the client has disconnected.
    data.on("close", () => void ((target.readableEnded && target.writableEnded) || target.destroy()))
  })
}

function overWebSocket(
  { sandbox, query }: KubeletRequest,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const ports = query.getAll("port").flatMap((text) => text.split(",").map(Number))
  if (ports.length === 0 || ports.length > maxPairs) throw new CallRefused(400, 'query parameter "port" is required')
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    handleProtocols: (offered) => (offered.has(webSocketProtocol) ? webSocketProtocol : false),
  })
  server.handleUpgrade(request, socket, head, (connection) => {
    const send = (channel: number, data: Uint8Array, sent?: () => void): void => {
      if (connection.readyState === WebSocket.OPEN) connection.send(Buffer.concat([Buffer.of(channel), data]), sent)
    }
    let open = ports.length
    const end = (): void => {
      open--
      if (open === 0) connection.close(1000)
    }
    const targets = ports.map((port, index) => {
      const [dataChannel, errorChannel] = [index * 2, index * 2 + 1]
      const announced = Buffer.of(port & 255, port >> 8)
      send(dataChannel, announced)
      send(errorChannel, announced)
      const target = connect(sandbox, port)
      if (target === undefined) {
        send(errorChannel, Buffer.from(`error forwarding port ${port} to pod: nothing in the pod listens on it`))
        end()
        return undefined
      }
      // One piece of each is under way: nothing is kept for a client that reads slowly.
      target.on("data", (data: Buffer) => {
        target.pause()
        send(dataChannel, data, () => target.resume())
      })
      target.on("drain", () => connection.resume())
      target.on("end", () => target.destroy())
      target.on("close", () => {
        connection.resume()
        end()
      })
      target.on("error", () => connection.terminate())
      return target
    })
    connection.on("message", (message: Buffer) => {
      const target = targets[(message[0] ?? 0) / 2]
      // Others wait, too: they share the connection.
      if (target?.destroyed === false && !target.write(message.subarray(1))) connection.pause()
    })
    connection.on("close", () => targets.forEach((target) => target?.destroy()))
    connection.on("error", () => connection.terminate()) // a broken client cannot be notified
  })
}

function connect(sandbox: KubeletRequest["sandbox"], port: number): Duplex | undefined {
  for (const { current } of [...sandbox.containers.values(), ...sandbox.initContainers.values()]) {
    const target = current?.connect(port)
    if (target !== undefined) return target
  }
  return undefined
}
