// The guarantees of storage/types.ts as tests, for every implementation, with and without a base layer.

import { afterEach, describe, expect, test } from "vitest"
import { createBaseLayer } from "./base-layer.ts"
import { compareKeys } from "../key-order.ts"
import type { StoreLimits } from "../limits.ts"
import { StorageError, type BaseLayer, type KeyValue, type Store, type StoreEvent, type Watcher } from "../types.ts"

export interface StoreSuite {
  name: string
  /** A new, empty store. The suite disposes of it. */
  open(options: { base?: BaseLayer; limits?: Partial<StoreLimits> }): Promise<Store>
}

const bytes = (text: string): Uint8Array => Buffer.from(text)
const text = (value: Uint8Array | undefined): string | undefined => value && Buffer.from(value).toString()
const show = (kv: KeyValue | undefined): string | undefined =>
  kv && `${kv.key}=${text(kv.value)} ${kv.createRevision}/${kv.modRevision}`
const showEvent = (event: StoreEvent): string =>
  `${event.type} ${show(event.current)}${event.previous ? ` was ${show(event.previous)}` : ""}`
const names = (items: readonly KeyValue[]): string[] => items.map((item) => item.key)

export const put = (store: Store, key: string, value: string) =>
  store.txn({ compare: [], operations: [{ type: "put", key, value: bytes(value) }] })
export const remove = (store: Store, key: string) => store.txn({ compare: [], operations: [{ type: "delete", key }] })

const code = (expected: string): unknown =>
  expect.toSatisfy(
    (error: unknown) => error instanceof StorageError && error.code === expected,
    `StorageError ${expected}`,
  )

/** Reads events until there are `count`. */
async function take(watcher: Watcher, count: number): Promise<string[]> {
  const events: string[] = []
  const iterator = watcher[Symbol.asyncIterator]()
  while (events.length < count) {
    const batch = await iterator.next()
    if (batch.done) break
    events.push(...batch.value.map(showEvent))
  }
  return events
}

export function storeSuite(suite: StoreSuite): void {
  const stores: Store[] = []
  const open = async (options: { base?: BaseLayer; limits?: Partial<StoreLimits> } = {}): Promise<Store> => {
    const store = await suite.open(options)
    stores.push(store)
    return store
  }
  afterEach(async () => {
    for (const store of stores.splice(0)) await store[Symbol.asyncDispose]()
  })
  const base = createBaseLayer([
    ["/zz/base", bytes("z")],
    ["/aa/base", bytes("a")],
  ])
  describe(suite.name, () => promises(() => open()))
  describe(`${suite.name} on a base layer`, () => promises(() => open({ base })))
  describe(`${suite.name}: base layer`, () => baseLayer(open))
  describe(`${suite.name}: limits`, () => limits(open))
}

function promises(open: () => Promise<Store>): void {
  describe("txn()", () => transactions(open))
  describe("range()", () => ranges(open))
  describe("history", () => history(open))
  describe("watch()", () => watches(open))
  describe("dispose", () => disposal(open))
}

function transactions(open: () => Promise<Store>): void {
  test("a new store is at revision 1 with nothing compacted", async () => {
    const store = await open()
    expect([store.revision, store.compactedRevision]).toEqual([1, 0])
    expect(await store.get("/a")).toBeUndefined()
  })

  test("each transaction gets the next revision, and a key records its first and last", async () => {
    const store = await open()
    expect(await put(store, "/a", "1")).toEqual({ succeeded: true, revision: 2 })
    expect(await put(store, "/a", "2")).toEqual({ succeeded: true, revision: 3 })
    expect(show(await store.get("/a"))).toBe("/a=2 2/3")
    expect(store.revision).toBe(3)
  })

  test("a failed comparison writes nothing and returns the current state in the order of the comparisons", async () => {
    const store = await open()
    await put(store, "/a", "1")
    const result = await store.txn({
      compare: [
        { key: "/b", modRevision: 0 },
        { key: "/a", modRevision: 7 },
      ],
      operations: [{ type: "put", key: "/b", value: bytes("x") }],
    })
    expect(result.succeeded).toBe(false)
    expect(result.revision).toBe(2)
    expect(result.succeeded ? [] : result.current.map(show)).toEqual([undefined, "/a=1 2/2"])
    expect(await store.get("/b")).toBeUndefined()
    expect(store.revision).toBe(2)
  })

  test("modRevision 0 means that the key must not exist, also after it was deleted", async () => {
    const store = await open()
    const create = (value: string) =>
      store.txn({
        compare: [{ key: "/a", modRevision: 0 }],
        operations: [{ type: "put", key: "/a", value: bytes(value) }],
      })
    expect((await create("1")).succeeded).toBe(true)
    expect((await create("2")).succeeded).toBe(false)
    await remove(store, "/a")
    expect(await create("3")).toEqual({ succeeded: true, revision: 4 })
    expect(show(await store.get("/a"))).toBe("/a=3 4/4")
  })

  test("transactions that change nothing take no revision", async () => {
    const store = await open()
    await put(store, "/a", "1")
    expect(await store.txn({ compare: [{ key: "/a", modRevision: 2 }], operations: [] })).toMatchObject({ revision: 2 })
    expect(await remove(store, "/missing")).toEqual({ succeeded: true, revision: 2 })
    expect(await store.txn({ compare: [], operations: [] })).toEqual({ succeeded: true, revision: 2 })
    expect(store.revision).toBe(2)
  })

  test("the operations of a transaction happen together at one revision", async () => {
    const store = await open()
    await put(store, "/a", "1")
    await store.txn({
      compare: [],
      operations: [
        { type: "delete", key: "/a" },
        { type: "put", key: "/b", value: bytes("2") },
        { type: "put", key: "/c", value: bytes("3") },
      ],
    })
    expect(await store.get("/a")).toBeUndefined()
    expect(show(await store.get("/b"))).toBe("/b=2 3/3")
    expect(show(await store.get("/c"))).toBe("/c=3 3/3")
  })

  test("of concurrent creations of a key exactly one succeeds", async () => {
    const store = await open()
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        store.txn({
          compare: [{ key: "/a", modRevision: 0 }],
          operations: [{ type: "put", key: "/a", value: bytes(String(i)) }],
        }),
      ),
    )
    expect(results.filter((result) => result.succeeded)).toHaveLength(1)
    expect(store.revision).toBe(2)
  })

  test("concurrent read-modify-write loses no update", async () => {
    const store = await open()
    await put(store, "/n", "0")
    const increment = async (): Promise<void> => {
      for (;;) {
        const current = await store.get("/n")
        const value = bytes(String(Number(text(current?.value)) + 1))
        const compare = [{ key: "/n", modRevision: current?.modRevision ?? 0 }]
        const result = await store.txn({ compare, operations: [{ type: "put", key: "/n", value }] })
        if (result.succeeded) return
      }
    }
    await Promise.all(Array.from({ length: 20 }, increment))
    expect(text((await store.get("/n"))?.value)).toBe("20")
  })

  test("an acknowledged write is visible to the next read, and never in part", async () => {
    const store = await open()
    const writes = Array.from({ length: 30 }, async (_, i) => {
      const { revision } = await put(store, `/k/${i}`, "x")
      expect(store.revision).toBeGreaterThanOrEqual(revision)
      expect((await store.get(`/k/${i}`))?.modRevision).toBe(revision)
    })
    const read = async (): Promise<void> => {
      const { items, revision } = await store.range("/k/")
      expect(Math.max(1, ...items.map((item) => item.modRevision))).toBe(items.length === 0 ? 1 : revision)
      expect(items).toHaveLength(revision - 1)
    }
    await Promise.all([...writes, ...Array.from({ length: 20 }, read)])
  })

  test("stored values do not change when the caller reuses its buffer", async () => {
    const store = await open()
    const value = bytes("first")
    const written = store.txn({ compare: [], operations: [{ type: "put", key: "/a", value }] })
    await written
    value.fill(0)
    expect(text((await store.get("/a"))?.value)).toBe("first")
  })

  test("values may be empty and contain any byte", async () => {
    const store = await open()
    const all = Uint8Array.from({ length: 256 }, (_, i) => i)
    await store.txn({
      compare: [],
      operations: [
        { type: "put", key: "/all", value: all },
        { type: "put", key: "/none", value: new Uint8Array() },
      ],
    })
    expect([...((await store.get("/all"))?.value ?? [])]).toEqual([...all])
    expect((await store.get("/none"))?.value).toHaveLength(0)
  })

  test("invalid keys and repeated writes of a key throw an error", async () => {
    const store = await open()
    await expect(put(store, "", "x")).rejects.toThrow(TypeError)
    await expect(put(store, "/a\0b", "x")).rejects.toThrow(TypeError)
    await expect(put(store, "/\ud800", "x")).rejects.toThrow(TypeError)
    const twice = { type: "put", key: "/a", value: bytes("x") } as const
    await expect(store.txn({ compare: [], operations: [twice, twice] })).rejects.toThrow("twice")
  })
}

function ranges(open: () => Promise<Store>): void {
  const keys = ["/p/", "/p/a", "/p/a/b", "/p/a0", "/p/b", "/p/\u{7f}", "/p/é", "/p/\u{ffee}", "/p/\u{1f600}"]

  const filled = async (): Promise<Store> => {
    const store = await open()
    for (const key of ["/o", "/p", ...keys.toReversed(), "/q"]) await put(store, key, key)
    return store
  }

  test("returns the keys with the prefix in byte order", async () => {
    const store = await filled()
    const { items, more, revision } = await store.range("/p/")
    expect(names(items)).toEqual(keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
    expect(names(items)).toEqual(keys.toSorted(compareKeys))
    expect([more, revision]).toEqual([false, store.revision])
    expect(items.every((item) => text(item.value) === item.key)).toBe(true)
  })

  test("pages with limit and after return every key once", async () => {
    const store = await filled()
    for (const limit of [1, 2, 4, 9, 10]) {
      const found: string[] = []
      for (let after: string | undefined; ;) {
        const page = await store.range("/p/", { limit, count: true, ...(after === undefined ? {} : { after }) })
        found.push(...names(page.items))
        expect(page.remaining).toBe(keys.length - found.length)
        expect(page.more).toBe(found.length < keys.length)
        if (!page.more) break
        after = found.at(-1)
      }
      expect(found).toEqual(keys)
    }
  })

  test("`after` may be a key that does not exist, before the prefix, or beyond it", async () => {
    const store = await filled()
    const after = async (key: string): Promise<number> => (await store.range("/p/", { after: key })).items.length
    expect(await after("/p/a/")).toBe(7)
    expect(await after("/a")).toBe(keys.length)
    expect(await after("/p/zzz")).toBe(4)
    expect(await after("/q")).toBe(0)
  })

  test("may end when its values have the given length, and continues at the same revision", async () => {
    const store = await open()
    const large = Array.from({ length: 40 }, (_, index) => `/large/${String(index).padStart(2, "0")}`)
    for (const key of large) await put(store, key, "x".repeat(50_000))
    const found: string[] = []
    let revision: number | undefined
    for (let after: string | undefined; ; after = found.at(-1)) {
      const options = { limit: 30, limitBytes: 200_000, ...(after === undefined ? {} : { after, revision: revision! }) }
      const page = await store.range("/large/", { ...options, count: true })
      revision ??= page.revision
      await put(store, "/large/10", "changed")
      expect(page.items.length).toBeLessThanOrEqual(30)
      found.push(...names(page.items))
      expect([page.remaining, page.more]).toEqual([large.length - found.length, found.length < large.length])
      expect(page.items.every(({ value }) => value.byteLength === 50_000)).toBe(true)
      if (!page.more) break
    }
    expect(found).toEqual(large)
  })

  test("an unknown prefix is empty, and limit 0 only counts", async () => {
    const store = await filled()
    expect(await store.range("/none/")).toEqual({ items: [], revision: store.revision, more: false })
    const { items, more, remaining } = await store.range("/p/", { limit: 0, count: true })
    expect([items.length, more, remaining]).toEqual([0, true, keys.length])
  })

  test("many keys are returned completely", async () => {
    const store = await open()
    await Promise.all(Array.from({ length: 2500 }, (_, i) => put(store, `/many/${String(i).padStart(5, "0")}`, "x")))
    const { items } = await store.range("/many/")
    expect(items).toHaveLength(2500)
    expect(names(items)).toEqual(names(items).toSorted(compareKeys))
    expect((await store.range("/many/", { limit: 1001, count: true })).remaining).toBe(1499)
  })
}

function history(open: () => Promise<Store>): void {
  const filled = async (): Promise<Store> => {
    const store = await open()
    await put(store, "/h/a", "1") // 2
    await put(store, "/h/b", "1") // 3
    await put(store, "/h/a", "2") // 4
    await remove(store, "/h/b") // 5
    await put(store, "/h/c", "1") // 6
    await put(store, "/h/b", "2") // 7
    await put(store, "/h/a", "3") // 8
    return store
  }
  const states: Record<number, string[]> = {
    1: [],
    2: ["/h/a=1 2/2"],
    3: ["/h/a=1 2/2", "/h/b=1 3/3"],
    4: ["/h/a=2 2/4", "/h/b=1 3/3"],
    5: ["/h/a=2 2/4"],
    6: ["/h/a=2 2/4", "/h/c=1 6/6"],
    7: ["/h/a=2 2/4", "/h/b=2 7/7", "/h/c=1 6/6"],
    8: ["/h/a=3 2/8", "/h/b=2 7/7", "/h/c=1 6/6"],
  }
  const expectStates = async (store: Store, from: number): Promise<void> => {
    for (let revision = from; revision <= store.revision; revision++) {
      const { items, revision: at } = await store.range("/h/", { revision })
      expect(items.map(show)).toEqual(states[revision])
      expect(at).toBe(revision)
      const single = await Promise.all(["/h/a", "/h/b", "/h/c"].map((key) => store.get(key, revision)))
      expect(single.filter((kv) => kv !== undefined).map(show)).toEqual(states[revision])
      const page = await store.range("/h/", { revision, limit: 1, count: true })
      expect(page.items.map(show)).toEqual(states[revision]?.slice(0, 1))
      expect(page.remaining).toBe(Math.max(0, (states[revision]?.length ?? 0) - 1))
    }
  }

  test("get and range return the state at every earlier revision", async () => {
    await expectStates(await filled(), 1)
  })

  test("pages at one revision are consistent while others write", async () => {
    const store = await filled()
    const first = await store.range("/h/", { limit: 1 })
    await remove(store, "/h/b")
    await put(store, "/h/a0", "new")
    const rest = await store.range("/h/", { revision: first.revision, after: "/h/a" })
    expect([...first.items, ...rest.items].map(show)).toEqual(states[8])
  })

  test("compaction rejects reads at or below it, and keeps the rest", async () => {
    const store = await filled()
    await store.compact(4)
    expect(store.compactedRevision).toBe(4)
    await expect(store.get("/h/a", 4)).rejects.toEqual(code("Compacted"))
    await expect(store.range("/h/", { revision: 2 })).rejects.toEqual(code("Compacted"))
    await expectStates(store, 5)
    await store.compact(3)
    expect(store.compactedRevision).toBe(4)
    await expectStates(store, 5)
  })

  test("the latest revision remains readable and watchable after any compaction", async () => {
    const store = await filled()
    await store.compact(store.revision)
    expect(store.compactedRevision).toBe(7)
    await expectStates(store, 8)
    await using watcher = closing(store.watch("/h/", { after: 8 }))
    await put(store, "/h/a", "4")
    expect(await take(watcher.watcher, 1)).toEqual(["put /h/a=4 2/9 was /h/a=3 2/8"])
  })

  test("future revisions cannot be read, watched or compacted", async () => {
    const store = await filled()
    await expect(store.get("/h/a", 9)).rejects.toEqual(code("FutureRevision"))
    await expect(store.range("/h/", { revision: 9 })).rejects.toEqual(code("FutureRevision"))
    await expect(take(store.watch("/h/", { after: 9 }), 1)).rejects.toEqual(code("FutureRevision"))
    await expect(store.compact(9)).rejects.toEqual(code("FutureRevision"))
  })
}

function closing(watcher: Watcher): AsyncDisposable & { watcher: Watcher } {
  return { watcher, [Symbol.asyncDispose]: async () => watcher.close() }
}

function watches(open: () => Promise<Store>): void {
  test("delivers each change with its previous value, in order", async () => {
    const store = await open()
    await using live = closing(store.watch("/w/", { after: 1 }))
    await put(store, "/w/a", "1")
    await put(store, "/other", "1")
    await put(store, "/w/a", "2")
    await remove(store, "/w/a")
    const expected = ["put /w/a=1 2/2", "put /w/a=2 2/4 was /w/a=1 2/2", "delete /w/a=2 2/5 was /w/a=2 2/4"]
    expect(await take(live.watcher, 3)).toEqual(expected)
    await using backlog = closing(store.watch("/w/", { after: 1 }))
    expect(await take(backlog.watcher, 3)).toEqual(expected)
  })

  test("resumes after any revision without gaps or duplicates, also from old ones", async () => {
    const store = await open()
    const last = 60
    for (let i = 2; i <= last; i++) await put(store, `/w/${i % 7}`, "x".repeat(20_000) + i)
    for (const after of [1, 2, 30, 58, 59]) {
      const revisions: number[] = []
      for await (const events of store.watch("/w/", { after })) {
        revisions.push(...events.map((event) => event.current.modRevision))
        if (revisions.at(-1) === last) break
      }
      expect(revisions).toEqual(Array.from({ length: last - after }, (_, i) => after + 1 + i))
    }
  })

  test("switches from backlog to live events under load without gaps or duplicates", async () => {
    const store = await open()
    const total = 400
    for (let i = 0; i < 50; i++) await put(store, "/w/a", "x".repeat(10_000))
    const writing = (async () => {
      for (let i = 50; i < total; i++) await put(store, "/w/a", "x".repeat(3_000))
    })()
    const watching = [1, 5, 40].map(async (after) => {
      const revisions: number[] = []
      for await (const events of store.watch("/w/", { after })) {
        for (const { current, previous } of events) {
          expect(previous?.modRevision).toBe(current.modRevision === 2 ? undefined : current.modRevision - 1)
          revisions.push(current.modRevision)
        }
        if (revisions.at(-1) === total + 1) break
      }
      expect(revisions).toEqual(Array.from({ length: total + 1 - after }, (_, i) => after + 1 + i))
    })
    await Promise.all([writing, ...watching])
  })

  test("delivers a transaction's events in one batch, in the order of its operations", async () => {
    const store = await open()
    await put(store, "/w/a", "1")
    await store.txn({
      compare: [],
      operations: [
        { type: "put", key: "/w/z", value: bytes("1") },
        { type: "delete", key: "/w/a" },
        { type: "put", key: "/w/b", value: bytes("1") },
      ],
    })
    await using watch = closing(store.watch("/w/", { after: 2 }))
    const batch = await watch.watcher[Symbol.asyncIterator]().next()
    expect(batch.value?.map((event: StoreEvent) => event.current.key)).toEqual(["/w/z", "/w/a", "/w/b"])
  })

  test("revision advances with changes outside the prefix", async () => {
    const store = await open()
    await using watch = closing(store.watch("/w/", { after: 1 }))
    const events = take(watch.watcher, 1)
    await put(store, "/other", "1")
    expect(watch.watcher.revision).toBe(2)
    await put(store, "/w/a", "1")
    expect(await events).toEqual(["put /w/a=1 3/3"])
    expect(watch.watcher.revision).toBe(3)
  })

  test("revision does not advance beyond delivered events", async () => {
    const store = await open()
    await using watch = closing(store.watch("/w/", { after: 1 }))
    const first = take(watch.watcher, 1)
    await put(store, "/w/a", "1")
    await first
    await put(store, "/w/a", "2")
    await put(store, "/other", "1")
    expect(watch.watcher.revision).toBe(2)
    expect(await take(watch.watcher, 1)).toEqual(["put /w/a=2 2/3 was /w/a=1 2/2"])
    expect(watch.watcher.revision).toBe(4)
  })

  test("a slow consumer is ended with SlowConsumer and can resume", async () => {
    const store = await open()
    const watcher = store.watch("/w/", { after: 1, maxPending: 3 })
    const first = take(watcher, 1)
    await put(store, "/w/a", "1")
    await first
    for (let i = 0; i < 5; i++) await put(store, "/w/a", `next ${i}`)
    await expect(take(watcher, 1)).rejects.toEqual(code("SlowConsumer"))
    expect(watcher.revision).toBe(2)
    await using resumed = closing(store.watch("/w/", { after: watcher.revision, maxPending: 3 }))
    expect(await take(resumed.watcher, 5)).toHaveLength(5)
  })

  test("fails with Compacted if the history does not reach back", async () => {
    const store = await open()
    for (let i = 0; i < 5; i++) await put(store, "/w/a", String(i))
    await store.compact(3)
    await expect(take(store.watch("/w/", { after: 3 }), 1)).rejects.toEqual(code("Compacted"))
    await expect(take(store.watch("/w/", { after: 0 }), 1)).rejects.toEqual(code("Compacted"))
    await using watch = closing(store.watch("/w/", { after: 4 }))
    expect(await take(watch.watcher, 2)).toEqual(["put /w/a=3 2/5 was /w/a=2 2/4", "put /w/a=4 2/6 was /w/a=3 2/5"])
  })

  test("a live watch is not affected by compaction", async () => {
    const store = await open()
    await using watch = closing(store.watch("/w/", { after: 1 }))
    const events = take(watch.watcher, 1)
    await put(store, "/w/a", "1")
    await events
    await store.compact(store.revision)
    await put(store, "/w/a", "2")
    expect(await take(watch.watcher, 1)).toEqual(["put /w/a=2 2/3 was /w/a=1 2/2"])
  })

  test("ends when closed, while waiting and before it is read", async () => {
    const store = await open()
    const waiting = store.watch("/w/", { after: 1 })
    const events = take(waiting, 1)
    waiting.close()
    expect(await events).toEqual([])
    const early = store.watch("/w/", { after: 1 })
    early.close()
    expect(await take(early, 1)).toEqual([])
  })
}

function disposal(open: () => Promise<Store>): void {
  test("afterwards all calls fail with Closed, and watches end with it", async () => {
    const store = await open()
    const behind = store.watch("/w/", { after: 1 })
    const live = take(store.watch("/w/", { after: 1 }), 1)
    const failed = expect(live).rejects.toEqual(code("Closed"))
    await put(store, "/a", "1")
    await store[Symbol.asyncDispose]()
    await failed
    await expect(take(behind, 1)).rejects.toEqual(code("Closed"))
    await expect(store.get("/a")).rejects.toEqual(code("Closed"))
    await expect(store.range("/")).rejects.toEqual(code("Closed"))
    await expect(put(store, "/a", "2")).rejects.toEqual(code("Closed"))
    await expect(store.compact(1)).rejects.toEqual(code("Closed"))
    expect(() => store.watch("/", { after: 1 })).toThrow(StorageError)
  })

  test("can be called twice", async () => {
    const store = await open()
    await store[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  })
}

function baseLayer(open: (options: { base: BaseLayer }) => Promise<Store>): void {
  const base = createBaseLayer([
    ["/b/3", bytes("three")],
    ["/b/1", bytes("one")],
    ["/b/5", bytes("five")],
  ])
  const list = async (store: Store, revision?: number): Promise<(string | undefined)[]> =>
    (await store.range("/b/", revision === undefined ? {} : { revision })).items.map(show)

  test("its keys have revision 1 and are merged in byte order", async () => {
    const store = await open({ base })
    await put(store, "/b/2", "two")
    await put(store, "/b/6", "six")
    expect(show(await store.get("/b/1"))).toBe("/b/1=one 1/1")
    expect(await list(store)).toEqual([
      "/b/1=one 1/1",
      "/b/2=two 2/2",
      "/b/3=three 1/1",
      "/b/5=five 1/1",
      "/b/6=six 3/3",
    ])
    const page = await store.range("/b/", { limit: 2, after: "/b/1", count: true })
    expect([...names(page.items), page.remaining]).toEqual(["/b/2", "/b/3", 2])
  })

  test("its keys are compared with modRevision 1, and can be overwritten, deleted and recreated", async () => {
    const store = await open({ base })
    const update = await store.txn({
      compare: [{ key: "/b/1", modRevision: 1 }],
      operations: [{ type: "put", key: "/b/1", value: bytes("uno") }],
    })
    expect(update).toEqual({ succeeded: true, revision: 2 })
    const create = await store.txn({
      compare: [{ key: "/b/3", modRevision: 0 }],
      operations: [{ type: "put", key: "/b/3", value: bytes("tres") }],
    })
    expect(create.succeeded ? [] : create.current.map(show)).toEqual(["/b/3=three 1/1"])
    await remove(store, "/b/3")
    expect(await list(store)).toEqual(["/b/1=uno 1/2", "/b/5=five 1/1"])
    expect((await store.range("/b/", { limit: 1, count: true })).remaining).toBe(1)
    await remove(store, "/b/1")
    expect(await store.get("/b/1")).toBeUndefined()
    await put(store, "/b/3", "again")
    expect(await list(store)).toEqual(["/b/3=again 5/5", "/b/5=five 1/1"])
  })

  test("its keys are the previous state in history and watches", async () => {
    const store = await open({ base })
    await put(store, "/b/1", "uno")
    await remove(store, "/b/3")
    await put(store, "/b/3", "again")
    await remove(store, "/b/1")
    expect(await list(store, 1)).toEqual(["/b/1=one 1/1", "/b/3=three 1/1", "/b/5=five 1/1"])
    expect(await list(store, 3)).toEqual(["/b/1=uno 1/2", "/b/5=five 1/1"])
    expect(show(await store.get("/b/3", 2))).toBe("/b/3=three 1/1")
    expect(await store.get("/b/3", 3)).toBeUndefined()
    const watcher = store.watch("/b/", { after: 1 })
    expect(await take(watcher, 4)).toEqual([
      "put /b/1=uno 1/2 was /b/1=one 1/1",
      "delete /b/3=three 1/3 was /b/3=three 1/1",
      "put /b/3=again 4/4",
      "delete /b/1=uno 1/5 was /b/1=uno 1/2",
    ])
    watcher.close()
  })

  test("compaction keeps its deleted keys deleted and its untouched keys visible", async () => {
    const store = await open({ base })
    await remove(store, "/b/3")
    await put(store, "/b/1", "uno")
    await put(store, "/b/1", "eins")
    await store.compact(store.revision)
    expect(await list(store)).toEqual(["/b/1=eins 1/4", "/b/5=five 1/1"])
    expect(await store.get("/b/3")).toBeUndefined()
  })
}

function limits(open: (options: { limits: Partial<StoreLimits> }) => Promise<Store>): void {
  test("values that are too large are rejected and change nothing", async () => {
    const store = await open({
      limits: { maxValueBytes: 100, maxTransactionBytes: 250, maxTransactionOperations: 3, maxKeyBytes: 20 },
    })
    const value = "x".repeat(100)
    await put(store, "/a", value)
    await expect(put(store, "/a", `${value}x`)).rejects.toEqual(code("TooLarge"))
    await expect(put(store, "/long".padEnd(21, "x"), "")).rejects.toEqual(code("TooLarge"))
    const puts = (count: number, size: number) =>
      store.txn({
        compare: [],
        operations: Array.from({ length: count }, (_, i) => ({
          type: "put",
          key: `/${i}`,
          value: bytes("x".repeat(size)),
        })),
      })
    await expect(puts(3, 90)).rejects.toEqual(code("TooLarge"))
    await expect(puts(4, 1)).rejects.toEqual(code("TooLarge"))
    expect(store.revision).toBe(2)
    expect((await puts(3, 80)).succeeded).toBe(true)
  })

  test("history beyond the limit is compacted automatically", async () => {
    const store = await open({ limits: { historyRevisions: 20 } })
    for (let i = 0; i < 100; i++) await put(store, `/k/${i % 5}`, String(i))
    await expect.poll(() => store.compactedRevision).toBeGreaterThan(60)
    expect(store.revision - store.compactedRevision).toBeGreaterThanOrEqual(20)
    expect((await store.range("/k/", { revision: store.revision - 10 })).items).toHaveLength(5)
  })
}
