import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { code, put } from "../testing/store-suite/shorthand.ts"
import type { Store } from "../types.ts"
import type { Database } from "./database.ts"
import { type DatabaseOptions, openDatabase } from "./open-database.ts"
import { openLevelStore } from "./store.ts"

test("keys that have been counted on disk are counted on with the writes", async () => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), "polyplane-range-"))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const store: Store = stack.use(await openLevelStore({ directory, limits: { residentBytes: 0 } }))
  const count = async (prefix: string) => (await store.range(prefix, { limit: 1, count: true })).remaining
  for (let index = 0; index < 5; index++) await put(store, `/a/${index}`, "1")
  expect(await count("/a/")).toBe(4)
  await put(store, "/a/5", "1")
  await put(store, "/a/5", "2")
  await put(store, "/b/1", "1")
  expect(await count("/a/")).toBe(5)
  const deletions = ["/a/0", "/a/3", "/a/absent"].map((key) => ({ type: "delete", key }) as const)
  await store.txn({ compare: [], operations: deletions })
  expect(await count("/a/")).toBe(3)
  // More prefixes than are remembered, and back.
  for (let index = 0; index < 100; index++) expect(await count(`/a/${index}`)).toBe(0)
  for (const prefix of ["/", "/a/"]) expect(await count(prefix)).toBe(prefix === "/" ? 4 : 3)
  const counts = Array.from({ length: 20 }, async (_, index) => {
    await put(store, `/a/more${index}`, "1")
    return count("/a/")
  })
  const seen = await Promise.all(counts)
  expect(Math.max(...seen.map(Number))).toBe(23)
  expect(await count("/a/")).toBe(23)
})

test("keys are counted again after a failed write that is on disk", async () => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), "polyplane-range-"))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  let isFailing = false
  const open = async (options: DatabaseOptions): Promise<Database> => {
    const database = await openDatabase(options)
    const write = database.batch.bind(database) as (...args: unknown[]) => Promise<void>
    const batch = async (...args: unknown[]): Promise<void> => {
      await write(...args)
      if (isFailing) throw Object.assign(new Error("IO error"), { code: "LEVEL_IO_ERROR" })
    }
    return Object.assign(database, { batch })
  }
  const limits = { residentBytes: 0, reopenMilliseconds: 0 }
  const store: Store = stack.use(await openLevelStore({ directory, open, limits }))
  await put(store, "/a/1", "1")
  const count = async () => (await store.range("/a/", { limit: 0, count: true })).remaining
  expect(await count()).toBe(1)
  isFailing = true
  await expect(put(store, "/a/2", "1")).rejects.toEqual(code("Unavailable"))
  isFailing = false
  await store.latest()
  expect(await count()).toBe(2)
})

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
