// A response with an endless sequence of lines. A reader that is too slow is disconnected and starts again; periodic lines show
// both sides that the other is alive.

import type { ServerResponse } from "node:http"

const pingMs = 15_000
const newline = Buffer.from("\n")

export class LineStream {
  readonly #response: ServerResponse
  readonly #maxBacklogBytes: number

  constructor(response: ServerResponse, maxBacklogBytes: number) {
    this.#response = response
    this.#maxBacklogBytes = maxBacklogBytes
    response.setHeader("Content-Type", "application/x-ndjson")
    response.statusCode = 200
    response.flushHeaders()
    const ping = setInterval(() => this.write(`{"type":"PING"}`), pingMs)
    response.once("close", () => clearInterval(ping))
  }

  /** Writes one line. */
  write(...parts: (string | Uint8Array)[]): void {
    const response = this.#response
    if (response.destroyed || response.writableEnded) return
    response.cork()
    for (const part of parts) response.write(part)
    response.write(newline)
    response.uncork()
    if (response.writableLength > this.#maxBacklogBytes) response.destroy()
  }
}
