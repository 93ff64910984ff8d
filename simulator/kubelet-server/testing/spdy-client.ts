// A client of SPDY/3.1 that never tells how much more may be sent to it, as kubectl: github.com/moby/spdystream knows no windows.

import { once } from "node:events"
import { createRequire } from "node:module"
/// <reference path="../spdy-transport.d.ts" />
import type { SpdyStream, SpdyTransport } from "spdy-transport"
import { openUpgrade, type UpgradeTarget } from "../../../client/http/upgrade.ts"

interface SpdyClient {
  /** Opens a stream with headers of its own, when the one before is open. */
  readonly open: (headers: Record<string, string>) => Promise<SpdyStream>
  /** Reads nothing any more. */
  stall(): void
  /** Says so first, if it still reads. */
  disconnect(): void
}

export async function openSpdy(target: UpgradeTarget, protocol: string): Promise<SpdyClient> {
  const headers = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": protocol }
  const { socket, head } = await openUpgrade({ ...target, method: "POST", headers: { ...target.headers, ...headers } })
  if (head.length > 0) socket.unshift(head)
  const { connection: connections } = createRequire(import.meta.url)("spdy-transport") as SpdyTransport
  const connection = connections.create(socket, { protocol: "spdy", isServer: false })
  connection.on("error", () => socket.destroy())
  const { framer } = connection._spdyState
  framer.settingsFrame = framer.windowUpdateFrame = (_frame, callback) => callback?.()
  connection.start(3.1)
  return {
    open(own) {
      const { promise, resolve, reject } = Promise.withResolvers<SpdyStream>()
      const stream = connection.request({ method: "POST", path: "/", headers: own }, (error) =>
        error ? reject(error) : resolve(stream),
      )
      return promise
    },
    stall: () => void socket.unpipe().pause(),
    disconnect: () => void (socket.isPaused() ? socket.destroy() : socket.end()),
  }
}

/** All that the server sends on it. (Its streams are of an old library, whose iterator waits for the end of both sides.) */
export async function received(stream: SpdyStream): Promise<Buffer> {
  const pieces: Buffer[] = []
  stream.on("data", (piece: Buffer) => pieces.push(piece))
  await once(stream, "end")
  return Buffer.concat(pieces)
}
