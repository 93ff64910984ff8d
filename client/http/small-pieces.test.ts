import { Readable, Writable } from "node:stream"
import { buffer } from "node:stream/consumers"
import { setImmediate } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { chance, createRandom, pick, seeds } from "../../apimachinery/testing/random.ts"
import { smallPieces } from "../testing/small-pieces.ts"
import { gatherSmallPieces, gatherSmallWrites, pushOrGather } from "./small-pieces.ts"

function gathering(isAtOnce = true): Readable {
  const stream = new Readable({ read: () => undefined })
  if (isAtOnce) gatherSmallPieces(stream)
  else Object.assign(stream, { push: pushOrGather })
  return stream
}

test("of small pieces that nobody takes only the bytes are held, as many as without", async () => {
  const pieces = smallPieces()
  const stream = gathering()
  let pushed = 1
  while (stream.push(pieces.next())) pushed++
  expect(pushed).toBe(stream.readableHighWaterMark)
  await expect.poll(() => pieces.held()).toBeLessThan(10)
  stream.push(null)
  expect((await buffer(stream)).length).toBe(pushed)
})

const ways: Record<string, (stream: Readable, take: (piece: Buffer) => void) => void> = {
  data: (stream, take) => void stream.on("data", take),
  readable: (stream, take) =>
    void stream.on("readable", () => {
      for (let piece = stream.read() as Buffer | null; piece !== null; piece = stream.read() as Buffer | null)
        take(piece)
    }),
  iterator: (stream, take) =>
    void (async () => {
      for await (const piece of stream as AsyncIterable<Buffer>) {
        take(piece)
        await setImmediate()
      }
    })(),
}

test.each(Object.keys(ways).flatMap((way) => seeds(10).map((seed) => [way, seed] as const)))(
  "all bytes come in their order, whenever they are taken, by %s (seed %i)",
  async (way, seed) => {
    const random = createRandom(seed)
    const stream = gathering(chance(random, 0.5))
    const [sent, taken]: [Buffer[], Buffer[]] = [[], []]
    const begins = random(60)
    for (let index = 0; index < 100; index++) {
      if (index === begins) ways[way]?.(stream, (piece) => taken.push(Buffer.from(piece)))
      const piece = Buffer.alloc(1 + random(pick(random, [3, 900, 3000])), index)
      sent.push(piece)
      stream.push(piece)
      if (way === "data" && index > begins && chance(random, 0.3)) {
        if (stream.isPaused()) stream.resume()
        else stream.pause()
      }
      if (chance(random, 0.3)) await setImmediate()
    }
    stream.push(null)
    stream.resume()
    await expect.poll(() => stream.readableEnded).toBe(true)
    expect(Buffer.concat(taken).equals(Buffer.concat(sent))).toBe(true)
  },
)

test("of a stream that is destroyed, all that has come before is still read", () => {
  const stream = gathering()
  for (const text of ["a", "b", "c"]) stream.push(Buffer.from(text))
  stream.destroy()
  const taken: string[] = []
  for (let piece = stream.read() as Buffer | null; piece !== null; piece = stream.read() as Buffer | null)
    taken.push(String(piece))
  expect(taken.join("")).toBe("abc")
})

test("what is taken as it comes passes at once", async () => {
  const stream = gathering()
  const taken: string[] = []
  stream.on("data", (piece: Buffer) => taken.push(String(piece)))
  await setImmediate()
  for (const text of ["a", "b", "c"]) {
    stream.push(Buffer.from(text))
    expect(taken.at(-1)).toBe(text)
  }
})

describe("what is written", () => {
  /** Takes a piece when `take` is called. */
  function writable(): { stream: Writable; arrived: Buffer[]; take: () => void } {
    const [arrived, waiting]: [Buffer[], (() => void)[]] = [[], []]
    const stream = new Writable({
      write(piece: Buffer, _encoding, done) {
        arrived.push(Buffer.from(piece))
        waiting.push(done)
      },
    })
    gatherSmallWrites(stream)
    return { stream, arrived, take: () => waiting.shift()?.() }
  }

  test("in small pieces that are not taken holds only their bytes, about as many as without", async () => {
    const pieces = smallPieces()
    const { stream, arrived, take } = writable()
    let written = 1
    while (written < 4 * stream.writableHighWaterMark && stream.write(pieces.next())) written++
    expect(Math.abs(written - stream.writableHighWaterMark)).toBeLessThanOrEqual(16 * 1024)
    await expect.poll(() => pieces.held()).toBeLessThan(10)
    stream.end()
    while (!stream.writableFinished) {
      take()
      await setImmediate()
    }
    expect(Buffer.concat(arrived).length).toBe(written)
  })

  test("in small pieces leaves when what is before it has been taken, without an end", async () => {
    const { stream, arrived, take } = writable()
    for (const piece of ["a", "b", "c"]) stream.write(Buffer.from(piece))
    expect(Buffer.concat(arrived).toString()).toBe("a")
    take()
    await expect.poll(() => Buffer.concat(arrived).toString()).toBe("abc")
  })

  test.each(seeds(20))(
    "arrives in its order, also what is written last, in text, or with a callback (seed %i)",
    async (seed) => {
      const random = createRandom(seed)
      const { stream, arrived, take } = writable()
      const sent: Buffer[] = []
      let [asked, called] = [0, 0]
      for (let index = 0; index < 200; index++) {
        const piece = Buffer.alloc(1 + random(pick(random, [3, 900, 30_000])), 65 + (index % 26))
        sent.push(piece)
        const way = random(10)
        if (way === 0) stream.write(String(piece))
        else if (way === 1 && ++asked > 0) stream.write(piece, () => called++)
        else stream.write(piece)
        if (chance(random, 0.3)) take()
        if (chance(random, 0.3)) await setImmediate()
      }
      sent.push(Buffer.from("the end"))
      stream.end("the end")
      while (!stream.writableFinished) {
        take()
        await setImmediate()
      }
      expect(Buffer.concat(arrived).equals(Buffer.concat(sent))).toBe(true)
      expect(called).toBe(asked)
    },
  )
})
