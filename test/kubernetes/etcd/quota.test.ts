// Quotas on a real etcd: what every store promises, and that several processes together keep one exactly, with room and without.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { EtcdDatabase } from "../../../storage/etcd/database.ts"
import type { StoreQuota } from "../../../storage/quota.ts"
import { quotaSuite } from "../../../storage/testing/quota-suite.ts"
import type { Store } from "../../../storage/types.ts"
import { lacks } from "../harness/needs.ts"
import { TestEtcd } from "./test-etcd.ts"

const MiB = 1024 * 1024
const prefix = "/registry/"

describe.skipIf(lacks(["etcd"]))("on a real etcd", () => {
  let etcd: TestEtcd
  let places = 0

  beforeAll(async () => {
    etcd = await TestEtcd.start()
  })
  afterAll(() => etcd[Symbol.asyncDispose]())

  const connect = (place: number): Promise<EtcdDatabase> =>
    EtcdDatabase.open({ servers: etcd.servers, prefix: `/place-${place}` })

  quotaSuite({
    name: "an etcd store's quota",
    async begin() {
      const database = await connect(++places)
      return {
        open: ({ base, quota }) => database.openStore("store", base, quota),
        [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
      }
    },
  })

  describe("kept by several processes", () => {
    /** So many with the same store open, each over a connection of its own. */
    async function together(count: number, quota: StoreQuota): Promise<AsyncDisposable & { stores: Store[] }> {
      const stack = new AsyncDisposableStack()
      const place = ++places
      const stores: Store[] = []
      for (let i = 0; i < count; i++) {
        const database = stack.use(await connect(place))
        stores.push(stack.use(await database.openStore("store", undefined, quota)))
      }
      return Object.assign(stack, { stores })
    }

    const put = (store: Store, name: string, bytes = 1) =>
      store.txn({
        compare: [{ key: prefix + name, modRevision: 0 }],
        operations: [{ type: "put", key: prefix + name, value: Buffer.alloc(bytes) }],
      })

    /** On a machine that has much to do it may not come to its turn in time: then it is tried again. */
    async function attempt(store: Store, name: string, bytes: number | undefined): Promise<string> {
      for (;;) {
        try {
          await put(store, name, bytes) // one that is there already has been written by the attempt before
          return "written"
        } catch (error) {
          const code = String((error as { code?: string }).code)
          if (code !== "Unavailable") return code
        }
      }
    }

    /** What happened to all of them: so many writes, at most `width` of one store at a time. */
    async function fill(stores: readonly Store[], each: number, width: number, bytes?: number): Promise<string[]> {
      const outcomes: string[] = []
      const run = async (store: Store, at: number, lane: number): Promise<void> => {
        for (let i = lane; i < each; i += width) {
          outcomes.push(await attempt(store, `${at}-${i}`, bytes))
        }
      }
      await Promise.all(stores.flatMap((store, at) => Array.from({ length: width }, (_, lane) => run(store, at, lane))))
      return outcomes
    }

    const written = (outcomes: readonly string[]): number => outcomes.filter((each) => each === "written").length

    test.each([
      ["a few objects", 2, 20, 30, 5],
      ["so many that there is room at first", 3, 700, 400, 20],
      ["several processes", 6, 500, 120, 4],
    ])("%s", { timeout: 240_000 }, async (_, processes, maxObjects, each, width) => {
      const quota = { prefix, maxObjects, maxBytes: 1024 * MiB, reserveBytes: 0 }
      await using group = await together(processes, quota)
      const outcomes = await fill(group.stores, each, width)
      expect(written(outcomes)).toBe(maxObjects)
      expect(new Set(outcomes)).toEqual(new Set(["written", "QuotaExceeded"]))
      for (const store of group.stores) expect((await store.range(prefix)).items).toHaveLength(maxObjects)
    })

    test("bytes", { timeout: 240_000 }, async () => {
      const bytes = 100_000
      const fitting = 300
      const maxBytes = fitting * (bytes + `${prefix}0-100`.length)
      await using group = await together(2, { prefix, maxObjects: 1_000_000, maxBytes, reserveBytes: 0 })
      const outcomes = await fill(group.stores, 200, 8, bytes)
      // Keys differ by two bytes at most, which all together are less than one value.
      expect(written(outcomes)).toBe(fitting)
    })

    test("what one deletes another may write at once", { timeout: 120_000 }, async () => {
      await using group = await together(2, { prefix, maxObjects: 5, maxBytes: MiB, reserveBytes: 0 })
      const [mine, others] = group.stores as [Store, Store]
      for (let i = 0; i < 5; i++) await put(i % 2 === 0 ? mine : others, `o-${i}`)
      for (let round = 0; round < 20; round++) {
        await expect(put(others, `r-${round}`)).rejects.toMatchObject({ code: "QuotaExceeded" })
        const last = round === 0 ? "o-4" : `r-${round - 1}`
        await mine.txn({ compare: [], operations: [{ type: "delete", key: prefix + last }] })
        await put(others, `r-${round}`)
      }
      expect((await mine.range(prefix)).items).toHaveLength(5)
    })

    test("a limit that is far away opens again when there is room", { timeout: 240_000 }, async () => {
      await using group = await together(2, { prefix, maxObjects: 800, maxBytes: 1024 * MiB, reserveBytes: 0 })
      const [mine] = group.stores as [Store]
      expect(written(await fill(group.stores, 500, 20))).toBe(800)
      const all = (await mine.range(prefix)).items
      for (let at = 0; at < all.length; at += 50) {
        const operations = all.slice(at, at + 50).map(({ key }) => ({ type: "delete" as const, key }))
        await mine.txn({ compare: [], operations })
      }
      expect(written(await fill(group.stores, 500, 20))).toBe(800)
    })
  })
})
