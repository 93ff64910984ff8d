import type { IncomingMessage } from "node:http"
import type { ServerHttp2Stream } from "node:http2"
import { Duplex } from "node:stream"
import { buffer } from "node:stream/consumers"
import { expect, test } from "vitest"
import { smallPieces } from "../../client/testing/small-pieces.ts"
import { StreamRequest } from "./stream-request.ts"

test("of a body in small frames that waits only the bytes are held", async () => {
  const frames = smallPieces()
  const stream = new Duplex({ read: () => undefined }) as ServerHttp2Stream
  const request = new StreamRequest(stream, {}, undefined, []) as unknown as IncomingMessage
  for (let index = 0; index < 1000; index++) request.push(frames.next())
  await expect.poll(() => frames.held()).toBeLessThan(10)
  request.push(null)
  expect(await buffer(request)).toEqual(Buffer.from(Array.from({ length: 1000 }, (_, index) => index & 255)))
})
