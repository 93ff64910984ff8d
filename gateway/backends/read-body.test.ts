import { PassThrough } from "node:stream"
import { expect, test } from "vitest"
import { smallPieces } from "../../client/testing/small-pieces.ts"
import { readBody } from "./read-body.ts"

test("of an answer in chunks of one byte only the bytes are held", async () => {
  const chunks = smallPieces()
  const answer = new PassThrough()
  const reading = readBody(answer, 10_000)
  for (let index = 0; index < 1000; index++) await new Promise((resolve) => answer.write(chunks.next(), resolve))
  await expect.poll(() => chunks.held()).toBeLessThan(10)
  answer.end()
  expect((await reading).length).toBe(1000)
})

test("a longer one than allowed is refused, and its server heard no further", async () => {
  const answer = new PassThrough()
  const reading = readBody(answer, 10)
  answer.write(Buffer.alloc(11))
  await expect(reading).rejects.toThrow("the answer is longer than 10 bytes")
  expect(answer.destroyed).toBe(true)
})
