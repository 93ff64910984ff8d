import { randomBytes } from "node:crypto"
import { mkdtemp, readdir, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { Store } from "../types.ts"
import { openLevelStore } from "./store.ts"

const KiB = 1024
let directory = ""

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "polyplane-history-"))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** Overwrites the same three keys with values that cannot be compressed. */
async function overwrite(store: Store, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const operations = [{ type: "put", key: `/${i % 3}`, value: randomBytes(64 * KiB) }] as const
    await store.txn({ compare: [], operations })
  }
}

async function bytesOnDisk(): Promise<number> {
  let bytes = 0
  for (const name of await readdir(directory)) {
    // LevelDB may have removed it meanwhile.
    bytes += await stat(join(directory, name)).then(
      ({ size }) => size,
      () => 0,
    )
  }
  return bytes
}

test("the space of dropped history is freed", { timeout: 120_000 }, async () => {
  const limits = { historyBytes: 1024 * KiB, freedBytes: 256 * KiB, writeBufferBytes: 128 * KiB }
  await using store = await openLevelStore({ directory, limits })
  for (let round = 0; round < 8; round++) {
    await overwrite(store, 60)
    // 4 MiB are written in each round.
    await expect.poll(bytesOnDisk, { timeout: 60_000 }).toBeLessThan(8 * 1024 * KiB)
  }
})

test("history that is on disk counts when a store is opened", async () => {
  {
    await using store = await openLevelStore({ directory })
    await overwrite(store, 60)
    expect(store.compactedRevision).toBe(0)
  }
  const limits = { historyBytes: 1024 * KiB, maxTransactionBytes: 256 * KiB }
  await using store = await openLevelStore({ directory, limits })
  const opened = store.revision
  await overwrite(store, 1)
  await expect.poll(() => store.compactedRevision).toBe(opened - 1)
})
