// A store that is closed with an image, and opened from it. For tests.

import { cp, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach } from "vitest"
import { createBaseLayer } from "./base-layer.ts"
import { put, remove } from "./store-suite/shorthand.ts"
import type { Store } from "../types.ts"
import type { Database } from "../level/database.ts"
import { openDatabase } from "../level/open-database.ts"
import { openLevelStore, type LevelStoreOptions } from "../level/store.ts"

/** Of each test, and removed after it. */
export let root = ""
export let directory = ""
/** What the test observes and decides about LevelDB. */
export const levelDB: { opened: number; refusal: Error | undefined } = { opened: 0, refusal: undefined }

export function useImages(): void {
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "polyplane-image-"))
    directory = join(root, "store")
    levelDB.opened = 0
    levelDB.refusal = undefined
  })
  afterEach(() => rm(root, { recursive: true, force: true }))
}

export const base = createBaseLayer([
  ["/base/kept", Buffer.from("base")],
  ["/base/gone", Buffer.from("base")],
])

export const open = (options: Partial<LevelStoreOptions> = {}): Promise<Store> =>
  openLevelStore({
    directory,
    image: true,
    base,
    open: async (request): Promise<Database> => {
      if (levelDB.refusal !== undefined) throw levelDB.refusal
      levelDB.opened++
      return openDatabase(request)
    },
    ...options,
  })

/** /a written twice, /b created and deleted, a key of the base layer deleted: revision 6. */
export async function written(options?: Partial<LevelStoreOptions>): Promise<void> {
  await using store = await open(options)
  await put(store, "/a", "1")
  await put(store, "/a", "2")
  await put(store, "/b", "1")
  await remove(store, "/b")
  await remove(store, "/base/gone")
}

export async function contents(store: Store): Promise<Record<string, string>> {
  const { items } = await store.range("/")
  return Object.fromEntries(items.map(({ key, value }) => [key, Buffer.from(value).toString()]))
}

/** What {@link written} leaves. */
export const expected = { "/a": "2", "/base/kept": "base" }

export async function copyOf(path: string): Promise<string> {
  const copy = `${path}-copy`
  await cp(path, copy, { recursive: true })
  return copy
}
