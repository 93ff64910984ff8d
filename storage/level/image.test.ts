// The state of a store from its image alone, and the conditions under which the image is invalid.

import { cp, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import { describe, expect, test } from "vitest"
import type { StoreQuota } from "../quota.ts"
import { put } from "../testing/store-suite/shorthand.ts"
import { checkDirectory } from "./check.ts"
import { ResidentBudget } from "./resident.ts"
import { openLevelStore } from "./store.ts"
import {
  base,
  contents,
  copyOf,
  directory,
  expected,
  levelDB,
  open,
  root,
  useImages,
  written,
} from "../testing/images.ts"

useImages()

const quota: StoreQuota = { prefix: "/", maxObjects: 5, maxBytes: 1e6, reserveBytes: 0 }

describe("a store with an image", () => {
  test("reads current values without LevelDB, and opens it for the first write", async () => {
    await written()
    expect(levelDB.opened).toBe(1)
    await using store = await open()
    expect(await contents(store)).toEqual(expected)
    expect(await store.get("/a")).toMatchObject({ createRevision: 2, modRevision: 3 })
    expect(await store.get("/base/gone")).toBeUndefined()
    expect([store.revision, await store.latest(), store.compactedRevision]).toEqual([6, 6, 0])
    expect(levelDB.opened).toBe(1)
    expect(await put(store, "/c", "1")).toEqual({ succeeded: true, revision: 7 })
    expect(levelDB.opened).toBe(2)
    expect(await contents(store)).toEqual({ ...expected, "/c": "1" })
  })

  test("opens LevelDB for history", async () => {
    await written()
    await using store = await open()
    expect(Buffer.from((await store.get("/a", 2))?.value ?? []).toString()).toBe("1")
    expect(levelDB.opened).toBe(2)
    const seen: number[] = []
    for await (const events of store.watch("/", { after: 2 })) {
      seen.push(...events.map(({ current }) => current.modRevision))
      if (seen.at(-1) === 6) break
    }
    expect(seen).toEqual([3, 4, 5, 6])
  })

  test("delivers later writes to watches that start at its revision", async () => {
    await written()
    await using store = await open()
    const watch = store.watch("/", { after: store.revision })[Symbol.asyncIterator]()
    const told = watch.next()
    await put(store, "/c", "1")
    expect((await told).value).toMatchObject([{ type: "put", current: { key: "/c", modRevision: 7 } }])
  })

  test("keeps its image if nothing was written, else creates a new one", async () => {
    await written()
    for (let round = 0; round < 2; round++) await (await open())[Symbol.asyncDispose]()
    expect(levelDB.opened).toBe(1)
    {
      await using store = await open()
      await put(store, "/c", "1")
      await put(store, "/base/gone", "back")
    }
    await using store = await open()
    expect(await contents(store)).toEqual({ ...expected, "/base/gone": "back", "/c": "1" })
    expect(levelDB.opened).toBe(2)
    expect(await checkDirectory(await copyOf(directory), { base, quotaPrefix: "/" })).toEqual([])
  })

  test("knows the remaining quota", async () => {
    await written({ quota })
    await using store = await open({ quota })
    const keys = ["/1", "/2", "/3", "/4", "/5"]
    const results = await Promise.allSettled(keys.map((key) => put(store, key, "1")))
    expect(levelDB.opened).toBe(2)
    expect(results.map(({ status }) => status)).toEqual([...Array(4).fill("fulfilled"), "rejected"])
  })

  test("is opened from LevelDB if it was written without the quota", async () => {
    await written()
    await using store = await open({ quota })
    expect(levelDB.opened).toBe(2)
    expect(await contents(store)).toEqual(expected)
  })

  test("has no values in its image if it is too large for memory", async () => {
    await written({ limits: { residentBytes: 10 } })
    await using _store = await open()
    expect(levelDB.opened).toBe(2)
  })

  test("has no values in its image if it was in memory only because of spare room", async () => {
    const limits = { residentBytes: 10 }
    {
      const residents = new ResidentBudget(4 * 1024 * 1024)
      await using store = await open({ limits, residents })
      await put(store, "/a", "1")
      await store.range("/")
      await expect.poll(async () => (await store.range("/", { limit: 1, limitInMemory: 9 })).items.length).toBe(3)
    }
    await using _store = await open()
    expect(levelDB.opened).toBe(2)
  })

  test("is compacted, and continues an interrupted compaction", async () => {
    {
      await using store = await open()
      for (let index = 0; index < 40; index++) await put(store, "/a", String(index))
      void store.compact(30).catch(() => undefined) // the store may close first
      await expect.poll(() => store.compactedRevision).toBe(30)
    }
    {
      await using store = await open({ limits: { compactionStep: 3 } })
      expect(store.compactedRevision).toBe(30)
      await expect(store.get("/a", 20)).rejects.toMatchObject({ code: "Compacted" })
      await store.compact(32)
    }
    expect(await checkDirectory(directory, { base, quotaPrefix: "/" })).toEqual([])
  })
})

describe("an image is ignored", () => {
  test("after LevelDB was opened by another process", async () => {
    await written()
    {
      await using other = await openLevelStore({ directory, base })
      await put(other, "/a", "3")
    }
    await using store = await open()
    expect(await contents(store)).toEqual({ ...expected, "/a": "3" })
  })

  test("if its process was killed after opening LevelDB", async () => {
    await written()
    const killed = join(root, "killed")
    {
      await using store = await open()
      await put(store, "/a", "3")
      await cp(directory, killed, { recursive: true })
    }
    await using store = await open({ directory: killed })
    expect(await contents(store)).toEqual({ ...expected, "/a": "3" })
  })

  test.each<[name: string, change: (image: Buffer) => Buffer]>([
    ["cut off", (image) => image.subarray(0, -7)],
    ["empty", () => Buffer.alloc(0)],
    ["damaged in one bit", (image) => image.fill((image.at(-30) ?? 0) ^ 1, image.length - 30, image.length - 29)],
    ["of another boot", (image) => rewritten(image, { boot: "another" })],
    ["of a newer format", (image) => rewritten(image, { format: 3 })],
  ])("if it is %s", async (_, change) => {
    await written()
    const file = join(directory, "IMAGE")
    await writeFile(file, change(await readFile(file)))
    await using store = await open()
    expect(levelDB.opened).toBe(2)
    expect(await contents(store)).toEqual(expected)
  })
})

describe("a store with an image whose LevelDB", () => {
  test("cannot be opened is read-only until it can", async () => {
    await written()
    let time = 0
    await using store = await open({ now: () => time, limits: { reopenMilliseconds: 100 } })
    expect(await contents(store)).toEqual(expected)
    const watch = store.watch("/", { after: store.revision })[Symbol.asyncIterator]()
    const ended = expect(watch.next()).rejects.toThrow("no space left")
    levelDB.refusal = Object.assign(new Error("no space left"), { code: "ENOSPC" })
    time = 1000
    await expect(put(store, "/c", "1")).rejects.toThrow("no space left")
    await ended
    expect((await store.get("/a"))?.modRevision).toBe(3)
    levelDB.refusal = undefined
    time = 2000
    expect(await contents(store)).toEqual(expected)
    expect((await put(store, "/c", "1")).revision).toBe(7)
  })

  test("has changed since uses the current data, and ends its watches", async () => {
    await written()
    await using store = await open()
    expect(await contents(store)).toEqual(expected)
    const watch = store.watch("/", { after: store.revision })[Symbol.asyncIterator]()
    const ended = expect(watch.next()).rejects.toMatchObject({ code: "Unavailable" })
    {
      await using other = await openLevelStore({ directory, base })
      await put(other, "/other", "1")
    }
    expect((await put(store, "/c", "1")).revision).toBe(8)
    await ended
    expect(await contents(store)).toEqual({ ...expected, "/c": "1", "/other": "1" })
  })
})

/** With changes in its header, and a matching checksum. */
function rewritten(image: Buffer, change: Record<string, unknown>): Buffer {
  const end = image.indexOf("\n")
  const header = { ...(JSON.parse(image.toString("utf8", 0, end)) as object), ...change }
  const content = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), image.subarray(end + 1, -4)])
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(content))
  return Buffer.concat([content, checksum])
}
