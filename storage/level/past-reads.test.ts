// Reads of the past while a write is under way: if all current values are in memory, they wait for it, and a compaction may end first.

import { mkdtemp, rm } from "node:fs/promises"
import { setImmediate as turn } from "node:timers/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { code, put, take } from "../testing/store-suite/shorthand.ts"
import type { Store } from "../types.ts"
import type { Database } from "./database.ts"
import { type DatabaseOptions, openDatabase } from "./open-database.ts"
import { openLevelStore } from "./store.ts"

let directory = ""
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "polyplane-past-"))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** A database whose next write is on disk before the store hears of it. */
function lateDisk() {
  let held: PromiseWithResolvers<void> | undefined
  const written = Promise.withResolvers<void>()
  const open = async (options: DatabaseOptions): Promise<Database> => {
    const database = await openDatabase(options)
    const write = database.batch.bind(database) as (...args: unknown[]) => Promise<void>
    const batch = async (...args: unknown[]): Promise<void> => {
      const late = held
      held = undefined
      await write(...args)
      if (late === undefined) return
      written.resolve()
      await late.promise
    }
    return Object.assign(database, { batch })
  }
  return { open, hold: () => (held = Promise.withResolvers()), written: written.promise }
}

test.each([
  ["a value", (store: Store) => store.get("/a", 2)],
  ["a range", (store: Store) => store.range("/", { revision: 2 })],
  ["changes", (store: Store) => take(store.watch("/", { after: 2 }), 3)],
] as const)("%s of a revision that is compacted meanwhile is Compacted", async (_, read) => {
  const disk = lateDisk()
  await using store = await openLevelStore({ directory, open: disk.open, limits: { recentEventBytes: 0 } })
  for (const value of ["1", "2", "3", "4"]) await put(store, "/a", value)
  const late = disk.hold()
  const compacting = store.compact(4)
  await disk.written
  // It waits for that of the compaction.
  const writing = put(store, "/a", "5")
  for (let left = 10; left > 0; left--) await turn()
  const outcome = expect(read(store)).rejects.toEqual(code("Compacted"))
  late.resolve()
  await Promise.all([compacting, writing, outcome])
})
