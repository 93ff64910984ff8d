// What a watch that catches up reads of the log at once.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { Store, StoreEvent } from "../types.ts"
import { openLevelStore } from "./store.ts"

let directory = ""

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "polyplane-backlog-"))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const value = Buffer.alloc(400, "x")
const limits = { backlogBytes: 1000, smallBacklogBytes: 500, recentEventBytes: 0 }

/** Transactions of one to three new keys each. */
async function fill(store: Store): Promise<string[]> {
  const keys = Array.from({ length: 20 }, (_, index) => `/${String(index).padStart(2, "0")}`)
  for (let at = 0, size = 1; at < keys.length; at += size, size = (size % 3) + 1) {
    const operations = keys.slice(at, at + size).map((key) => ({ type: "put", key, value }) as const)
    await store.txn({ compare: [], operations })
  }
  return keys
}

test("a piece holds no more than its limit, or one transaction, also of values that are new", async () => {
  await using store = await openLevelStore({ directory, limits })
  const keys = await fill(store)
  const pieces: (readonly StoreEvent[])[] = []
  for await (const events of store.watch("/", { after: 1 })) {
    pieces.push(events)
    if (events.at(-1)?.current.key === keys.at(-1)) break
  }
  expect(pieces.flat().map(({ current }) => current.key)).toEqual(keys)
  expect(pieces.length).toBeGreaterThan(5)
  for (const piece of pieces) {
    const revisions = new Set(piece.map(({ current }) => current.modRevision))
    expect(piece.length * value.length <= limits.backlogBytes || revisions.size === 1).toBe(true)
  }
})

test("a watch asks before it reads a piece, and says when it does not hold it any more", async () => {
  await using store = await openLevelStore({ directory, limits })
  const keys = await fill(store)
  const log: string[] = []
  const mayRead = Promise.withResolvers<void>()
  const reading = {
    enlarge() {
      log.push("asks")
      return mayRead.promise
    },
    reduce: () => void log.push("holds nothing"),
  }
  const watcher = store.watch("/", { after: 1, reading })
  const seen: string[] = []
  const reads = (async () => {
    for await (const events of watcher) {
      seen.push(...events.map(({ current }) => current.key))
      log.push("holds")
      if (seen.length === keys.length) break
    }
  })()
  await store.get("/00")
  expect(log).toEqual(["holds nothing", "asks"])
  mayRead.resolve()
  await reads
  expect(seen).toEqual(keys)
  // Small pieces are given back before they are held.
  expect(log.join(", ")).toMatch(/^(holds nothing, asks, (holds nothing, )?holds(, |$))+$/)
})
