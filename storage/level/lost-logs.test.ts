// What LevelDB loses of its logs while it opens a store.

import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { faults, logsIn, losing, splitLog, useLosingLevel } from "../testing/losing-level.ts"
import { defaultLimits } from "../limits.ts"
import { put, remove, text } from "../testing/store-suite/shorthand.ts"
import type { Store } from "../types.ts"
import { checkDirectory } from "./check.ts"
import { openDatabase } from "./open-database.ts"
import { logKey, metaFormat } from "./keys.ts"
import { openLevelStore } from "./store.ts"

useLosingLevel()

let root = ""
let directory = ""
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "polyplane-lost-"))
  directory = join(root, "store")
})
afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

const contents = async (store: Store): Promise<Record<string, string | undefined>> =>
  Object.fromEntries((await store.range("/")).items.map(({ key, value }) => [key, text(value)]))

/** What is there without images, which would notice that something is lost. */
async function reopened(): Promise<Record<string, string | undefined>> {
  await rm(join(directory, "IMAGE"), { force: true })
  await using store = await openLevelStore({ directory })
  return contents(store)
}

/** A store with something in a table, and all of this in its log. */
async function written(): Promise<Record<string, string>> {
  {
    await using store = await openLevelStore({ directory })
    for (let value = 0; value < 10; value++) await put(store, "/a", `first ${value}`)
  }
  await using store = await openLevelStore({ directory })
  for (let value = 0; value < 10; value++) await put(store, "/b", `second ${value}`)
  await put(store, "/a", "third")
  await store.compact(12)
  await put(store, "/c", "fourth")
  await remove(store, "/b")
  return { "/a": "third", "/c": "fourth" }
}

async function expectWhole(expected: Record<string, string>): Promise<void> {
  expect(await reopened()).toEqual(expected)
  expect(await checkDirectory(directory)).toEqual([])
}

/** Two logs; a compaction in the second one removes all records of the revision log that are in the first one. */
async function compactedInNext(): Promise<Record<string, string>> {
  const expected = await written()
  await using store = await openLevelStore({ directory })
  for (const key of Array(20).keys()) await put(store, `/${key}`, "1")
  await store.compact(store.revision - 1)
  await store[Symbol.asyncDispose]()
  await splitLog(directory)
  return { ...expected, ...Object.fromEntries(Array.from({ length: 20 }, (_, key) => [`/${key}`, "1"])) }
}

const losses: [name: string, lose: ReturnType<typeof losing>][] = [
  ["the first log", losing(0, (index) => index === 0)],
  ["the end of the first log", losing(0.5, (index) => index === 0)],
  ["the second log", losing(0, (index) => index === 1)],
  ["the end of the second log", losing(0.5, (index) => index === 1)],
  ["all logs", losing()],
  ["the end of all logs", losing(0.7)],
  ["most of all logs", losing(0.2)],
]

describe.each<[name: string, make: () => Promise<Record<string, string>>]>([
  ["one log", written],
  [
    "two logs",
    async () => {
      const expected = await written()
      await splitLog(directory)
      return expected
    },
  ],
  ["two logs, of which the second compacts the first", compactedInNext],
])("%s: all is there although LevelDB has lost", (_, make) => {
  test.each(losses)("%s", async (_name, lose) => {
    const expected = await make()
    for (let time = 0; time < 3; time++) {
      faults.lose = lose
      expect(await reopened()).toEqual(expected)
      expect(faults.lose).toBeUndefined()
    }
    await expectWhole(expected)
  })

  test.each(losses)("%s, and writes fail", async (_name, lose) => {
    const expected = await make()
    for (const fail of ["before the write", "after the write"] as const) {
      Object.assign(faults, { lose, fail })
      // There may be nothing to write.
      await reopened().catch((error: unknown) => expect(error).toMatchObject({ code: "Unavailable" }))
      faults.fail = undefined
    }
    faults.lose = lose
    await expectWhole(expected)
  })

  test("nothing: then nothing is written", async () => {
    const expected = await make()
    faults.fail = "before the write"
    await expectWhole(expected)
    expect(faults.fail).toBe("before the write")
  })
})

describe("all is there although LevelDB has lost", () => {
  test("all that a new store ever had", async () => {
    {
      await using store = await openLevelStore({ directory })
      await put(store, "/a", "1")
    }
    faults.lose = losing()
    await expectWhole({ "/a": "1" })
  })

  test.each([
    [
      "is longer than two blocks of its log",
      async (store: Store) => void (await put(store, "/a", "1".repeat(100_000))),
    ],
    [
      "is one of very many",
      async (store: Store) => {
        for (let value = 0; value < 400; value++) await put(store, "/a", String(value))
        await put(store, "/a", "1".repeat(100_000))
      },
    ],
  ])("a log whose last transaction %s", async (_, write) => {
    {
      await using store = await openLevelStore({ directory })
      await write(store)
    }
    faults.lose = losing()
    await expectWhole({ "/a": "1".repeat(100_000) })
  })

  test("the first of two logs, in which history was removed", async () => {
    const limits = { compactionStep: 4 }
    {
      await using store = await openLevelStore({ directory, limits })
      for (let value = 0; value < 40; value++) await put(store, "/a", String(value))
    }
    {
      await using store = await openLevelStore({ directory, limits })
      await store.compact(30)
    }
    await splitLog(directory)
    faults.lose = losing(0, (index) => index === 0)
    await expectWhole({ "/a": "39" })
    await using store = await openLevelStore({ directory, limits })
    expect(store.compactedRevision).toBe(30)
  })

  test.each(["written", "compacted"])("two logs, and another process has %s in between", async (what) => {
    const expected = await compactedInNext()
    faults.lose = async () => {
      await using store = await openLevelStore({ directory })
      if (what === "written") await put(store, "/0", "2")
      else await store.compact(store.revision - 1)
    }
    await expectWhole(what === "written" ? { ...expected, "/0": "2" } : expected)
  })

  test.each([
    ["only", async () => undefined],
    ["last", async (store: Store) => void (await put(store, "/a", "1".repeat(100_000)))],
  ])("a compaction that is the %s thing in its log", async (_, write) => {
    {
      await using store = await openLevelStore({ directory })
      for (let value = 0; value < 10; value++) await put(store, "/a", String(value))
    }
    let expected = 0
    {
      await using store = await openLevelStore({ directory })
      await write(store)
      expected = store.revision - 3
      await store.compact(expected)
    }
    const [name = ""] = await logsIn(directory)
    const { length } = await readFile(join(directory, name))
    faults.lose = losing(length > 50_000 ? 1 - 200 / length : 0)
    await rm(join(directory, "IMAGE"), { force: true })
    await using store = await openLevelStore({ directory })
    expect(store.compactedRevision).toBe(expected)
  })
})

describe("what could not be written", () => {
  beforeEach(async () => {
    await written()
    await cp(directory, join(root, "backup"), { recursive: true })
    Object.assign(faults, { lose: losing(), fail: "before the write" })
    await expect(reopened()).rejects.toMatchObject({ code: "Unavailable" })
  })

  test("is not written to another store in its place", async () => {
    await rm(directory, { recursive: true })
    {
      await using store = await openLevelStore({ directory })
      await put(store, "/new", "1")
    }
    await expectWhole({ "/new": "1" })
  })

  test("is not written to a backup in its place", async () => {
    await rm(directory, { recursive: true })
    await cp(join(root, "backup"), directory, { recursive: true, preserveTimestamps: true })
    await expectWhole({ "/a": "third", "/c": "fourth" })
  })
})

test("what was lost is written by the next opening if not even a table could be read", async () => {
  const expected = await written()
  await using _ = await openLevelStore({ directory }) // with a table
  await _[Symbol.asyncDispose]()
  {
    await using store = await openLevelStore({ directory })
    await put(store, "/d", "5")
  }
  faults.lose = async (path) => {
    await losing()(path)
    faults.unreadable = true
  }
  await expect(reopened()).rejects.toThrow()
  faults.unreadable = false
  await expectWhole({ ...expected, "/d": "5" })
})

describe("two logs", () => {
  beforeEach(async () => {
    await written()
    await splitLog(directory)
  })

  test("are refused if the end of the first one is missing", async () => {
    const [first = ""] = await logsIn(directory)
    const content = await readFile(join(directory, first))
    await writeFile(join(directory, first), content.subarray(0, content.length - 10))
    const refused = {
      code: "Corrupt",
      message: expect.stringMatching(/log begins at revision \d+, but what is before it ends at/),
    }
    for (let time = 0; time < 2; time++) await expect(reopened()).rejects.toMatchObject(refused)
  })

  test("are refused if the first one was emptied", async () => {
    const [first = ""] = await logsIn(directory)
    await writeFile(join(directory, first), "")
    const refused = {
      code: "Corrupt",
      message: expect.stringMatching(/its logs begin at revision \d+, and what is before it/),
    }
    for (let time = 0; time < 2; time++) await expect(reopened()).rejects.toMatchObject(refused)
  })

  test("are refused if LevelDB has found other changes in them", async () => {
    faults.lose = async (path) => {
      await rm(path, { recursive: true })
      await using store = await openLevelStore({ directory })
      for (let value = 0; value < 23; value++) await put(store, "/other", String(value))
    }
    const refused = {
      code: "Corrupt",
      message: expect.stringMatching(/its revision \d+ is another one than in its logs/),
    }
    await expect(reopened()).rejects.toMatchObject(refused)
  })
})

test("a store of a newer version, of which all is lost, is not written", async () => {
  await using stack = new AsyncDisposableStack()
  const database = await openDatabase({ directory, limits: defaultLimits })
  stack.defer(() => database.close())
  await database.put(metaFormat, Buffer.from("2"))
  await database.put<Buffer, Buffer>(logKey(2), Buffer.from("?"), { keyEncoding: "buffer", valueEncoding: "buffer" })
  await stack.disposeAsync()
  faults.lose = losing()
  await expect(openDatabase({ directory, limits: defaultLimits })).rejects.toMatchObject({ code: "Format" })
})
