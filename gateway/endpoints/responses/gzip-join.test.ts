import { randomBytes } from "node:crypto"
import { gunzipSync } from "node:zlib"
import { expect, test } from "vitest"
import { deflate, deflateMade, GzipJoin } from "./gzip-join.ts"

test.each([
  ["no bytes", []],
  ["one part", [100]],
  ["parts of all sizes", [1, 0, 70_000, 300_000, 2, 65_535, 65_536]],
])("%s, in compressed and stored parts, become one gzip file", async (_what, sizes) => {
  const join = new GzipJoin()
  const sent = [join.begin()]
  const expected: Buffer[] = []
  for (const size of sizes) {
    const part = Buffer.concat([randomBytes(size), Buffer.alloc(size, "text ")])
    expected.push(part, part)
    sent.push(join.deflated(await deflate(part)), join.stored(part))
  }
  sent.push(join.end())
  // Also verifies the checksums.
  expect(gunzipSync(Buffer.concat(sent)).equals(Buffer.concat(expected))).toBe(true)
})

test("what is compressed at the same time does not share memory, also beside failures", async () => {
  const sizes = Array.from({ length: 60 }, (_, index) => 1000 + 17_000 * (index % 9))
  const compressing = sizes.map((size, index) =>
    deflateMade((allocate) => {
      const bytes = allocate(size)
      if (index % 7 === 6) throw new Error("not made")
      return bytes.fill(index)
    }),
  )
  const results = await Promise.allSettled(compressing)
  for (const [index, result] of results.entries()) {
    expect(result.status).toBe(index % 7 === 6 ? "rejected" : "fulfilled")
    if (result.status === "rejected") continue
    const join = new GzipJoin()
    const whole = gunzipSync(Buffer.concat([join.begin(), join.deflated(result.value), join.end()]))
    expect(whole.equals(Buffer.alloc(sizes[index] ?? 0, index))).toBe(true)
  }
})
