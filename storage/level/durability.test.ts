// Guarantees that kill -9 cannot test: a write is flushed to disk before it is acknowledged, and concurrent writes share a flush.

import { fsync, openSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { put, remove } from "../testing/store-suite/shorthand.ts"
import type { Database } from "./database.ts"
import { openDatabase, type DatabaseOptions } from "./open-database.ts"
import { openLevelStore } from "./store.ts"

vi.mock("node:fs", { spy: true })

let directory = ""
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "polyplane-durability-"))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** A database that records whether batches are flushed, and completes none while it is held. */
function watchedDisk() {
  const flushes: (boolean | undefined)[] = []
  let held: PromiseWithResolvers<void> | undefined
  const open = async (options: DatabaseOptions): Promise<Database> => {
    const database = await openDatabase(options)
    const write = database.batch.bind(database) as (...args: unknown[]) => Promise<void>
    const batch = async (writes: unknown, options: { sync?: boolean }): Promise<void> => {
      flushes.push(options.sync)
      await held?.promise
      return write(writes, options)
    }
    return Object.assign(database, { batch })
  }
  return {
    open,
    flushes,
    hold: () => (held = Promise.withResolvers()),
    release: () => held?.resolve(),
  }
}

test("each write is acknowledged after its flush", async () => {
  const disk = watchedDisk()
  await using store = await openLevelStore({ directory, open: disk.open })
  disk.flushes.length = 0
  await put(store, "/a", "1")
  await put(store, "/a", "2")
  await remove(store, "/a")
  expect(disk.flushes).toEqual([true, true, true])

  disk.hold()
  let answered = false
  const written = put(store, "/a", "3").then((result) => {
    answered = true
    return result
  })
  await expect.poll(() => disk.flushes).toHaveLength(4)
  // Reads meanwhile return what is on disk.
  expect(await store.get("/a")).toBeUndefined()
  expect(store.revision).toBe(4)
  expect(answered).toBe(false)
  disk.release()
  expect(await written).toMatchObject({ succeeded: true, revision: 5 })
  expect((await store.get("/a"))?.modRevision).toBe(5)
})

test("writes that arrive during a write share the next flush", async () => {
  const disk = watchedDisk()
  await using store = await openLevelStore({ directory, open: disk.open })
  disk.flushes.length = 0
  disk.hold()
  const first = put(store, "/first", "1")
  await expect.poll(() => disk.flushes).toHaveLength(1)
  const others = Array.from({ length: 20 }, (_, index) => put(store, `/other/${index}`, "1"))
  disk.release()
  await Promise.all([first, ...others])
  expect(disk.flushes).toEqual([true, true])
  expect((await store.range("/other/")).items).toHaveLength(20)
})

test("the directory entries of a new store are flushed before its first write", async () => {
  const opened = vi.mocked(openSync).mockClear()
  const flushed = vi.mocked(fsync).mockClear()
  const inside = join(directory, "store")
  // No further flush if it exists already.
  for (let time = 0; time < 2; time++) {
    await using store = await openLevelStore({ directory: inside })
    expect(flushed).toHaveBeenCalledTimes(2)
    expect(store.revision).toBe(1)
  }
  expect(opened.mock.calls).toEqual([
    [directory, "r"],
    [inside, "r"],
  ])
  expect(flushed.mock.calls.map(([descriptor]) => descriptor)).toEqual(opened.mock.results.map(({ value }) => value))
})
