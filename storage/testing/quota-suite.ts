// The guarantees of a quota, for every store that supports one. A store is reopened with its data, with or without its quota.

import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { createBaseLayer } from "./base-layer.ts"
import type { StoreQuota } from "../quota.ts"
import type { BaseLayer, Store, TransactionResult } from "../types.ts"

interface QuotaSuite {
  name: string
  /** A new, empty place. */
  begin(): Promise<QuotaPlace>
}

interface QuotaPlace extends AsyncDisposable {
  /** The suite disposes of the store before it reopens it. */
  open(options: { base: BaseLayer; quota?: StoreQuota }): Promise<Store>
  /** Faults in the stored data, as sentences; no store is open. */
  check?(base: BaseLayer): Promise<readonly string[]>
}

const quota: StoreQuota = { prefix: "/registry/", maxObjects: 3, maxBytes: 1000, reserveBytes: 100 }
const base: BaseLayer = createBaseLayer([["/registry/base", Buffer.from("base")]])

export function quotaSuite(suite: QuotaSuite): void {
  describe(suite.name, () => promises(suite))
}

function promises(suite: QuotaSuite): void {
  let place: QuotaPlace
  let store: Store

  beforeEach(async () => {
    place = await suite.begin()
    store = await open(quota)
  })

  afterEach(async () => {
    await store[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })

  const open = (kept?: StoreQuota) => place.open({ base, ...(kept ? { quota: kept } : {}) })

  function put(name: string, bytes = 10, leaving = false): Promise<TransactionResult> {
    const operation = { type: "put", key: `/registry/${name}`, value: Buffer.alloc(bytes) } as const
    return store.txn({ compare: [], operations: [operation], leaving })
  }

  const remove = (name: string) =>
    store.txn({ compare: [], operations: [{ type: "delete", key: `/registry/${name}` }] })

  const tooMany = (used: number) =>
    expect.objectContaining({
      code: "QuotaExceeded",
      message: `exceeded quota: tenant, requested: objects=1, used: objects=${used}, limited: objects=3`,
    })

  test("counts each key once, and allows new keys after deletions", async () => {
    for (const name of ["a", "b", "c"]) await put(name)
    await expect(put("d")).rejects.toEqual(tooMany(3))
    await put("a", 20)
    await remove("b")
    await put("d")
    await expect(put("b")).rejects.toEqual(tooMany(3))
  })

  test("is exact for concurrent writes", async () => {
    const results = await Promise.allSettled(Array.from({ length: 40 }, (_, index) => put(`o${index}`)))
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(3)
    expect((await store.range("/registry/o")).items).toHaveLength(3)
  })

  test("rejects one of several transactions without affecting the others", async () => {
    const [, refused] = await Promise.allSettled([put("a"), put("big", 2000), put("b")])
    expect(refused.status).toBe("rejected")
    expect((await store.range("/registry/")).items.map(({ key }) => key)).toEqual([
      "/registry/a",
      "/registry/b",
      "/registry/base",
    ])
  })

  test("is checked after comparisons", async () => {
    for (const name of ["a", "b", "c"]) await put(name)
    const key = "/registry/a"
    const refused = await store.txn({
      compare: [{ key, modRevision: 0 }],
      operations: [{ type: "put", key: "/registry/d", value: Buffer.alloc(1) }],
    })
    expect(refused).toMatchObject({ succeeded: false, current: [{ key }] })
  })

  test("counts bytes of keys and values, and always allows writes that do not grow", async () => {
    await put("a", 989) // plus 11 for the key
    await expect(put("a", 990)).rejects.toMatchObject({
      message: "exceeded quota: tenant, requested: bytes=1, used: bytes=1000, limited: bytes=1000",
    })
    await put("a", 989)
    await put("a", 900)
    await put("b", 78)
    await expect(put("c", 0)).rejects.toMatchObject({ code: "QuotaExceeded" })
  })

  test("allows writes of objects being deleted to use the reserve", async () => {
    await put("a", 989)
    await put("a", 1089, true)
    await expect(put("a", 1090, true)).rejects.toMatchObject({ code: "QuotaExceeded" })
    await remove("a")
    await put("b", 500)
  })

  test("counts neither the base layer nor keys outside its prefix", async () => {
    await store.txn({ compare: [], operations: [{ type: "put", key: "/own", value: Buffer.alloc(5000) }] })
    await remove("base")
    for (const name of ["a", "b", "base"]) await put(name)
    await expect(put("c")).rejects.toEqual(tooMany(3))
  })

  test("is enforced after a restart, even if the store was written without it", async () => {
    for (const name of ["a", "b"]) await put(name)
    await store[Symbol.asyncDispose]()
    expect((await place.check?.(base)) ?? []).toEqual([])
    store = await open()
    await put("c")
    await remove("a")
    await store[Symbol.asyncDispose]()
    expect((await place.check?.(base)) ?? []).toEqual([])
    store = await open(quota)
    await put("d")
    await expect(put("e")).rejects.toEqual(tooMany(3))
    await store[Symbol.asyncDispose]()
    store = await open(quota)
    await expect(put("e")).rejects.toEqual(tooMany(3))
  })
}
