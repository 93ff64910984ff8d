// LevelDB's log: it has space ahead in stores that write, which is complete for whoever opens what a killed process leaves, and is given
// back; and it ends early where it grows slowly or its store is closed.

import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { Store } from "../types.ts"
import { put } from "../testing/store-suite/shorthand.ts"
import { checkDirectory } from "./check.ts"
import { endOfLog } from "./files/log-file.ts"
import { slowLogMilliseconds } from "./log-upkeep.ts"
import { openLevelStore } from "./store.ts"

const KiB = 1024
/** The first space is made after 16 KiB; a log is long from 128 KiB. */
const writeBufferBytes = 512 * KiB

let parent = ""
let directory = ""
let time = 0
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "polyplane-log-upkeep-"))
  directory = join(parent, "store")
  time = 0
})
afterEach(() => rm(parent, { recursive: true, force: true }))

const openStore = (of = directory, bytes = writeBufferBytes): Promise<Store> =>
  openLevelStore({ directory: of, limits: { writeBufferBytes: bytes }, now: () => time })

async function newestLog(): Promise<string> {
  return (
    (await readdir(directory))
      .filter((name) => name.endsWith(".log"))
      .toSorted()
      .at(-1) ?? ""
  )
}

async function spaceLeft(): Promise<number> {
  const content = await readFile(join(directory, await newestLog()))
  return content.length - endOfLog(content)
}

const valueOf = (index: number): string => String(index).padEnd(KiB, ".")

/** Of about a KiB each. */
async function write(store: Store, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index++) await put(store, `/a/${index}`, valueOf(index))
}

async function expectWritten(count: number, of = directory): Promise<void> {
  expect(await checkDirectory(of)).toEqual([])
  await using store = await openStore(of)
  const { items } = await store.range("/a/")
  expect(new Map(items.map(({ key, value }) => [key, Buffer.from(value).toString()]))).toEqual(
    new Map(Array.from({ length: count }, (_, index) => [`/a/${index}`, valueOf(index)])),
  )
}

test("a store that writes has space, and gives it back when it is closed", async () => {
  const copy = join(parent, "copy")
  {
    await using store = await openStore()
    await write(store, 0, 20)
    await expect.poll(spaceLeft).toBeGreaterThan(0)
    // More than was made at once.
    await write(store, 20, 100)
    await expect.poll(spaceLeft).toBeGreaterThan(0)
    await cp(directory, copy, { recursive: true })
  }
  expect(await spaceLeft()).toBe(0)
  await expectWritten(100)
  await expectWritten(100, copy)
})

test("the logs that follow have it soon", async () => {
  await using store = await openStore(directory, 64 * KiB)
  const logs = new Set<string>()
  let count = 0
  for (; logs.size < 4; count++) {
    await write(store, count, count + 1)
    logs.add(await newestLog())
  }
  await write(store, count, count + 5)
  await expect.poll(spaceLeft).toBeGreaterThan(0)
})

test("a store that is written to a few times has none", async () => {
  await using store = await openStore()
  await write(store, 0, 10)
  expect(await spaceLeft()).toBe(0)
})

test.each([
  ["a long log", 200, 0],
  ["a short one", 100, 100 * KiB],
])("when its store is closed, %s is written to a table, or not", async (_what, count, least) => {
  {
    await using store = await openStore()
    await write(store, 0, count)
  }
  const { length } = await readFile(join(directory, await newestLog()))
  if (least === 0) expect(length).toBe(0)
  else expect(length).toBeGreaterThan(least)
  await expectWritten(count)
})

test("a long log ends if it has taken a while, and no other does", async () => {
  await using store = await openStore()
  const first = await newestLog()
  await write(store, 0, 50)
  time = slowLogMilliseconds
  await write(store, 50, 100)
  await expect.poll(spaceLeft).toBeGreaterThan(0)
  expect(await newestLog()).toBe(first)
  await write(store, 100, 200)
  await expect.poll(newestLog).not.toBe(first)
  const second = await newestLog()
  await write(store, 200, 400)
  await expect.poll(spaceLeft).toBeGreaterThan(0)
  expect(await newestLog()).toBe(second)
})
