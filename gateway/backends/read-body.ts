// Reads the whole response of an untrusted server, which may be endless.

import type { Readable } from "node:stream"
import { GatheredBytes } from "../../client/http/gathered-bytes.ts"

/** Beyond `maxBytes` it closes the connection and rejects with the error that `tooLong` creates. */
export async function readBody(
  response: Readable,
  maxBytes: number,
  tooLong = () => new Error(`the answer is longer than ${maxBytes} bytes`),
): Promise<Buffer> {
  const body = new GatheredBytes()
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (body.length + chunk.length > maxBytes) {
      response.destroy()
      throw tooLong()
    }
    body.add(chunk)
  }
  return body.all()
}
