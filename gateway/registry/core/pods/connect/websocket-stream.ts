// Streams bytes to clients that requested a WebSocket instead of a body: browsers, which cannot read a long-running body.
// One message per piece, binary or base64 according to the negotiated protocol. Source: k8s.io/apimachinery's wsstream.Reader.

import type { IncomingMessage } from "node:http"
import type { Duplex, Readable } from "node:stream"
import { isSmall } from "../../../../../client/http/gathered-bytes.ts"
import type { HoldUnsent } from "../../../../../client/http/unsent.ts"
import { openWebSocket } from "../../../../request/web-socket.ts"

const binary = "binary.k8s.io"
const base64 = "base64.binary.k8s.io"

/** Resolves when everything has been sent or the client has disconnected. The stream pauses while the client takes nothing. */
export async function streamOverWebSocket(
  request: IncomingMessage,
  { socket, head }: { socket: Duplex; head: Buffer },
  source: Readable,
  hold?: HoldUnsent,
): Promise<void> {
  socket.once("close", () => source.destroy())
  const client = await openWebSocket(
    request,
    { socket, head },
    (offered) => [binary, base64].find((name) => offered.has(name)) ?? false,
  )
  if (client === undefined) return
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      if (client.readyState !== client.OPEN) return
      const message = client.protocol === base64 ? chunk.toString("base64") : chunk
      const { promise: sent, resolve } = Promise.withResolvers<unknown>()
      client.send(message, resolve) // also called if the client has disconnected
      // Of small pieces one waits here. Those that come meanwhile are read together.
      if (!socket.writableNeedDrain && !isSmall(chunk)) continue
      const held = (): (() => void) | undefined =>
        hold?.(client.bufferedAmount + source.readableHighWaterMark, () => client.terminate())
      await sent.finally(socket.writableNeedDrain ? held() : later(held))
    }
    client.close()
  } catch {
    // The source was truncated, or the client disconnected: without a close frame, the client detects it.
    client.terminate()
  }
}

/** A client that reads takes a piece within a few turns of the event loop, and is not to be counted among those that do not. */
const readingMs = 1000

/** Calls `begin` unless the result is called before, which ends what has begun. */
function later(begin: () => (() => void) | undefined): () => void {
  let end: (() => void) | undefined
  const timer = setTimeout(() => (end = begin()), readingMs)
  return () => {
    clearTimeout(timer)
    end?.()
  }
}
