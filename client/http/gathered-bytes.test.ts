import { expect, test } from "vitest"
import { createRandom, pick, seeds } from "../../apimachinery/testing/random.ts"
import { collectGarbage } from "../../apimachinery/testing/garbage.ts"
import { smallPieces } from "../testing/small-pieces.ts"
import { GatheredBytes } from "./gathered-bytes.ts"

test.each(seeds(20))("pieces of any sizes are there in their order (seed %i)", (seed) => {
  const random = createRandom(seed)
  const gathered = new GatheredBytes()
  const pieces: Buffer[] = []
  for (let index = random(500); index > 0; index--) {
    const length = random(pick(random, [2, 100, 1100, 40_000]))
    const piece = Buffer.alloc(length * pick(random, [1, 3]), random(256)).subarray(0, length)
    pieces.push(piece)
    gathered.add(piece)
  }
  expect(gathered.length).toBe(Buffer.concat(pieces).length)
  expect(gathered.all().equals(Buffer.concat(pieces))).toBe(true)
})

test("small pieces between others hold not much more than their bytes", async () => {
  const memory = (): number => {
    collectGarbage()
    return process.memoryUsage().arrayBuffers
  }
  const before = memory()
  const gathered = new GatheredBytes()
  const length = 4 * 1024 * 1024
  while (gathered.length < length) for (const bytes of [1, 1, 1024]) gathered.add(Buffer.allocUnsafeSlow(bytes))
  // It was twenty times as much.
  await expect.poll(() => memory() - before).toBeLessThan(4 * length)
  expect(gathered.all().length).toBe(gathered.length)
})

test("one piece is not copied", () => {
  const gathered = new GatheredBytes()
  const piece = Buffer.from("all")
  gathered.add(piece)
  expect(gathered.all()).toBe(piece)
})

test.each([
  ["of one byte", 1, 1],
  ["that are parts of much more", 1024, 16 * 1024],
])("of pieces %s only the bytes are held", async (_what, bytes, memoryBytes) => {
  const pieces = smallPieces(bytes, memoryBytes)
  const gathered = new GatheredBytes()
  for (let index = 0; index < 1000; index++) gathered.add(pieces.next())
  await expect.poll(() => pieces.held()).toBeLessThan(10)
  const expected = Array.from({ length: 1000 }, (_, index) => Buffer.alloc(bytes, index))
  expect(gathered.all().equals(Buffer.concat(expected))).toBe(true)
})
