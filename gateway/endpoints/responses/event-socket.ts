// A watch over a WebSocket, as browsers ask for it: one message per event. Source: HandleWS in
// k8s.io/apiserver/pkg/endpoints/handlers/watch.go, and the handshake of golang.org/x/net/websocket below it.

import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http"
import type { Duplex } from "node:stream"
import type { WebSocket } from "ws"
import type { Exchange } from "../../registry/strategy.ts"
import { openWebSocket } from "../../request/web-socket.ts"
import type { EventSink } from "./event-stream.ts"

/** Before its length. Source: the length-delimited framing of protobuf. */
const lengthBytes = 4

const normalClosure = 1000

/** Undefined: it was refused, which has been answered, or the client left. */
export async function openEventSocket(
  { request, response, upgrade }: Exchange & { upgrade: { socket: Duplex; head: Buffer } },
  isText: boolean,
): Promise<EventSocket | undefined> {
  const refusal = refusalOf(request.headers)
  if (refusal !== undefined) {
    const { code, headers = {}, text = "" } = refusal
    response.writeHead(code, { "content-length": Buffer.byteLength(text), ...headers }).end(text)
    return undefined
  }
  // What the one protocol is called does not matter.
  const client = await openWebSocket(request, upgrade, ([only]) => only ?? false)
  return client === undefined ? undefined : new EventSocket(client, upgrade.socket, isText)
}

interface Refusal {
  code: number
  headers?: OutgoingHttpHeaders
  text?: string
}

const version = "13"

function refusalOf(headers: IncomingHttpHeaders): Refusal | undefined {
  if (!headers["sec-websocket-key"]) return { code: 400, text: "mismatch challenge/response" }
  if (headers["sec-websocket-version"] !== version)
    return { code: 400, headers: { "sec-websocket-version": version }, text: "missing or bad WebSocket Version" }
  if (!URL.canParse(headers.origin ?? "")) return { code: 403 }
  return (headers["sec-websocket-protocol"]?.split(",").length ?? 0) > 1 ? { code: 400 } : undefined
}

class EventSocket implements EventSink {
  readonly #client: WebSocket
  readonly socket: Duplex
  readonly #isText: boolean

  constructor(client: WebSocket, socket: Duplex, isText: boolean) {
    this.#client = client
    this.socket = socket
    this.#isText = isText
  }

  get unread(): number {
    return this.#client.bufferedAmount
  }

  portions(documents: readonly Buffer[]): Iterable<Buffer> {
    return documents
  }

  write(document: Buffer): boolean {
    this.#client.send(this.#isText ? document : document.subarray(lengthBytes), { binary: !this.#isText })
    return !this.socket.writableNeedDrain
  }

  end(): void {
    this.#client.close(normalClosure)
  }

  cut(): void {
    this.#client.terminate()
  }
}
