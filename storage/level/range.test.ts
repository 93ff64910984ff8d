import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { put } from "../testing/store-suite.ts"
import { openLevelStore } from "./store.ts"

test("a range ends when its values have a length, and can be continued", async () => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), "polyplane-range-"))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const store = await openLevelStore({ directory })
  stack.use(store)
  const keys = Array.from({ length: 20 }, (_, index) => `/a/${String(index).padStart(2, "0")}`)
  for (const key of keys) await put(store, key, "x".repeat(100_000))
  const seen: string[] = []
  for (let after: string | undefined; seen.length < keys.length; after = seen.at(-1)) {
    const { items, more } = await store.range("/a/", {
      limit: 15,
      limitBytes: 450_000,
      ...(after === undefined ? {} : { after }),
    })
    expect(items).toHaveLength(5)
    seen.push(...items.map(({ key }) => key))
    expect(more).toBe(seen.length < keys.length)
  }
  expect(seen).toEqual(keys)
  expect((await store.range("/a/", { limit: 1, limitBytes: 1, count: true })).remaining).toBe(19)
})
