// Space ahead in LevelDB's log: made for stores that write, complete for whoever opens what a killed process leaves, and given back.

import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { put } from "../testing/store-suite/shorthand.ts"
import { checkDirectory } from "./check.ts"
import { endOfLog } from "./files/log-file.ts"
import { openLevelStore } from "./store.ts"

const KiB = 1024
const logSpaceBytes = 32 * KiB

let parent = ""
let directory = ""
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "polyplane-log-space-"))
  directory = join(parent, "store")
})
afterEach(() => rm(parent, { recursive: true, force: true }))

const openStore = (limits: { logSpaceBytes: number; writeBufferBytes?: number }, of = directory) =>
  openLevelStore({ directory: of, limits })

/** Of the newest log. */
async function spaceLeft(of = directory): Promise<number> {
  const newest =
    (await readdir(of))
      .filter((name) => name.endsWith(".log"))
      .toSorted()
      .at(-1) ?? ""
  const content = await readFile(join(of, newest))
  return content.length - endOfLog(content)
}

const valueOf = (index: number): string => String(index).padEnd(KiB, ".")

test("a store that writes has space, and gives it back when it is closed", async () => {
  const copy = join(parent, "copy")
  {
    await using store = await openStore({ logSpaceBytes })
    let count = 0
    for (; count < 20; count++) await put(store, `/a/${count}`, valueOf(count))
    await expect.poll(() => spaceLeft()).toBeGreaterThan(0)
    // More than was made at once.
    for (; count < 100; count++) await put(store, `/a/${count}`, valueOf(count))
    await expect.poll(() => spaceLeft()).toBeGreaterThan(0)
    await cp(directory, copy, { recursive: true })
  }
  expect(await spaceLeft()).toBe(0)
  expect(await checkDirectory(copy)).toEqual([])
  for (const each of [directory, copy]) {
    await using store = await openStore({ logSpaceBytes }, each)
    const { items } = await store.range("/a/")
    expect(new Map(items.map(({ key, value }) => [key, Buffer.from(value).toString()]))).toEqual(
      new Map(Array.from({ length: 100 }, (_, index) => [`/a/${index}`, valueOf(index)])),
    )
  }
})

test("the logs that follow have it soon", async () => {
  await using store = await openStore({ logSpaceBytes, writeBufferBytes: 64 * KiB })
  const spaces = new Map<string, boolean>()
  for (let index = 0; spaces.size < 4; index++) {
    await put(store, `/a/${index}`, valueOf(index))
    const newest = (await readdir(directory))
      .filter((name) => name.endsWith(".log"))
      .toSorted()
      .at(-1)
    if (newest !== undefined) spaces.set(newest, true)
  }
  await put(store, "/b", "1")
  for (let index = 0; index < 5; index++) await put(store, `/c/${index}`, valueOf(index))
  await expect.poll(() => spaceLeft()).toBeGreaterThan(0)
})

test.each([
  ["a store that is written to a few times", { logSpaceBytes }, 8],
  ["a store whose limit is zero", { logSpaceBytes: 0 }, 100],
])("%s has none", async (_what, limits, count) => {
  await using store = await openStore(limits)
  for (let index = 0; index < count; index++) await put(store, `/a/${index}`, valueOf(index))
  expect(await spaceLeft()).toBe(0)
})
