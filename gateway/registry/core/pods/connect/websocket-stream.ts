// A stream of bytes for a client that asked for a WebSocket instead of a body: browsers, which cannot read a long-running body.
// One message per piece, binary or base64 as the protocol agreed on says. Source: k8s.io/apimachinery's wsstream.Reader.

import type { IncomingMessage } from "node:http"
import { once } from "node:events"
import type { Duplex, Readable } from "node:stream"
import { openWebSocket } from "../../../../request/web-socket.ts"

const binary = "binary.k8s.io"
const base64 = "base64.binary.k8s.io"
/** Bytes that may wait for a slow client before the stream waits too. */
const maxBufferedBytes = 1024 * 1024
/** Resolves when all has been sent, or the client left. */
export async function streamOverWebSocket(
  request: IncomingMessage,
  { socket, head }: { socket: Duplex; head: Buffer },
  source: Readable,
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
      if (client.protocol === base64) client.send(chunk.toString("base64"))
      else client.send(chunk, { binary: true })
      if (client.bufferedAmount > maxBufferedBytes) await Promise.race([once(socket, "drain"), once(socket, "close")])
    }
    client.close()
  } catch {
    // The source was cut, or the client left: a WebSocket that ends without its closing words says so.
    client.terminate()
  }
}
