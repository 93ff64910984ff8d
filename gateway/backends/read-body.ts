// Reads the whole response of an untrusted server, which may be endless.

import type { Readable } from "node:stream"

/** Beyond `maxBytes` it closes the connection and rejects with the error that `tooLong` creates. */
export async function readBody(
  response: Readable,
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
