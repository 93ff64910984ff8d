import { randomBytes } from "node:crypto"
import { gunzipSync } from "node:zlib"
import { expect, test } from "vitest"
import { deflate, GzipJoin } from "./gzip-join.ts"

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
