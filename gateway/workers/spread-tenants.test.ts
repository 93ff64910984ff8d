// What the primary passes on to the owners of tenants, whose lists of their tenants may be behind.

import { setImmediate as turn } from "node:timers/promises"
import { describe, expect, test, vi } from "vitest"
import { createRandom } from "../../apimachinery/testing/random.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import { TenantInformer } from "../../client/informers/tenant-informer.ts"
import { silentLog } from "../../client/log.ts"
import { configMaps, namespaces } from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"
import type { Tenant, TenantIdentity, TenantUse, TenantWatchHandler } from "../../client/tenants.ts"
import { createMemoryStore } from "../../storage/memory/store.ts"
import { fakeTenant } from "../../syncer/testing/fake-tenants.ts"
import { createRecord, readRecords, type TenantRecord } from "../tenancy/tenant-record.ts"
import type { WorkerPool } from "./pool.ts"
import { primary, Routes } from "./routes.ts"
import { SpreadTenants } from "./spread-tenants.ts"
import { FakeWorkers } from "./testing/fake-workers.ts"

async function begin({ store = createMemoryStore(), remove = async (_uid: string): Promise<void> => undefined } = {}) {
  const troubles = { random: createRandom(1), failing: 0, inUse: 0 }
  const pool = new FakeWorkers(1, () => spread.allRoutes(), troubles)
  const removed: string[] = []
  const spread: SpreadTenants = await SpreadTenants.open({
    issuerOf: (name) => name,
    addressOf: () => ({ server: "", certificateAuthority: "" }),
    pool: pool as unknown as WorkerPool,
    store,
    routes: new Routes(primary),
    removeStore: async (uid) => {
      await remove(uid)
      removed.push(uid)
    },
    log: silentLog,
  })
  await spread.start()
  return { pool, spread, store, removed, troubles }
}

test("a start does not fail for what it cannot remove of a deleted tenant, and the next one removes it", async () => {
  const store = createMemoryStore()
  for (const [name, state] of [["a", "deleting"] as const, ["b", "active"] as const])
    await createRecord(store, { tenant: { ...fakeTenant(name), uid: name }, createdAt: "", state, issuer: name })
  const first = await begin({ store, remove: () => Promise.reject(new Error("the disk is damaged")) })
  expect(first.spread.list().map(({ name }) => name)).toEqual(["b"])
  await first.spread[Symbol.asyncDispose]()
  const { spread, removed } = await begin({ store })
  await using _ = spread
  expect([removed, (await readRecords(store)).records.map(({ tenant }) => tenant.name)]).toEqual([["a"], ["b"]])
})

test("that a tenant has a store is recorded when its owner says so, and its next owner knows it", async () => {
  const { pool, spread, store } = await begin()
  await using _ = spread
  const tenant = await spread.create(fakeTenant("a"))
  expect(await spread.recordStored({ ...tenant, uid: "a former one" })).toBe(false)
  const marks = async (): Promise<unknown[]> => (await readRecords(store)).records.map(({ isStored }) => isStored)
  expect(await marks()).toEqual([undefined])
  expect(await spread.recordStored(tenant)).toBe(true)
  expect(await marks()).toEqual([true])
  for (const process of pool.processes) await pool.kill(process)
  await expect.poll(() => pool.processes.map(({ tenants }) => tenants.get("a")?.isStored)).toEqual([true])
})

test.each([
  { how: "has succeeded", isMade: true, marks: [true] },
  { how: "fails", isMade: false, marks: [] },
])("that a tenant has a store is not recorded before its creation $how", async ({ isMade, marks }) => {
  const { pool, spread, store } = await begin()
  await using _ = spread
  const marked = async (): Promise<unknown[]> => (await readRecords(store)).records.map(({ isStored }) => isStored)
  const [begun, made] = [Promise.withResolvers<TenantRecord>(), Promise.withResolvers<void>()]
  const [process] = pool.processes
  vi.spyOn(process!.worker.channel, "call").mockImplementationOnce((_name, record) => {
    begun.resolve(record as TenantRecord)
    return made.promise as Promise<never>
  })
  const creating = Promise.allSettled([spread.create(fakeTenant("a"))])
  const recording = spread.recordStored((await begun.promise).tenant)
  for (let left = 10; left > 0; left--) await turn()
  expect(await marked()).toEqual([undefined])
  if (isMade) made.resolve()
  else made.reject(new Error("no space left on device"))
  expect(await recording).toBe(isMade)
  await creating
  expect(await marked()).toEqual(marks)
})

test("followers of tenants are told of changed settings", async () => {
  const { spread } = await begin()
  await using _ = spread
  const told: unknown[] = []
  const made = await spread.create(fakeTenant("a"))
  spread.subscribe({ changed: ({ quota }) => told.push(quota) })
  await spread.create({ ...made, quota: { pods: 3 } })
  await spread.create({ ...made, quota: { pods: 3 } })
  expect(told).toEqual([{ pods: 3 }])
})

test("an owner is told what is no use of its tenant", async () => {
  const { pool, spread } = await begin()
  await using _ = spread
  const uses: unknown[] = []
  const client = (_tenant: TenantIdentity, use?: TenantUse) => {
    uses.push(use?.isUse ?? true)
    return { get: () => Promise.resolve({}) }
  }
  const wake = (_tenant: string, use?: TenantUse) => void uses.push(use?.isUse ?? true)
  for (const { worker } of pool.processes) Object.assign(worker, { tenants: { client, wake } })
  await spread.create(fakeTenant("a"))
  for (const use of [{ isUse: false }, { isUse: true }, undefined]) {
    await spread.client("a", use).get(namespaces, undefined, "default")
    spread.wake("a", use)
  }
  expect(uses).toEqual([false, false, true, true, true, true])
})

test("an owner is told for which tenant it is called, and nothing is done to the next one of the name", async () => {
  const { pool, spread } = await begin()
  await using _ = spread
  const asked: (string | TenantIdentity)[] = []
  const get = (): Promise<unknown> => Promise.resolve({})
  const client = (tenant: string | TenantIdentity) => {
    asked.push(tenant)
    return { get }
  }
  const kubeconfig = (tenant: string | TenantIdentity) => Promise.resolve(String(asked.push(tenant)))
  for (const { worker } of pool.processes) Object.assign(worker, { tenants: { client, kubeconfig } })

  const first = await spread.create(fakeTenant("a"))
  const early = spread.client("a")
  await early.get(namespaces, undefined, "default")
  await spread.delete(first)
  const second = await spread.create(fakeTenant("a", { virtualCluster: { namespace: "b", name: "a", uid: "another" } }))
  expect(second.uid).not.toBe(first.uid)
  await spread.delete(first)
  await expect(early.get(namespaces, undefined, "default")).rejects.toMatchObject({ code: 404 })
  await expect(spread.kubeconfig(first)).rejects.toMatchObject({ code: 404 })
  await spread.client("a").get(namespaces, undefined, "default")
  await spread.kubeconfig("a")
  expect(asked.map((tenant) => (typeof tenant === "string" ? tenant : tenant.uid))).toEqual([
    first.uid,
    second.uid,
    second.uid,
  ])
})

test("a stream that is behind gives nothing of a deleted tenant to the next one of its name", async () => {
  const { pool, spread } = await begin()
  await using _ = spread
  const handlers: TenantWatchHandler<KubeObject>[] = []
  const watch = (_resource: Resource, handler: TenantWatchHandler<KubeObject>) => void handlers.push(handler)
  for (const { worker } of pool.processes) Object.assign(worker, { tenants: { watch } })
  const informer = new TenantInformer(spread, configMaps)
  informer.start(new AbortController().signal)
  const [stream] = handlers
  const deliver = (name: string) =>
    stream?.event({
      tenant: "a",
      type: "ADDED",
      object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default", uid: name } },
    })
  const names = (): unknown[] => informer.list("a").map(({ metadata }) => metadata.name)

  await spread.create(fakeTenant("a"))
  deliver("early")
  stream?.synced("a")
  expect(names()).toEqual(["early"])
  await spread.delete("a")
  await spread.create(fakeTenant("a", { virtualCluster: { namespace: "b", name: "a", uid: "another" } }))
  deliver("late")
  stream?.removed("a")
  // Nobody uses it yet.
  expect(names()).toEqual([])
  deliver("new")
  stream?.synced("a")
  expect(names()).toEqual(["new"])
})

test("the deletion of a tenant whose creation has failed is recorded although its worker cannot remove it", async () => {
  const { pool, spread, store } = await begin()
  await using _ = spread
  for (const { worker } of pool.processes)
    Object.assign(worker.channel, { call: (name: string) => Promise.reject(new Error(`no ${name}`)) })
  await expect(spread.create(fakeTenant("a"))).rejects.toThrow("no create")
  expect((await readRecords(store)).records.map(({ state }) => state)).toEqual(["deleting"])
})

test("a tenant that its worker could not remove has no route, and is removed by the worker before its data is", async () => {
  const { pool, spread, removed, troubles } = await begin()
  await using _ = spread
  const [process] = pool.processes
  const { uid } = await spread.create(fakeTenant("a"))
  troubles.failing = 1
  await expect(spread.delete("a")).rejects.toThrow("its store cannot be closed or opened")
  expect([process?.routes.get("a"), process?.tenants.has("a"), removed]).toEqual([undefined, true, []])
  troubles.failing = 0
  await spread.delete("a")
  expect([process?.tenants.has("a"), removed]).toEqual([false, [uid]])
})

describe.each([
  ["that can be neither created nor removed", 2, "its store cannot be closed or opened"],
  ["of which it is not known that its record was written", 1, "disk full"],
])("a tenant %s", (_what, unknown, reason) => {
  async function beginWithLeft() {
    const { pool, spread, store, troubles } = await begin()
    const added: Tenant[] = []
    spread.subscribe({ added: (tenant) => added.push(tenant) })
    const write = store.txn.bind(store)
    let writes = 0
    store.txn = async (transaction) => {
      const isUnknown = ++writes === unknown
      // When the record is to be changed, the disk is full.
      if (isUnknown && writes > 1) throw new Error("disk full")
      const result = await write(transaction)
      if (isUnknown) throw new Error("disk full")
      return result
    }
    troubles.failing = 1
    await expect(spread.create(fakeTenant("a"))).rejects.toThrow(reason)
    troubles.failing = 0
    const records = async (): Promise<Tenant[]> => (await readRecords(store)).records.map(({ tenant }) => tenant)
    return { pool, spread, added, records }
  }

  test.each(["uid-of-a", "another"])("does not exist, and is made anew (for %s)", async (uid) => {
    const { pool, spread, added, records } = await beginWithLeft()
    await using _ = spread
    expect([spread.get("a"), spread.list(), added]).toEqual([undefined, [], []])
    const tenant = await spread.create(fakeTenant("a", { virtualCluster: { namespace: "default", name: "a", uid } }))
    expect(tenant.virtualCluster.uid).toBe(uid)
    expect(added).toEqual([tenant])
    expect(await records()).toEqual([tenant])
    expect(pool.processes.map(({ tenants }) => tenants.get("a")?.tenant.uid)).toEqual([tenant.uid])
  })

  test("is removed when its owner deletes it", async () => {
    const { spread, records } = await beginWithLeft()
    await using _ = spread
    await spread.delete({ name: "a", owner: { namespace: "default", uid: "another" } })
    expect(await records()).toHaveLength(1)
    await spread.delete({ name: "a", owner: { namespace: "default", uid: "uid-of-a" } })
    expect(await records()).toEqual([])
  })
})

test("who begins to follow tenants while one is created is told of it once", async () => {
  const { pool, spread } = await begin()
  await using _ = spread
  const told: string[] = []
  const broadcast = pool.broadcast.bind(pool)
  using _routes = vi.spyOn(pool, "broadcast").mockImplementationOnce((...given) => {
    spread.subscribe({ added: ({ name }) => told.push(name) })
    return broadcast(...given)
  })
  await spread.create(fakeTenant("a"))
  expect(told).toEqual(["a"])
})
