// A store that one process has removed stays empty, whatever others that have it open write, and whenever etcd gets to that.

import { afterAll, beforeAll, describe, expect, onTestFailed, test } from "vitest"
import { chance, createRandom, type Random, seeds } from "../../../apimachinery/testing/random.ts"
import { EtcdDatabase } from "../../../storage/etcd/database.ts"
import { hasCode, type Store } from "../../../storage/types.ts"
import { lacks } from "../harness/needs.ts"
import { TestEtcd } from "./test-etcd.ts"

const mark = "/mark"
const closed = expect.objectContaining({ code: "Closed" })
/** So much, that writes close the gate of the quota at times. */
const quota = { prefix: "/registry/", maxObjects: 700, maxBytes: 64 * 1024 * 1024, reserveBytes: 0 }

const put = (store: Store, key: string, compare: { key: string; modRevision: number }[] = []) =>
  store.txn({ compare, operations: [{ type: "put", key, value: Buffer.from("x") }] })

describe.skipIf(lacks(["etcd"]))("a store that another process has removed", () => {
  const stack = new AsyncDisposableStack()
  let here: EtcdDatabase
  let there: EtcdDatabase
  let stores = 0

  beforeAll(async () => {
    const etcd = stack.use(await TestEtcd.start())
    const open = async () => stack.use(await EtcdDatabase.open({ servers: etcd.servers }))
    ;[here, there] = [await open(), await open()]
  })
  afterAll(() => stack.disposeAsync())

  /** The same store in both processes. */
  async function openBoth(withQuota: boolean) {
    const uid = `store-${++stores}`
    const open = (database: EtcdDatabase) => database.openStore(uid, undefined, withQuota ? quota : undefined, mark)
    const both = [await open(here), await open(there)] as const
    await put(both[0], mark, [{ key: mark, modRevision: 0 }])
    return { uid, both }
  }

  /** Without a mark it shows what is there. */
  async function leftOf(uid: string): Promise<string[]> {
    await using store = await here.openStore(uid)
    return (await store.range("/")).items.map(({ key }) => key)
  }

  test.each([true, false])("takes no writes (with a quota: %s)", async (withQuota) => {
    const { uid, both } = await openBoth(withQuota)
    const [one, other] = both
    await put(other, "/registry/a", [{ key: "/registry/a", modRevision: 0 }])
    await here.removeStore(uid, mark)
    for (const store of [one, other]) {
      await expect(put(store, "/registry/b")).rejects.toEqual(closed)
      await expect(put(store, "/registry/c", [{ key: "/registry/c", modRevision: 0 }])).rejects.toEqual(closed)
      await expect(put(store, "/other")).rejects.toEqual(closed)
      await expect(store.txn({ compare: [], operations: [{ type: "delete", key: "/registry/a" }] })).rejects.toEqual(
        closed,
      )
    }
    expect(await leftOf(uid)).toEqual([])
  })

  /** Until it is closed to it. */
  async function write(store: Store, random: Random): Promise<void> {
    for (let i = 0; ; i++) {
      const key = `/registry/${random(400)}`
      const found = await store.get(key)
      try {
        if (found !== undefined && chance(random, 0.3))
          await store.txn({
            compare: [{ key, modRevision: found.modRevision }],
            operations: [{ type: "delete", key }],
          })
        else await put(store, key, [{ key, modRevision: found?.modRevision ?? 0 }])
      } catch (error) {
        if (hasCode(error, "Closed")) return
        if (!hasCode(error, "QuotaExceeded")) throw error
      }
    }
  }

  test.each(seeds(10))("stays empty whoever writes to it meanwhile (seed %i)", async (seed) => {
    onTestFailed(() => console.log(`SEED=${seed}`))
    const random = createRandom(seed)
    const { uid, both } = await openBoth(chance(random, 0.5))
    const writers = both.flatMap((store) => Array.from({ length: 8 }, () => write(store, random)))
    while ((await leftOf(uid)).length < random(100));
    await here.removeStore(uid, mark)
    await Promise.all(writers)
    expect(await leftOf(uid)).toEqual([])
  })
})
