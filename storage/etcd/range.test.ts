// How a range is divided into requests. The results are compared with other stores in test/kubernetes/etcd/store.test.ts.

import { expect, test } from "vitest"
import { emptyBaseLayer } from "../base-layer.ts"
import { storeKeys } from "./keys.ts"
import { Layer } from "./layer.ts"
import { readRange } from "./range.ts"
import type { RangeRequest, RangeResponse, WireKeyValue } from "./wire.ts"

const keys = storeKeys("/p", "uid")

/** An etcd with values of these lengths. `asked`: the limits and revisions of the requests. */
function sourceWith(lengths: readonly number[]) {
  const all = lengths.map((length, index): WireKeyValue => {
    const key = keys.value(`/a/${String(index).padStart(4, "0")}`)
    return { key, value: Buffer.alloc(length), version: 1, create_revision: 5, mod_revision: 5 }
  })
  const asked: [limit: number, revision: number | undefined][] = []
  const read = ({ key, limit = 0 }: RangeRequest, revision?: number): Promise<RangeResponse> => {
    asked.push([limit, revision])
    const from = all.filter((kv) => Buffer.compare(kv.key, key) >= 0)
    const kvs = limit === 0 ? from : from.slice(0, limit)
    return Promise.resolve({ header: { revision: 9 }, kvs, more: kvs.length < from.length, count: from.length })
  }
  return { source: { keys, layer: new Layer(emptyBaseLayer), read }, asked }
}

test("large values are read in small pages of one revision, up to the limit of bytes", async () => {
  const { source, asked } = sourceWith(Array.from({ length: 500 }, () => 100_000))
  const { items, more, remaining, revision } = await readRange(source, "/a/", {
    limit: 500,
    limitBytes: 2_000_000,
    count: true,
  })
  expect(asked).toEqual([
    [16, undefined],
    [4, 9],
  ])
  expect({ count: items.length, more, remaining, revision }).toEqual({
    count: 20,
    more: true,
    remaining: 480,
    revision: 9,
  })
})

test("small values are read in pages that grow, up to the limit of values, and the range can be continued", async () => {
  const { source, asked } = sourceWith(Array.from({ length: 300 }, () => 100))
  const first = await readRange(source, "/a/", { limit: 200, limitBytes: 8_000_000 })
  expect(asked.map(([limit]) => limit)).toEqual([16, 128, 56])
  expect([first.items.length, first.more]).toEqual([200, true])
  const rest = await readRange(source, "/a/", { limit: 200, limitBytes: 8_000_000, after: first.items.at(-1)!.key })
  expect([rest.items.length, rest.more]).toEqual([100, false])
  expect(rest.items[0]?.key).toBe("/a/0200")
})

test.each([[[]], [[0, 0, 0]], [Array.from({ length: 17 }, () => 0)]])(
  "values without bytes end the range, too",
  async (lengths) => {
    const { items, more } = await readRange(sourceWith(lengths).source, "/a/", { limitBytes: 100 })
    expect([items.length, more]).toEqual([lengths.length, false])
  },
)
