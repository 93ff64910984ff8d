// The guarantees of the directory even if opening and removing control planes, and writing records, fails, which they do here on purpose.

import { expect, test, vi } from "vitest"
import type { Tenant } from "../../client/tenants.ts"
import { limits, parts, request, sleeping } from "./testing/directory-parts.ts"
import { TenantDirectory } from "./tenant-directory.ts"
import { readRecords, createRecord } from "./tenant-record.ts"

test("a damaged record removes nothing: it may be that of a tenant that is served", async () => {
  const { all, removed } = parts()
  await using directory = await TenantDirectory.open(all)
  const tenant = await directory.create(request("b"))
  const value = Buffer.from(JSON.stringify((await readRecords(all.store)).records[0]))
  await all.store.txn({ compare: [], operations: [{ type: "put", key: "/tenants/a", value }] })
  const damaged = 'the record "/tenants/a" is damaged: it is of tenant "b"'
  await expect(directory.create(request("a"))).rejects.toThrow(damaged)
  await expect(directory.delete("a")).rejects.toThrow(damaged)
  await expect(TenantDirectory.open(all)).rejects.toThrow(damaged)
  expect([directory.list(), removed]).toEqual([[tenant], []])
})

test("an interrupted deletion is completed at the next start", async () => {
  const { all, removed } = parts()
  const record = { createdAt: "2026-01-01T00:00:00Z", issuer: "https://issuer/a" }
  await createRecord(all.store, { ...record, tenant: { ...request("a"), uid: "1" }, state: "deleting" })
  await createRecord(all.store, { ...record, tenant: { ...request("b"), uid: "2" }, state: "active" })
  await using directory = await TenantDirectory.open(all)
  expect(removed).toEqual(["1"])
  expect(directory.list().map(({ name }) => name)).toEqual(["b"])
  expect((await readRecords(all.store)).records).toHaveLength(1)
})

test("a start does not fail for what it cannot remove of a deleted tenant, and the next one removes it", async () => {
  const { all, removed } = parts()
  const { removeStore } = all
  const record = { createdAt: "2026-01-01T00:00:00Z", issuer: "https://issuer/a" }
  await createRecord(all.store, { ...record, tenant: { ...request("a"), uid: "1" }, state: "deleting" })
  await createRecord(all.store, { ...record, tenant: { ...request("b"), uid: "2" }, state: "active" })
  all.removeStore = () => Promise.reject(new Error("the disk is damaged"))
  await using directory = await TenantDirectory.open(all)
  expect(directory.list().map(({ name }) => name)).toEqual(["b"])
  await expect(directory.create(request("a"))).rejects.toThrow("the disk is damaged")
  expect((await readRecords(all.store)).records).toMatchObject([{ state: "deleting" }, { state: "active" }])
  all.removeStore = removeStore
  await using next = await TenantDirectory.open(all)
  expect([removed, next.list().map(({ name }) => name)]).toEqual([["1"], ["b"]])
  expect((await readRecords(all.store)).records).toHaveLength(1)
})

test("a tenant that cannot be opened leaves no data", async () => {
  const { all, removed } = parts({ openControlPlane: () => Promise.reject(new Error("disk full")) })
  await using directory = await TenantDirectory.open(all)
  await expect(directory.create(request("a"))).rejects.toThrow("disk full")
  expect(directory.list()).toEqual([])
  expect(directory.size).toBe(0)
  expect(removed).toHaveLength(1)
  expect((await readRecords(all.store)).records).toEqual([])
})

/** Of the first creation the record is written, and then nothing more of it works. */
async function openWithLeft(isRecorded = false) {
  const { all, removed } = parts()
  const write = all.store.txn.bind(all.store)
  const open = all.openControlPlane
  let writes = 0
  // When the record is to be changed the disk is full: that it is may still be on the disk.
  all.store.txn = async (transaction) => {
    const isFull = ++writes === 2
    const result = isFull && !isRecorded ? undefined : await write(transaction)
    if (isFull || result === undefined) throw new Error("disk full")
    return result
  }
  all.openControlPlane = (...given) => (writes < 2 ? Promise.reject(new Error("no room")) : open(...given))
  const directory = await TenantDirectory.open(all)
  const added: Tenant[] = []
  directory.subscribe({ added: (tenant) => added.push(tenant) })
  await expect(directory.create(request("a"))).rejects.toThrow("no room")
  const records = async (): Promise<unknown[]> =>
    (await readRecords(all.store)).records.map(({ tenant, state }) => ({ ...tenant, state }))
  return { all, directory, added, removed, records }
}

test.each([
  ["for whom it was", "vc", false],
  ["for whom it was, and whose deletion is recorded", "vc", true],
  ["for another one", "vc2", false],
  ["for another one, and whose deletion is recorded", "vc2", true],
])("a tenant that can be neither opened nor removed is made anew %s", async (_whom, owner, isRecorded) => {
  const { directory, added, removed, records } = await openWithLeft(isRecorded)
  await using _ = directory
  const tenant = await directory.create(request("a", owner))
  expect(tenant.virtualCluster.uid).toBe(owner)
  expect(added).toEqual([tenant])
  expect(removed).toHaveLength(1)
  expect(removed).not.toContain(tenant.uid)
  expect(await records()).toEqual([{ ...tenant, state: "active" }])
})

test("a tenant that can be neither opened nor removed does not exist", async () => {
  const { directory, added } = await openWithLeft()
  await using _ = directory
  expect([directory.get("a"), directory.byName("a"), directory.lookup.byName("a")]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect([directory.size, directory.list(), await directory.faults(), added]).toEqual([0, [], [], []])
  for (const answer of [directory.address("a"), directory.kubeconfig("a")])
    await expect(answer).rejects.toMatchObject({ reason: "NotFound" })
})

test("of a tenant that can be neither opened nor removed its owner leaves nothing, and no one else", async () => {
  const { all, directory, records } = await openWithLeft()
  await using _ = directory
  const left = await records()
  for (const owner of [
    { namespace: "default", uid: "vc2" },
    { namespace: "other", uid: "vc" },
  ]) {
    await directory.delete({ name: "a", owner })
    expect(await records()).toEqual(left)
  }
  await directory.delete({ name: "a", owner: { namespace: "default", uid: "vc" } })
  expect(await records()).toEqual([])
  await using next = await TenantDirectory.open(all)
  expect(next.list()).toEqual([])
})

test("a creation that waits for one that fails does not begin before a deletion that waits for it, too, has ended", async () => {
  const { all, removed } = parts()
  const open = all.openControlPlane
  const first = Promise.withResolvers<never>()
  let opened = 0
  all.openControlPlane = (...given) => (++opened === 1 ? first.promise : open(...given))
  await using directory = await TenantDirectory.open(all)
  const failing = directory.create(request("a"))
  const waiting = directory.create(request("a"))
  const deletion = directory.delete("a")
  first.reject(new Error("no room"))
  await expect(failing).rejects.toThrow("no room")
  await deletion
  const { uid } = await waiting
  expect(directory.get("a")?.uid).toBe(uid)
  expect(removed).not.toContain(uid)
  expect((await readRecords(all.store)).records).toMatchObject([{ state: "active", tenant: { uid } }])
})

test("a deletion that has failed is completed by the next one, or by the next creation of that name", async () => {
  const { all, removed } = parts()
  const { removeStore } = all
  let isFailing = true
  all.removeStore = (uid) => (isFailing ? Promise.reject(new Error("disk fails")) : removeStore(uid))
  await using directory = await TenantDirectory.open(all)
  const tenants = [await directory.create(request("a")), await directory.create(request("b"))]
  for (const { name } of tenants) await expect(directory.delete(name)).rejects.toThrow("disk fails")
  await expect(directory.delete("a")).rejects.toThrow("disk fails")
  isFailing = false
  await directory.delete("a")
  expect(removed).toEqual([tenants[0]?.uid])
  await directory.create(request("b", "new"))
  expect(removed).toEqual(tenants.map(({ uid }) => uid))
})

test("a tenant that opens, and is then not asked whether its preparation has begun, is closed again", async () => {
  const { all, disposed } = parts()
  const { preparation } = all
  const isBegun = vi.spyOn(preparation, "isBegun").mockRejectedValueOnce(new Error("no answer"))
  await using directory = await TenantDirectory.open(all)
  await expect(directory.create(request("a"))).rejects.toThrow("no answer")
  expect(disposed).toEqual(["a"])
  isBegun.mockRestore()
  expect((await directory.create(request("a"))).name).toBe("a")
})

test("what was prepared for a tenant whose record cannot be written is given back", async () => {
  const { all } = parts()
  const unused: string[] = []
  all.unused = async (uid) => void unused.push(uid)
  let uids = 0
  all.newUid = () => `uid-${++uids}`
  const write = all.store.txn.bind(all.store)
  all.store.txn = () => Promise.reject(new Error("disk full"))
  await using directory = await TenantDirectory.open(all)
  await expect(directory.create(request("a"))).rejects.toThrow("disk full")
  all.store.txn = write
  await directory.create(request("a"))
  expect(unused).toEqual(["uid-1"])
})

test("a tenant that could not be closed when it fell asleep is opened again", async () => {
  const { all } = parts({ limits: { ...limits, tenantIdleMs: 20 } })
  const close = vi.fn(() => Promise.resolve()).mockRejectedValueOnce(new Error("disk fails"))
  all.openControlPlane = sleeping(all, close)
  await using directory = await TenantDirectory.open(all)
  await directory.create(request("a"))
  await expect.poll(() => directory.awake).toBe(0)
  await expect(directory.byName("a")).rejects.toThrow("disk fails")
  expect((await directory.byName("a"))?.name).toBe("a")
})
