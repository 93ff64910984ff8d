// What the directory answers and tells its followers, with one operation after the other and several at once.

import { expect, test, vi } from "vitest"
import { namespaces } from "../../client/resources.ts"
import { Turns } from "../request/turns.ts"
import { limits, parts, request, sleeping, unkept } from "./testing/directory-parts.ts"
import { TenantDirectory, type TenantDirectoryParts } from "./tenant-directory.ts"
import { readRecords } from "./tenant-record.ts"

test("a tenant belongs to its owner as long as it exists", async () => {
  const { all } = parts()
  await using directory = await TenantDirectory.open(all)
  const tenant = await directory.create(request("a"))
  await directory.delete({ name: "a", owner: { namespace: "default", uid: "vc2" } })
  expect(directory.get("a")).toEqual(tenant)
  await directory.delete({ name: "a", owner: { namespace: "default", uid: "vc" } })
  expect(directory.get("a")).toBeUndefined()
})

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

test("that a tenant has a store is told to the process that has its record, also if an earlier one was not told", async () => {
  const recordStored = vi.fn(() => Promise.resolve(true))
  const { all } = parts({ recordStored })
  await using directory = await TenantDirectory.open(all)
  const tenant = { ...request("a"), uid: "1" }
  await directory.adopt({ tenant, createdAt: "2026-01-01T00:00:00Z", state: "active", issuer: "a" }, false)
  expect(recordStored).not.toHaveBeenCalled()
  await directory.byName("a")
  await expect.poll(() => recordStored.mock.calls).toEqual([[tenant]])
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

test("the gateway's own parts let others have their turn, if the tenant is awake", async () => {
  let now = 0
  const turns = new Turns({ now: () => now })
  const { all } = parts()
  const { openControlPlane } = all
  all.openControlPlane = async (...opening) => ({ ...(await openControlPlane(...opening)), turns })
  await using directory = await TenantDirectory.open(all)
  await directory.create(request("a"))
  expect(directory.pause("a")).toBeUndefined()
  now += 3
  expect(directory.pause("a")).toBeUndefined()
  now += 3
  const pause = directory.pause("a")
  expect(directory.pause("nobody")).toBeUndefined()
  expect(pause).toBeInstanceOf(Promise)
  await pause
  expect(directory.pause("a")).toBeUndefined()
})
