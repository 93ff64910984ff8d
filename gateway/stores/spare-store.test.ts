// The prepared store for the next tenant: given out once, recorded as unused before, and removed if it was not taken.

import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { silentLog } from "../../client/log.ts"
import { emptyBaseLayer } from "../../storage/base-layer.ts"
import { createMemoryStore } from "../../storage/memory/store.ts"
import { DataDirectory } from "./data-directory.ts"
import { readSpares, spareKey, SpareStore } from "./spare-store.ts"
import { createRecord, type TenantRecord } from "../tenancy/tenant-record.ts"

const notRemoved = "an unused store that was prepared for a tenant was not removed"
const code = (name: string) => expect.objectContaining({ code: name })
const patience = { timeout: 60_000, interval: 20 }

let path: string
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "polyplane-spare-"))
})
afterEach(() => rm(path, { recursive: true, force: true }))

const recordOf = (uid: string): TenantRecord => ({
  tenant: {
    name: "a",
    uid,
    virtualCluster: { namespace: "default", name: "a", uid: "vc" },
    clusterKey: "a",
    clusterDomain: "cluster.local",
    transparentMetaPrefixes: [],
    opaqueMetaPrefixes: [],
    controllers: true,
  },
  createdAt: "2026-01-01T00:00:00Z",
  state: "active",
  issuer: "https://issuer/a",
})

/** Takes uids until one has a prepared store. */
async function takeSpare(data: DataDirectory): Promise<string> {
  return vi.waitFor(async () => {
    const ready = await readSpares(data.store)
    const uid = data.newUid()
    if (!ready.includes(uid)) throw new Error("no spare yet")
    return uid
  }, patience)
}

test("after a tenant is created, a spare store is opened for the next one and used once", async () => {
  await using data = await DataDirectory.open(path)
  const spare = await takeSpare(data)
  await vi.waitFor(() => expect(existsSync(join(path, "stores", spare, "CURRENT"))).toBe(true), patience)
  expect(data.newUid()).not.toBe(spare)
  await using store = await data.openStore(spare, emptyBaseLayer)
  await store.txn({ compare: [], operations: [{ type: "put", key: "/a", value: Buffer.from("1") }] })
  expect(store.revision).toBe(2)
})

test("the record of a tenant replaces that of its spare store in one write", async () => {
  await using data = await DataDirectory.open(path)
  const spare = await takeSpare(data)
  expect(await data.store.get(spareKey(spare))).toBeDefined()
  await createRecord(data.store, recordOf(spare))
  expect(await data.store.get(spareKey(spare))).toBeUndefined()
})

test("an unused spare store is removed at the stop or the next start", async () => {
  const stores = join(path, "stores")
  {
    await using data = await DataDirectory.open(path)
    data.newUid()
    await vi.waitFor(async () => expect(await readdir(stores)).toHaveLength(1), patience)
  }
  expect(await readdir(stores)).toEqual([])
  {
    await using data = await DataDirectory.open(path)
    // As after a kill, next to a tenant's store.
    await data.store.txn({ compare: [], operations: [{ type: "put", key: spareKey("left"), value: Buffer.alloc(0) }] })
    await mkdir(join(stores, "left"))
    await mkdir(join(stores, "tenant"))
  }
  await using data = await DataDirectory.open(path)
  expect(await readdir(stores)).toEqual(["tenant"])
  expect(await readSpares(data.store)).toEqual([])
})

test("a start does not fail for a spare store that cannot be removed, and the next one removes it", async () => {
  const stores = join(path, "stores")
  const store = createMemoryStore()
  await store.txn({ compare: [], operations: [{ type: "put", key: spareKey("left"), value: Buffer.alloc(0) }] })
  const log = { ...silentLog, error: vi.fn() }
  const clear = () => new SpareStore({ store, limits: {}, pathOf: (uid) => join(stores, uid), log }).clear()
  await writeFile(stores, "where a directory should be")
  await clear()
  expect(await readSpares(store)).toEqual(["left"])
  expect(log.error.mock.calls).toEqual([[{ err: code("ENOTDIR"), uid: "left" }, notRemoved]])
  await rm(stores)
  await mkdir(join(stores, "left"), { recursive: true })
  await clear()
  expect([await readdir(stores), await readSpares(store)]).toEqual([[], []])
  expect(log.error).toHaveBeenCalledOnce()
})

test("a stop does not fail for an unused spare store that cannot be removed, and the next start removes it", async () => {
  const stores = join(path, "stores")
  const log = { ...silentLog, error: vi.fn() }
  const data = await DataDirectory.open(path, {}, { log })
  data.newUid()
  const uid = await vi.waitFor(async () => {
    const [made = ""] = await readdir(stores)
    expect(existsSync(join(stores, made, "CURRENT"))).toBe(true)
    return made
  }, patience)
  await rename(stores, `${stores}-away`)
  await writeFile(stores, "where a directory should be")
  await data[Symbol.asyncDispose]()
  expect(log.error.mock.calls).toEqual([[{ err: code("ENOTDIR"), uid }, notRemoved]])
  await rm(stores)
  await rename(`${stores}-away`, stores)
  await using next = await DataDirectory.open(path)
  expect([await readdir(stores), await readSpares(next.store)]).toEqual([[], []])
})

test("a spare store that was taken but not opened can be removed", async () => {
  await using data = await DataDirectory.open(path)
  const spare = await takeSpare(data)
  await data.removeStore(spare)
  expect(existsSync(join(path, "stores", spare))).toBe(false)
})

test("a spare store whose tenant was not created is closed and removed, and one that is used is not", async () => {
  await using data = await DataDirectory.open(path)
  const spare = await takeSpare(data)
  await data.unused(spare)
  expect(existsSync(join(path, "stores", spare))).toBe(false)
  expect(await data.store.get(spareKey(spare))).toBeUndefined()
  const used = await takeSpare(data)
  await using _ = await data.openStore(used, emptyBaseLayer)
  await data.unused(used)
  expect(existsSync(join(path, "stores", used))).toBe(true)
})
