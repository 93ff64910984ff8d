import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate as nextTurn } from "node:timers/promises"
import { afterEach, beforeEach, expect, test } from "vitest"
import { emptyBaseLayer } from "../base-layer.ts"
import { defaultLimits } from "../limits.ts"
import type { StoreEvent } from "../types.ts"
import type { Database } from "./database.ts"
import { openDatabase } from "./open-database.ts"
import { Residency } from "./residency.ts"
import { type Loaded, ResidentBudget } from "./resident.ts"
import { openLevelStore } from "./store.ts"
import { View } from "./view.ts"

const MiB = 1024 * 1024
const keys = ["/a/1", "/a/2", "/a/3", "/a/4"]

let directory = ""
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "polyplane-residency-"))
  await using store = await openLevelStore({ directory })
  for (const key of keys) await store.txn({ compare: [], operations: [{ type: "put", key, value: Buffer.alloc(MiB) }] })
})
afterEach(async () => {
  await rm(directory, { recursive: true, force: true })
})

/** Lists like a store. Resolves with the number of complete loads. */
function lister(residency: Residency, database: Database): () => Promise<number> {
  let reads = 0
  const view = new View(database, emptyBaseLayer, defaultLimits, 1)
  return async () => {
    let reading: Promise<Loaded> | undefined
    residency.promote((load) => {
      reads++
      reading = view.read(load)
      return reading
    })
    await reading
    await nextTurn()
    return reads
  }
}

const deletion = (key: string): StoreEvent => {
  const previous = { key, value: Buffer.alloc(MiB), createRevision: 1, modRevision: 1 }
  return { type: "delete", current: { ...previous, value: Buffer.alloc(0) }, previous }
}

test("data that does not fit is loaded again only when it has shrunk or there is more room", async () => {
  const database = await openDatabase({ directory, limits: defaultLimits })
  const budget = new ResidentBudget(6 * MiB)
  expect(budget.take(3 * MiB)).toBe(true) // that of another store
  const residency = new Residency({ base: emptyBaseLayer, ownBytes: 1, budget })
  const list = lister(residency, database)
  expect([await list(), await list(), await list()]).toEqual([1, 1, 1])
  expect(residency.current).toBeUndefined()

  budget.giveBack(3 * MiB)
  expect(await list()).toBe(2)
  expect(residency.current?.range("/a/", {}).items).toHaveLength(4)
  await residency.close()

  expect(budget.take(3 * MiB)).toBe(true)
  const shrinking = new Residency({ base: emptyBaseLayer, ownBytes: 1, budget })
  const again = lister(shrinking, database)
  expect([await again(), await again()]).toEqual([1, 1])
  for (const key of keys.slice(2)) await database.del(`c${key}`)
  shrinking.committed(keys.slice(2).map(deletion))
  expect(await again()).toBe(2)
  await shrinking.close()
  await database.close()
})
