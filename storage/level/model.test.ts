// The model on LevelDB. The content on disk is checked every other time after closing: the check opens LevelDB, which invalidates
// the store's image.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { type ModelDisk, modelBase, modelLimits, runModel } from "../testing/store-model.ts"
import type { BaseLayer, Store } from "../types.ts"
import { checkDirectory } from "./check.ts"
import type { Database } from "./database.ts"
import { type DatabaseOptions, openDatabase } from "./open-database.ts"
import { ResidentBudget } from "./resident.ts"
import { openLevelStore } from "./store.ts"

// Thousands of writes, each flushed to disk: slow on slow disks.
vi.setConfig({ testTimeout: 300_000 })

let root = ""
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "polyplane-model-"))
})
afterAll(async () => {
  await rm(root, { recursive: true, force: true })
})

let opened = 0
// Stores that exceed their own limit are loaded into memory when they are listed, if there is room.
const residents = new ResidentBudget(2 * 1024 * 1024)

const places = [
  { residentBytes: 1e6, residents },
  { residentBytes: 0, residents },
  { residentBytes: 1500, residents },
  { residentBytes: 0 },
]

function openStore(directory: string, base: BaseLayer | undefined, disk: ModelDisk): Promise<Store> {
  // In memory, loaded when listed, growing from memory to disk, and always on disk.
  const { residentBytes, ...room } = places[opened++ % places.length] ?? { residentBytes: 0 }
  const limits = { ...modelLimits, residentBytes, reopenMilliseconds: 0 }
  const open = (options: DatabaseOptions) => openOn(disk, options)
  return openLevelStore({ directory, limits, ...room, open, image: true, ...(base ? { base } : {}) })
}

async function openOn(disk: ModelDisk, options: DatabaseOptions): Promise<Database> {
  const database = await openDatabase(options)
  const write = database.batch.bind(database) as (...args: unknown[]) => Promise<void>
  const batch = async (...args: unknown[]): Promise<void> => {
    const { failure } = disk
    disk.failure = undefined
    if (failure !== "before") await write(...args)
    if (failure !== undefined) throw Object.assign(new Error("IO error"), { code: "LEVEL_IO_ERROR" })
  }
  return Object.assign(database, { batch })
}

test.each([
  ["alone", undefined],
  ["on a base layer", modelBase],
] as const)("random operations have the results of a model, %s", async (name, base) => {
  const directory = join(root, name)
  const disk: ModelDisk = { failure: undefined }
  let isNew = true
  await runModel({
    base,
    inOrder: true,
    disk,
    async open() {
      if (!isNew && opened % 2 === 0) expect(await checkDirectory(directory, base ? { base } : {})).toEqual([])
      isNew = false
      return openStore(directory, base, disk)
    },
  })
})
