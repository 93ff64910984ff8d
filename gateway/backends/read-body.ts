// The whole answer of somebody else's program, who may send without end.

import type { IncomingMessage } from "node:http"

/** Beyond `maxBytes` the connection is closed, and it fails with what `tooLong` makes. */
export async function readBody(
  response: IncomingMessage,
  maxBytes: number,
  tooLong = () => new Error(`the answer is longer than ${maxBytes} bytes`),
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) {
      response.destroy()
      throw tooLong()
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
