// The errors when a store is opened, and after failed writes.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { defaultLimits, type StoreLimits } from "../limits.ts"
import { put } from "../testing/store-suite/shorthand.ts"
import { StorageError, type Store } from "../types.ts"
import { checkDirectory } from "./check.ts"
import type { Database } from "./database.ts"
import { openDatabase } from "./open-database.ts"
import { logKey, metaCompacted, metaFormat } from "./keys.ts"
import { openLevelStore } from "./store.ts"

let directory = ""
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "polyplane-open-"))
})
afterEach(async () => {
  await rm(directory, { recursive: true, force: true })
})

async function withDatabase(use: (database: Database) => Promise<void>): Promise<void> {
  const database = await openDatabase({ directory, limits: defaultLimits })
  await use(database)
  await database.close()
}

describe("openLevelStore()", () => {
  test("restores written data, history and revision", async () => {
    {
      await using store = await openLevelStore({ directory })
      await put(store, "/a", "1")
      await put(store, "/a", "2")
    }
    await using store = await openLevelStore({ directory })
    expect(store.revision).toBe(3)
    expect(Buffer.from((await store.get("/a", 2))?.value ?? []).toString()).toBe("1")
    expect((await put(store, "/b", "1")).revision).toBe(4)
  })

  test("keeps revision and compaction when the whole history has expired", async () => {
    {
      await using store = await openLevelStore({ directory })
      for (let i = 0; i < 5; i++) await put(store, "/a", String(i))
      await store.compact(store.revision)
    }
    await using store = await openLevelStore({ directory })
    expect([store.revision, store.compactedRevision]).toEqual([6, 5])
  })

  test("fails with InUse while another process has it open", async () => {
    await using _store = await openLevelStore({ directory })
    await expect(openLevelStore({ directory })).rejects.toMatchObject({
      code: "InUse",
      message: expect.stringContaining(directory),
    })
  })

  test("fails with Format on a store of a newer version, with advice", async () => {
    await withDatabase((database) => database.put(metaFormat, Buffer.from("2")))
    await expect(openLevelStore({ directory })).rejects.toMatchObject({
      code: "Format",
      message: expect.stringContaining("upgrade"),
    })
    // It was closed again.
    await expect(openLevelStore({ directory })).rejects.toMatchObject({ code: "Format" })
  })

  test("fails with Corrupt on a LevelDB that is not a store", async () => {
    await withDatabase((database) => database.put("something", Buffer.from("else")))
    await expect(openLevelStore({ directory })).rejects.toMatchObject({ code: "Corrupt" })
  })

  // LevelDB flushes neither the first manifest of a new database nor, before it is open, the name CURRENT.
  test.each([
    ["the first manifest is empty", { CURRENT: "MANIFEST-000001\n", "MANIFEST-000001": "" }],
    ["there is no CURRENT yet", { "MANIFEST-000001": "half", LOCK: "" }],
  ])("recreates a store whose creation was interrupted by a power loss: %s", async (_, files) => {
    for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content)
    expect(await checkDirectory(directory)).toEqual([])
    await using store = await openLevelStore({ directory })
    expect((await put(store, "/a", "1")).revision).toBe(2)
  })

  test.each([
    ["a later manifest is damaged", (name: string) => writeFile(join(directory, name), "")],
    ["no manifest is named", () => rm(join(directory, "CURRENT"))],
  ])("does not change a store that was in use: %s", async (_, damage) => {
    {
      await using store = await openLevelStore({ directory })
      await put(store, "/a", "1")
    }
    const current = (await readFile(join(directory, "CURRENT"), "utf8")).trim()
    const manifest = await readFile(join(directory, current))
    await damage(current)
    await expect(checkDirectory(directory)).rejects.toMatchObject({
      code: expect.stringMatching(/Corrupt|Unavailable/),
    })
    await writeFile(join(directory, current), manifest)
    await writeFile(join(directory, "CURRENT"), `${current}\n`)
    await using store = await openLevelStore({ directory })
    expect(store.revision).toBe(2)
  })

  test("fails with Unavailable if the directory cannot be created", async () => {
    await writeFile(join(directory, "file"), "")
    await expect(openLevelStore({ directory: join(directory, "file", "store") })).rejects.toMatchObject({
      code: "Unavailable",
    })
  })

  test("continues an interrupted compaction", async () => {
    {
      await using store = await openLevelStore({ directory })
      for (let i = 0; i < 20; i++) await put(store, "/a", String(i))
    }
    await withDatabase((database) => database.put(metaCompacted, Buffer.from("10")))
    {
      await using store = await openLevelStore({ directory, limits: { compactionStep: 3 } })
      expect(store.compactedRevision).toBe(10)
      await store.compact(10)
      // Compactions are sequential, so this one follows the resumed one.
      await store.compact(11)
    }
    expect(await checkDirectory(directory)).toEqual([])
    await withDatabase(async (database) => {
      const first = await database
        .keys<Buffer>({ gte: logKey(0), lt: logKey(100), limit: 1, keyEncoding: "buffer" })
        .all()
      expect(first).toEqual([logKey(13)])
    })
  })
})

describe("the age of history", () => {
  test("limits history, but never removes current values", async () => {
    let time = 1000
    const limits = { historyMilliseconds: 800, historyRevisions: 0 }
    await using store = await openLevelStore({ directory, limits, now: () => time })
    await put(store, "/a", "1")
    await put(store, "/a", "2")
    time += 400
    await put(store, "/a", "3") // 4
    time += 500
    await put(store, "/a", "4") // 5: revision 1, the head when opened, is now too old
    expect(store.compactedRevision).toBe(0)
    time += 500
    await put(store, "/a", "5") // 6
    await expect.poll(() => store.compactedRevision).toBe(3)
    expect((await store.get("/a", 4))?.modRevision).toBe(4)
  })

  test("is checked by reads of history even if nothing is written", async () => {
    let time = 1000
    const limits = { historyMilliseconds: 800, historyRevisions: 0 }
    await using store = await openLevelStore({ directory, limits, now: () => time })
    await put(store, "/a", "1") // 2
    time += 200
    await put(store, "/a", "2") // 3
    time += 1000
    expect((await store.range("/", { revision: 2 })).items).toHaveLength(1)
    await expect.poll(() => store.compactedRevision).toBe(2)
    await expect(store.range("/", { revision: 2 })).rejects.toMatchObject({ code: "Compacted" })
    expect((await store.get("/a", 3))?.modRevision).toBe(3)
  })
})

describe("a failing disk", () => {
  /** Opens stores whose next batch fails on demand. */
  function failingDisk() {
    const disk = { failing: 0, opened: 0, refuseOpen: false }
    const open = async (options: { directory: string; limits: StoreLimits }): Promise<Database> => {
      if (disk.refuseOpen) throw new StorageError("Unavailable", "no space left")
      disk.opened++
      const database = await openDatabase(options)
      const batch = database.batch.bind(database) as (...args: unknown[]) => Promise<void>
      const failing = async (...args: unknown[]): Promise<void> => {
        if (disk.failing-- > 0) throw Object.assign(new Error("IO error: no space left"), { code: "LEVEL_IO_ERROR" })
        return batch(...args)
      }
      return Object.assign(database, { batch: failing })
    }
    return { disk, open }
  }

  const refused = { code: "Unavailable" }

  async function written(store: Store): Promise<string[]> {
    return (await store.range("/")).items.map((item) => item.key)
  }

  test("fails the whole group, keeps earlier data, and recovers with the disk", async () => {
    const { disk, open } = failingDisk()
    await using store = await openLevelStore({ directory, open, limits: { reopenMilliseconds: 0 } })
    await put(store, "/a", "1")
    const watch = store.watch("/", { after: 1 })[Symbol.asyncIterator]()
    await watch.next()
    const waiting = expect(watch.next()).rejects.toMatchObject(refused)
    disk.failing = 1
    const results = await Promise.allSettled(["/b", "/c", "/d"].map((key) => put(store, key, "1")))
    expect(results.map((result) => result.status)).toEqual(["rejected", "rejected", "rejected"])
    await waiting
    expect(await written(store)).toEqual(["/a"])
    expect(await put(store, "/b", "1")).toEqual({ succeeded: true, revision: 3 })
    expect(disk.opened).toBe(2)
    expect(await written(store)).toEqual(["/a", "/b"])
  })

  test("serves what is in memory while the database cannot be opened", async () => {
    const { disk, open } = failingDisk()
    await using store = await openLevelStore({ directory, open, limits: { reopenMilliseconds: 0 } })
    await put(store, "/a", "1")
    await put(store, "/a", "2")
    disk.failing = 1
    disk.refuseOpen = true
    await expect(put(store, "/b", "1")).rejects.toMatchObject(refused)
    await expect(put(store, "/b", "1")).rejects.toMatchObject(refused)
    expect((await store.get("/a"))?.modRevision).toBe(3)
    expect(await written(store)).toEqual(["/a"])
    expect([store.revision, await store.latest()]).toEqual([3, 3])
    await expect(store.get("/a", 2)).rejects.toMatchObject(refused)
    await expect(store.watch("/", { after: 3 })[Symbol.asyncIterator]().next()).rejects.toMatchObject(refused)
    disk.refuseOpen = false
    expect((await put(store, "/b", "1")).revision).toBe(4)
    expect((await store.get("/a", 2))?.modRevision).toBe(2)
  })

  test("makes a large store Unavailable, and does not reopen the database at every call", async () => {
    const { disk, open } = failingDisk()
    let time = 0
    const limits = { reopenMilliseconds: 100, residentBytes: 0 }
    await using store = await openLevelStore({ directory, open, now: () => time, limits })
    await put(store, "/a", "1")
    disk.failing = 1
    disk.refuseOpen = true
    time = 1000
    await expect(put(store, "/b", "1")).rejects.toMatchObject(refused)
    await expect(put(store, "/b", "1")).rejects.toThrow()
    await expect(store.get("/a")).rejects.toThrow()
    disk.refuseOpen = false
    await expect(store.get("/a")).rejects.toThrow()
    time = 2000
    expect((await store.get("/a"))?.modRevision).toBe(2)
    expect((await put(store, "/b", "1")).revision).toBe(3)
    expect(disk.opened).toBe(2)
  })
})
