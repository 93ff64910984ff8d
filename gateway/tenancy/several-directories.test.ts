// Several gateways on one storage: what one does, the others take over.

import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test, vi } from "vitest"
import { namespaces } from "../../client/resources.ts"
import { createMemoryStore } from "../../storage/memory/store.ts"
import type { Store, Watcher } from "../../storage/types.ts"
import { limits, parts, request, sleeping } from "./testing/directory-parts.ts"
import { TenantDirectory, type TenantDirectoryParts } from "./tenant-directory.ts"
import { readRecords } from "./tenant-record.ts"

const others = { onChange: () => undefined, lastChange: () => 0, forget: () => undefined }

test("a tenant that can be neither opened nor removed exists if other gateways have seen its record", async () => {
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

test.each([
  ["stays awake where it is followed", true],
  ["sleeps where nobody follows it any more", false],
])("a tenant with its own controllers, which may be watched at other gateways, %s", async (_what, isFollowed) => {
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
  expect(new Set(removed)).toEqual(new Set([tenant.uid]))
})

/** Two gateways on one storage. */
async function openTwo(more: Partial<TenantDirectoryParts> = {}) {
  const { all, removed } = parts({ others, ...more })
  return { all, removed, first: await TenantDirectory.open(all), second: await TenantDirectory.open(all) }
}

test("a tenant that one gateway has answered for stays although another one could not open it", async () => {
  const opening = Promise.withResolvers<never>()
  const { all, removed, first, second } = await openTwo()
  const open = all.openControlPlane
  await using _first = first
  await using _second = second
  let opened = 0
  all.openControlPlane = (...given) => (++opened === 1 ? opening.promise : open(...given))
  const failing = first.create(request("a"))
  await expect.poll(() => second.get("a")).toBeDefined()
  const tenant = await second.create(request("a"))
  opening.reject(new Error("no answer"))
  await expect(failing).rejects.toThrow("no answer")
  await first.lookup.settle?.()
  expect([first.get("a"), second.get("a"), removed]).toEqual([tenant, tenant, []])
  expect((await first.byName("a"))?.name).toBe("a")
})

test("a tenant is known of which another gateway has told while an operation on its name failed", async () => {
  const { all, first, second } = await openTwo()
  await using _first = first
  await using _second = second
  const { store } = all
  await first.create(request("a"))
  const [txn, get] = [store.txn.bind(store), store.get.bind(store)]
  // Nobody reaches the storage when the record is to be removed: it has been, which nobody knows.
  const isLast = vi.spyOn(store, "txn").mockImplementation(async (transaction) => {
    const result = await txn(transaction)
    if (transaction.operations[0]?.type !== "delete") return result
    isLast.mockRestore()
    await second.create(request("a", "new"))
    store.get = () => Promise.reject(new Error("no answer"))
    throw new Error("no answer")
  })
  await expect(first.delete("a")).rejects.toThrow("no answer")
  store.get = get
  await first.lookup.settle?.()
  expect(first.get("a")).toEqual(second.get("a"))
})

test("that a tenant has a store is known to all gateways when it is recorded", async () => {
  const { all, first, second } = await openTwo()
  await using _first = first
  await using _second = second
  await second.create(request("a"))
  await expect.poll(async () => (await readRecords(all.store)).records[0]?.isStored).toBe(true)
  const opened: (boolean | undefined)[] = []
  const open = all.openControlPlane
  all.openControlPlane = (record, life) => {
    opened.push(record.isStored)
    return open(record, life)
  }
  await first.lookup.settle?.()
  await first.byName("a")
  expect(opened).toEqual([true])
})

test("what a gateway makes of a tenant that another one has deleted meanwhile is removed", async () => {
  const { all, removed, first, second } = await openTwo()
  await using _first = first
  await using _second = second
  const opening = Promise.withResolvers<void>()
  const open = all.openControlPlane
  all.openControlPlane = async (...given) => {
    await opening.promise
    removed.length = 0 // by the deletion
    return open(...given)
  }
  const creating = first.create(request("a"))
  await expect.poll(() => second.get("a")).toBeDefined()
  await second.delete("a")
  opening.resolve()
  const { uid } = await creating
  await expect.poll(() => removed).toEqual([uid])
  expect(first.list()).toEqual([])
})

/** Of two gateways one that can lose its watch of the records, and whose calls can be held. */
async function openOneBehind() {
  const { all, removed } = parts({ others })
  const { store } = all
  const calls = { range: Promise.resolve(), txn: Promise.resolve(), watch: () => {} }
  let watcher: Watcher | undefined
  const held = {
    get: (key: string) => store.get(key),
    latest: () => store.latest(),
    range: async (prefix: string) => {
      const result = await store.range(prefix)
      await calls.range
      return result
    },
    txn: async (transaction: Parameters<Store["txn"]>[0]) => {
      await calls.txn
      return store.txn(transaction)
    },
    watch: (...given: Parameters<Store["watch"]>) => {
      calls.watch()
      return (watcher = store.watch(...given))
    },
  } as unknown as Store
  const behind = await TenantDirectory.open({ ...all, store: held })
  const other = await TenantDirectory.open(all)
  /** From now on it reads all records, and gets the answer when the function is called. */
  const cut = async (): Promise<() => void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    calls.range = promise
    watcher?.close()
    await nextTurn()
    return resolve
  }
  /** A creation there, whose record is written when the function is called. */
  const begin = async () => {
    const { promise, resolve: write } = Promise.withResolvers<void>()
    calls.txn = promise
    const creating = behind.create(request("a"))
    await nextTurn()
    await nextTurn()
    return { creating, write }
  }
  return { store, removed, calls, behind, other, cut, begin }
}

test("a tenant that was created while all records were read again stays, as do its data", async () => {
  const { store, removed, behind, other, cut, begin } = await openOneBehind()
  await using _behind = behind
  await using _other = other
  const told: string[] = []
  behind.subscribe({ added: ({ uid }) => told.push(uid), removed: ({ uid }) => told.push(`not ${uid}`) })
  const { creating, write } = await begin()
  const answer = await cut()
  write()
  const { uid } = await creating
  answer()
  await behind.lookup.settle?.()
  await nextTurn()
  expect([told, removed, behind.get("a")?.uid]).toEqual([[uid], [], uid])
  expect((await readRecords(store)).records).toMatchObject([{ tenant: { uid }, state: "active" }])
})

test("a record that cannot be read concerns its own tenant only, also when all are read again", async () => {
  const { store, removed, behind, other, cut } = await openOneBehind()
  await using _behind = behind
  await using _other = other
  const damaged = await behind.create(request("damaged"))
  await other.create(request("a"))
  await store.txn({ compare: [], operations: [{ type: "put", key: "/tenants/damaged", value: Buffer.from("{") }] })
  for (const name of ["b", "c"]) {
    await behind.create(request(name))
    await expect(behind.address("unknown")).rejects.toThrow("not found")
    const answer = await cut()
    answer()
  }
  await other.delete("a")
  await behind.lookup.settle?.()
  expect([behind.get("a"), behind.get("c")?.name, behind.get("damaged")]).toEqual([undefined, "c", damaged])
  expect(removed).not.toContain(damaged.uid)
})

test("what others have done while all records are read again is known to the next operations", async () => {
  const { store, behind, other, cut } = await openOneBehind()
  await using _behind = behind
  await using _other = other
  const before = await other.create(request("a"))
  await behind.create(request("b"))
  const answer = await cut()
  for (const name of ["a", "b"]) await other.delete(name)
  const next = await other.create(request("b", "next"))
  const operations = Promise.all([behind.create(request("a")), behind.delete("b")])
  await nextTurn()
  answer()
  const [{ uid }] = await operations
  expect([before.uid, next.uid]).not.toContain(uid)
  expect((await readRecords(store)).records.map(({ tenant }) => tenant.uid)).toEqual([uid])
  expect(behind.list().map((tenant) => tenant.uid)).toEqual([uid])
})

test("a tenant that another gateway was faster to create is known to both, even if the watch of the records was lost", async () => {
  const { behind, other, cut, begin } = await openOneBehind()
  await using _behind = behind
  await using _other = other
  const { creating, write } = await begin()
  const answer = await cut()
  const tenant = await other.create(request("a"))
  write()
  void nextTurn().then(answer)
  expect(await creating).toEqual(tenant)
  expect(behind.get("a")).toEqual(tenant)
})

test("operations fail with the storage's error while the records cannot be followed, and no longer", async () => {
  const { calls, behind, other, cut } = await openOneBehind()
  await using _behind = behind
  await using _other = other
  await other.create(request("a"))
  calls.watch = () => {
    throw new Error("no answer")
  }
  ;(await cut())()
  await expect(behind.create(request("b"))).rejects.toThrow("no answer")
  await expect(behind.delete("a")).rejects.toThrow("no answer")
  await expect(behind.address("b")).rejects.toThrow("no answer")
  calls.watch = () => {}
  await behind.delete("a")
  expect([behind.list(), (await behind.create(request("b"))).name]).toEqual([[], "b"])
})

test("what waits for the records ends when the gateway does", async () => {
  const { behind, other, cut } = await openOneBehind()
  await using _other = other
  const answer = await cut()
  const waiting = expect(behind.create(request("a"))).rejects.toMatchObject({ code: "Closed" })
  await nextTurn()
  const closing = behind[Symbol.asyncDispose]()
  answer()
  await Promise.all([waiting, closing])
})
