// The guarantees of the directory even if opening, preparing and removing control planes fails, which they do here on purpose.

import { randomUUID } from "node:crypto"
import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test, vi } from "vitest"
import { silentLog } from "../../client/log.ts"
import { namespaces } from "../../client/resources.ts"
import type { Tenant } from "../../client/tenants.ts"
import { createMemoryStore } from "../../storage/memory/store.ts"
import type { Watcher } from "../../storage/types.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import { TenantDirectory, type TenantDirectoryParts } from "./tenant-directory.ts"
import { readRecords, createRecord } from "./tenant-record.ts"

const limits = {
  tenantReadyMs: 60_000,
  maxOpening: 2,
  tenantIdleMs: 60_000,
  maxAwakeTenants: 10,
  maxAwakeBytes: 2 ** 30,
}

const request = (name: string, uid = "vc"): Omit<Tenant, "uid"> => ({
  name,
  virtualCluster: { namespace: "default", name, uid },
  clusterKey: name,
  clusterDomain: "cluster.local",
  transparentMetaPrefixes: [],
  opaqueMetaPrefixes: [],
  controllers: true,
})

const unkept = { keys: new Set<string>(), isRepeatedAfter: () => false }

function parts(more: Partial<TenantDirectoryParts> = {}) {
  const removed: string[] = []
  const disposed: string[] = []
  const all: TenantDirectoryParts = {
    store: createMemoryStore(),
    openControlPlane: ({ tenant }, life) =>
      Promise.resolve({
        name: tenant.name,
        presence: life.presence,
        begin: () => life.begin(),
        introduce: () => life.introduce(),
        store: { revision: 1 },
        [Symbol.asyncDispose]: () => {
          disposed.push(tenant.name)
          return Promise.resolve()
        },
      } as unknown as ControlPlane),
    newUid: randomUUID,
    removeStore: (uid) => {
      removed.push(uid)
      return Promise.resolve()
    },
    preparation: { ...unkept, isBegun: () => Promise.resolve(false), prepare: () => Promise.resolve() },
    addressOf: (name) => ({ server: `https://gateway/tenants/${name}`, certificateAuthority: "" }),
    issuerOf: (name) => `https://issuer/${name}`,
    log: silentLog,
    limits,
    ...more,
  }
  return { all, removed, disposed }
}

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

test("a tenant belongs to its owner as long as it exists", async () => {
  const { all } = parts()
  await using directory = await TenantDirectory.open(all)
  const tenant = await directory.create(request("a"))
  await directory.delete({ name: "a", owner: { namespace: "default", uid: "vc2" } })
  expect(directory.get("a")).toEqual(tenant)
  await directory.delete({ name: "a", owner: { namespace: "default", uid: "vc" } })
  expect(directory.get("a")).toBeUndefined()
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

test("a tenant that can be neither opened nor removed exists if other gateways have seen its record", async () => {
  const others = { onChange: () => undefined, lastChange: () => 0, forget: () => undefined }
  const { all } = parts({ others })
  const write = all.store.txn.bind(all.store)
  let writes = 0
  all.store.txn = (transaction) => (++writes === 2 ? Promise.reject(new Error("no answer")) : write(transaction))
  all.openControlPlane = () => Promise.reject(new Error("no answer"))
  await using directory = await TenantDirectory.open(all)
  const added: string[] = []
  directory.subscribe({ added: ({ uid }) => added.push(uid) })
  await expect(directory.create(request("a"))).rejects.toThrow("no answer")
  const { records } = await readRecords(all.store)
  expect(added).toEqual(records.map(({ tenant }) => tenant.uid))
  expect(added).toHaveLength(1)
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

/** Control planes that can fall asleep, as nobody changes them. `close` is called when they do. */
function sleeping({ openControlPlane }: TenantDirectoryParts, close: (name: string) => Promise<void>) {
  const watch = (): Watcher => {
    const { promise, resolve: close } = Promise.withResolvers<void>()
    const next = async () => {
      await promise
      return { done: true as const, value: undefined }
    }
    return { revision: 1, close, [Symbol.asyncIterator]: () => ({ next }) }
  }
  const open: TenantDirectoryParts["openControlPlane"] = async (record, life) => {
    const controlPlane = await openControlPlane(record, life)
    const closing = { [Symbol.asyncDispose]: () => close(record.tenant.name) }
    return { ...controlPlane, store: { revision: 1, watch }, ...closing } as unknown as ControlPlane
  }
  return open
}

test("a tenant goes to another process only when it has been closed", async () => {
  const closed = Promise.withResolvers<void>()
  const { all, removed } = parts({ limits: { ...limits, tenantIdleMs: 20 } })
  all.openControlPlane = sleeping(all, () => closed.promise)
  await using directory = await TenantDirectory.open(all)
  await directory.create(request("a"))
  await expect.poll(() => directory.awake).toBe(0)
  expect(await directory.release("a")).toBe(false)
  closed.resolve()
  await expect.poll(() => directory.release("a")).toBe(true)
  expect(directory.get("a")).toBeUndefined()
  // Whoever has it now removes its data.
  expect(removed).toEqual([])
})

test("a tenant is prepared on first use", async () => {
  const prepare = vi.fn(() => Promise.resolve())
  const { all } = parts({ preparation: { isBegun: () => Promise.resolve(false), prepare, ...unkept } })
  await using directory = await TenantDirectory.open(all)
  await directory.create(request("a"))
  const controlPlane = await directory.byName("a")
  expect(prepare).not.toHaveBeenCalled()
  await controlPlane?.begin()
  expect(controlPlane?.begin()).toBeUndefined()
  expect(prepare).toHaveBeenCalledTimes(1)
})

test("a tenant in use is prepared again when it is opened, since the super cluster may have changed", async () => {
  const prepare = vi.fn(() => Promise.resolve())
  const { all } = parts({ preparation: { isBegun: () => Promise.resolve(true), prepare, ...unkept } })
  await using directory = await TenantDirectory.open(all)
  await directory.create(request("a"))
  expect(prepare).toHaveBeenCalledTimes(1)
})

test("an unavailable super cluster delays the first use of a tenant for a limited time", async () => {
  let answers = false
  const prepare = vi.fn(() => (answers ? Promise.resolve() : Promise.reject(new Error("no answer"))))
  const preparation = { isBegun: () => Promise.resolve(false), prepare, ...unkept }
  const { all } = parts({ preparation, limits: { ...limits, tenantReadyMs: 20 } })
  await using directory = await TenantDirectory.open(all)
  expect((await directory.create(request("a"))).name).toBe("a")
  await (await directory.byName("a"))?.begin()
  const calls = prepare.mock.calls.length
  answers = true
  await expect.poll(() => prepare.mock.calls.length).toBeGreaterThan(calls)
})

test("concurrent equal requests create one tenant, and a different one is rejected", async () => {
  const { all } = parts()
  await using directory = await TenantDirectory.open(all)
  const [one, other, conflicting] = await Promise.allSettled([
    directory.create(request("a")),
    directory.create(request("a")),
    directory.create(request("a", "somebody else's")),
  ])
  expect(one).toMatchObject({ status: "fulfilled" })
  expect(other).toEqual(one)
  expect(conflicting).toMatchObject({ status: "rejected", reason: { reason: "AlreadyExists" } })
})

test("subscribers get existing tenants and changes, each once", async () => {
  const { all, disposed } = parts()
  await using directory = await TenantDirectory.open(all)
  await directory.create(request("a"))
  const changes: string[] = []
  const stop = directory.subscribe({
    added: ({ name }) => changes.push(`+${name}`),
    removed: ({ name }) => changes.push(`-${name}`),
  })
  await directory.create(request("b"))
  await Promise.all([directory.delete("a"), directory.delete("a")])
  stop()
  await directory.delete("b")
  expect(changes).toEqual(["+a", "+b", "-a"])
  expect(disposed).toEqual(["a", "b"])
})

test("settings of a tenant change in its record and for all who have it, and are written only if they are new", async () => {
  const { all } = parts()
  await using directory = await TenantDirectory.open(all)
  const tenant = await directory.create(request("a"))
  const switched: boolean[] = []
  directory.subscribe({
    added: () => undefined,
    removed: () => undefined,
    switched: ({ controllers }) => switched.push(controllers),
  })
  for (const settings of [{ quota: { objects: 5 } }, { quota: { objects: 5 }, controllers: false }, {}]) {
    const { revision } = all.store
    const wanted = { ...request("a"), ...settings }
    expect(await directory.create(wanted)).toBe(tenant)
    await directory.create(wanted)
    expect(all.store.revision).toBe(revision + 1)
    expect(tenant).toEqual({ ...wanted, uid: tenant.uid })
    expect((await readRecords(all.store)).records.map((record) => record.tenant)).toEqual([tenant])
  }
  expect(switched).toEqual([false, true])
})

test("that a tenant has a store is recorded once", async () => {
  const { all } = parts()
  const opened: (boolean | undefined)[] = []
  const { openControlPlane } = all
  all.openControlPlane = (record, life) => {
    opened.push(record.isStored)
    return openControlPlane(record, life)
  }
  {
    await using directory = await TenantDirectory.open(all)
    await directory.create(request("a"))
  }
  const { revision } = all.store
  await using directory = await TenantDirectory.open(all)
  await directory.byName("a")
  expect(opened).toEqual([undefined, true])
  expect(all.store.revision).toBe(revision)
})

test("a name can be reused while the previous tenant is being deleted", async () => {
  const { all } = parts()
  await using directory = await TenantDirectory.open(all)
  const first = await directory.create(request("a"))
  const deleting = directory.delete("a")
  const second = await directory.create(request("a", "new"))
  await deleting
  expect(second.uid).not.toBe(first.uid)
  expect(directory.get("a")).toEqual(second)
})

test("a deletion that is meant for a tenant that is gone deletes no other of its name", async () => {
  const { all } = parts()
  await using directory = await TenantDirectory.open(all)
  const first = await directory.create(request("a"))
  await directory.delete(first)
  const second = await directory.create(request("a", "another"))
  await directory.delete(first)
  await expect(directory.kubeconfig(first)).rejects.toMatchObject({ code: 404 })
  expect(directory.get("a")).toEqual(second)
  // At the same time as one that is meant for it.
  await Promise.all([directory.delete(first), directory.delete(second)])
  expect(directory.list()).toEqual([])
})

test.each([
  ["stays awake where it is followed", true],
  ["sleeps where nobody follows it any more", false],
])("a tenant with its own controllers, which may be watched at other gateways, %s", async (_what, isFollowed) => {
  const others = { onChange: () => undefined, lastChange: () => 0, forget: () => undefined }
  const { all } = parts({ others, limits: { ...limits, tenantIdleMs: 20 } })
  const asleep = new Set<string>()
  all.openControlPlane = sleeping(all, async (name) => void asleep.add(name))
  await using directory = await TenantDirectory.open(all)
  const handler = { event() {}, synced() {}, removed() {}, restarted() {} }
  const following = new AbortController()
  directory.watch(namespaces, handler, following.signal)
  if (!isFollowed) following.abort()
  await nextTurn() // followers are told of the tenants that there are
  await directory.create({ ...request("theirs"), controllers: false })
  // What makes others fall asleep could have made it.
  for (const name of ["a", "b"]) {
    await directory.create(request(name))
    await expect.poll(() => asleep).toContain(name)
  }
  expect(asleep.has("theirs")).toBe(!isFollowed)
})

test("a deletion reaches a tenant of another gateway whose record has not been seen here", async () => {
  const store = createMemoryStore()
  const others = { onChange: () => undefined, lastChange: () => 0, forget: () => undefined }
  const { all, removed } = parts({ store, others })
  const watch = store.watch.bind(store)
  vi.spyOn(store, "watch").mockImplementationOnce((_prefix, options) => watch("/nothing/", options))
  await using behind = await TenantDirectory.open(all)
  await using other = await TenantDirectory.open(all)
  const tenant = await other.create(request("a"))
  await behind.delete(tenant)
  expect((await readRecords(store)).records).toEqual([])
  await other.create(request("b"))
  await behind.delete({ name: "b", uid: "another" })
  expect((await readRecords(store)).records).toHaveLength(1)
  expect(removed).toEqual([tenant.uid])
})

test("a client is of the tenant that has the name when it is made, and not of the next one", async () => {
  const answered: string[] = []
  const { all } = parts()
  const openControlPlane: TenantDirectoryParts["openControlPlane"] = async (record, life) => {
    const get = (): Promise<unknown> => Promise.resolve(answered.push(record.tenant.uid))
    return Object.assign(await all.openControlPlane(record, life), { client: { get } })
  }
  await using directory = await TenantDirectory.open({ ...all, openControlPlane })
  const early = directory.client("a")
  const first = await directory.create(request("a"))
  const client = directory.client("a")
  await client.get(namespaces, undefined, "default")
  await directory.delete("a")
  const second = await directory.create(request("a", "another"))
  await expect(client.get(namespaces, undefined, "default")).rejects.toMatchObject({ code: 404 })
  for (const of of [directory.client("a"), early]) await of.get(namespaces, undefined, "default")
  expect(answered).toEqual([first.uid, second.uid, second.uid])
})
