// The end of a server's connection that leaves HTTP with a refusal: an upgrade, a CONNECT, bytes that are no request.

import type { Duplex } from "node:stream"

/** A client that is still sending has this long to read the answer, which is lost if the connection is closed with unread bytes. */
const readingMs = 500

/** Sends the last bytes and closes the connection, after `withinMs` in any case. Node alone would leave it open for as long as its client does. */
export function closeConnection(socket: Duplex, last?: string, withinMs = readingMs): void {
  const timer = setTimeout(() => socket.destroy(), withinMs).unref()
  socket.once("close", () => clearTimeout(timer))
  socket.resume()
  if (last === undefined) socket.end()
  else socket.end(last)
}
