// Transactions: comparisons, revisions, atomicity, concurrent writers.

import { expect, test } from "vitest"
import type { Store } from "../../types.ts"
import { bytes, put, remove, show, text } from "./shorthand.ts"

export function transactions(open: () => Promise<Store>): void {
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
