import { describe, expect, test } from "vitest"
import { chance, createRandom, pick, type Random, seeds } from "../../../../../apimachinery/testing/random.ts"
import { ClientFrames } from "./websocket-frames.ts"

/** As a client sends it: masked. */
function frame(flags: number, payload: Buffer, random: Random): Buffer {
  const { length } = payload
  const long = length > 0xffff
  const size = Buffer.alloc(length < 126 ? 1 : long ? 9 : 3)
  size[0] = 0x80 | (length < 126 ? length : long ? 127 : 126)
  if (long) size.writeBigUInt64BE(BigInt(length), 1)
  else if (length > 125) size.writeUInt16BE(length, 1)
  const mask = bytes(random, 4)
  const masked = payload.map((byte, at) => byte ^ (mask[at & 3] ?? 0))
  return Buffer.concat([Buffer.of(flags), size, mask, masked])
}

const bytes = (random: Random, length: number): Buffer => Buffer.from(Array.from({ length }, () => random(256)))

const [more, last] = [0, 0x80]
const [continuation, binary, close, ping, pong] = [0, 2, 8, 9, 10]

test.each(seeds(20))("messages, in any frames and pieces, are the bytes in them (seed %i)", (seed) => {
  const random = createRandom(seed)
  const sent: Buffer[] = []
  const expected: Buffer[] = []
  let lastPing: Buffer | undefined
  for (let message = 0; message < 20; message++) {
    const frames = 1 + random(4)
    for (let index = 0; index < frames; index++) {
      const payload = bytes(random, pick(random, [0, 1, 125, 126, 127, random(300), 65_535, 65_536]))
      expected.push(payload)
      sent.push(frame((index === frames - 1 ? last : more) | (index === 0 ? binary : continuation), payload, random))
      if (!chance(random, 0.3)) continue
      const control = bytes(random, random(126))
      const isPing = chance(random, 0.5)
      if (isPing) lastPing = control
      sent.push(frame(last | (isPing ? ping : pong), control, random))
    }
  }
  const [all, frames, read]: [Buffer, ClientFrames, Buffer[]] = [Buffer.concat(sent), new ClientFrames(), []]
  for (let at = 0; at < all.length;) {
    const end = at + 1 + random(pick(random, [3, 200, 100_000]))
    read.push(Buffer.from(frames.read(all.subarray(at, end))))
    at = end
  }
  expect(Buffer.concat(read).equals(Buffer.concat(expected))).toBe(true)
  expect([frames.closeCode, frames.ping]).toEqual([undefined, lastPing])
})

describe("the connection is closed", () => {
  const random = createRandom(1)
  const text = Buffer.from("text")
  const code = (number: number): Buffer => Buffer.of(number >> 8, number & 0xff)
  const unmasked = Buffer.from([last | binary, 1, 0])
  const tooLong = Buffer.from([last | binary, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])
  test.each([
    ["if the client does so", 1000, frame(last | close, code(1000), random)],
    ["if it does so and says why", 1001, frame(last | close, Buffer.concat([code(1001), text]), random)],
    ["if it does so with a code of its own", 4999, frame(last | close, code(4999), random)],
    ["if it does so and says nothing", 1005, frame(last | close, Buffer.alloc(0), random)],
    ["if it does so with half a code", 1005, frame(last | close, Buffer.of(3), random)],
    ["if it does so with a code that is not sent", 1002, frame(last | close, code(1005), random)],
    ["if it does so with an unknown code", 1002, frame(last | close, code(2999), random)],
    ["if it does so with bytes that are no text", 1002, frame(last | close, Buffer.of(3, 232, 255), random)],
    ["with bytes that are not masked", 1002, unmasked],
    ["with reserved bits", 1002, frame(last | 0x40 | binary, text, random)],
    ["with an unknown frame", 1002, frame(last | 3, text, random).fill(last | 11, 0, 1)],
    ["with a ping in pieces", 1002, frame(more | ping, text, random)],
    ["with a long ping", 1002, frame(last | ping, Buffer.alloc(126), random)],
    ["with a continuation of nothing", 1002, frame(last | continuation, text, random)],
    ["with a message within another", 1002, Buffer.concat([1, 2].map(() => frame(more | binary, text, random)))],
    ["with text", 1003, frame(last | 1, text, random)],
    ["with a frame that is too long for a number", 1009, tooLong],
  ])("%s, and what came before is read", (_what, closeCode, sent) => {
    const frames = new ClientFrames()
    const before = frame(last | binary, text, random)
    const after = frame(last | binary, text, random)
    const read = frames.read(Buffer.concat([before, sent, after])).toString()
    expect([read.slice(0, 4), frames.closeCode]).toEqual(["text", closeCode])
    expect(frames.read(Buffer.from(after)).length).toBe(0)
  })
})

test("a frame without a mask is a fault as soon as that is known", () => {
  const frames = new ClientFrames()
  frames.read(Buffer.of(last | close, 0))
  expect(frames.closeCode).toBe(1002)
})
