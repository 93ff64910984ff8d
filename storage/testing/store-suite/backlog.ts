// What a watch that catches up reads of the log at once.

import { expect, test } from "vitest"
import type { StoreLimits } from "../../limits.ts"
import type { KeyValue, Store, StoreEvent } from "../../types.ts"
import { bytes, closing } from "./shorthand.ts"

const size = 400
/** Values of a transaction. */
const largest = 3
const limits = { backlogBytes: 1000, smallBacklogBytes: 500, recentEventBytes: 0 }

export function backlog(open: (options: { limits: Partial<StoreLimits> }) => Promise<Store>): void {
  for (const written of ["new", "replaced", "replaced and deleted"])
    test(`a piece holds no more than its limit, or one transaction, of values that are ${written}`, async () => {
      const store = await open({ limits })
      const keys = await fill(store, size)
      if (written !== "new") await fill(store, size)
      if (written === "replaced and deleted") for (const key of keys) await write(store, [key], 0)
      const pieces = await read(store, store.revision)
      expect(pieces.flat()).toHaveLength(written === "new" ? 20 : written === "replaced" ? 40 : 60)
      for (const piece of pieces) {
        const values = piece.filter(({ type }) => type === "put").map(({ current }) => current)
        if (revisionsOf(piece).length > 1) expect(bytesOf(values)).toBeLessThanOrEqual(limits.backlogBytes)
        // Those that were replaced may be of one more transaction.
        const replaced = piece.flatMap(({ previous }) => previous ?? [])
        expect(bytesOf(replaced)).toBeLessThan(limits.backlogBytes + largest * size)
      }
    })

  test("a piece holds no more changes than its limit, or one transaction", async () => {
    const store = await open({ limits: { ...limits, backlogBytes: 1e6, backlogChanges: 4 } })
    await fill(store, 1)
    const pieces = await read(store, store.revision)
    expect(pieces.flat()).toHaveLength(20)
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(6)
  })

  test("a large transaction is read as a whole", async () => {
    const store = await open({ limits })
    const keys = Array.from({ length: 40 }, (_, index) => `/${index}`)
    for (let round = 0; round < 2; round++) await write(store, keys, 30_000)
    await write(store, ["/after"], 1)
    const pieces = await read(store, store.revision)
    expect(pieces.map(({ length }) => length)).toEqual([keys.length, keys.length, 1])
  })

  test("a watch asks before it reads a piece, and says when it does not hold it any more", async () => {
    const store = await open({ limits })
    const keys = await fill(store, size)
    const log: string[] = []
    const mayRead = Promise.withResolvers<void>()
    const reading = {
      enlarge() {
        log.push("asks")
        return mayRead.promise
      },
      reduce: () => void log.push("holds nothing"),
    }
    await using watch = closing(store.watch("/", { after: 1, reading }))
    const seen: string[] = []
    const reads = (async () => {
      for await (const events of watch.watcher) {
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
}

/** Transactions of one to three keys each. Returns the keys. */
async function fill(store: Store, length: number): Promise<string[]> {
  const keys = Array.from({ length: 20 }, (_, index) => `/${String(index).padStart(2, "0")}`)
  for (let at = 0, count = 1; at < keys.length; at += count, count = (count % largest) + 1)
    await write(store, keys.slice(at, at + count), length)
  return keys
}

/** Length 0: deletes. */
async function write(store: Store, keys: readonly string[], length: number): Promise<void> {
  const operations = keys.map((key) =>
    length === 0
      ? ({ type: "delete", key } as const)
      : ({ type: "put", key, value: bytes("x".repeat(length)) } as const),
  )
  await store.txn({ compare: [], operations })
}

/** The pieces up to the revision; checks that they are in order and end with whole transactions. */
async function read(store: Store, last: number): Promise<(readonly StoreEvent[])[]> {
  const pieces: (readonly StoreEvent[])[] = []
  await using watch = closing(store.watch("/", { after: 1 }))
  for await (const events of watch.watcher) {
    pieces.push(events)
    if (events.at(-1)?.current.modRevision === last) break
  }
  const revisions = pieces.flatMap(revisionsOf)
  expect(revisions).toEqual(Array.from({ length: last - 1 }, (_, index) => index + 2))
  return pieces
}

function revisionsOf(piece: readonly StoreEvent[]): number[] {
  return [...new Set(piece.map(({ current }) => current.modRevision))]
}

function bytesOf(states: readonly KeyValue[]): number {
  return states.reduce((sum, { value }) => sum + value.length, 0)
}
