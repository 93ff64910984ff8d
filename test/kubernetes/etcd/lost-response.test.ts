// A transaction whose response is lost: it is retried if it cannot be applied twice, and its caller learns the truth, or that nobody knows it.

import { describe, expect, test } from "vitest"
import { EtcdDatabase } from "../../../storage/etcd/database.ts"
import type { Store, Transaction } from "../../../storage/types.ts"
import { eventually } from "../../harness/eventually.ts"
import { lacks } from "../harness/needs.ts"
import { Relay } from "./relay.ts"
import { TestEtcd } from "./test-etcd.ts"

const update = (modRevision: number, ...values: [key: string, value: string | undefined][]): Transaction => ({
  compare: [{ key: "/a", modRevision }],
  operations: values.map(([key, value]) =>
    value === undefined ? { type: "delete", key } : { type: "put", key, value: Buffer.from(value) },
  ),
})
const textOf = async (store: Store, key: string): Promise<string | undefined> => {
  const found = await store.get(key)
  return found && Buffer.from(found.value).toString()
}

describe.skipIf(lacks(["etcd"]))("a transaction whose response is lost", () => {
  /** Runs the transaction, the response of which is lost; `meanwhile` follows once it has taken effect. */
  async function lose(
    transaction: (before: number) => Transaction,
    took: (direct: Store) => Promise<boolean>,
    meanwhile: (direct: Store) => Promise<unknown> = () => Promise.resolve(),
  ) {
    await using etcd = await TestEtcd.start()
    const [server = ""] = etcd.servers
    await using relay = await Relay.start(server)
    await using database = await EtcdDatabase.open({ servers: [relay.url] })
    await using others = await EtcdDatabase.open({ servers: [server] })
    const [store, direct] = [await database.openStore("tenant"), await others.openStore("tenant")]
    const { revision } = await store.txn(update(0, ["/a", "1"]))
    relay.mute()
    const outcome = Promise.allSettled([store.txn(transaction(revision))])
    await eventually(() => took(direct))
    await meanwhile(direct)
    relay.reset()
    const [settled] = await outcome
    const result = settled.status === "fulfilled" ? settled.value.succeeded : (settled.reason as { code?: string }).code
    return { result, value: await textOf(direct, "/a"), other: await textOf(direct, "/b") }
  }

  const isTwo = async (direct: Store): Promise<boolean> => (await textOf(direct, "/a")) === "2"

  test("has succeeded if what it wrote is there", async () => {
    const write = (before: number): Transaction => update(before, ["/a", "2"], ["/b", undefined])
    expect(await lose(write, isTwo)).toEqual({ result: true, value: "2" })
  })

  test("has no known outcome if that has changed since", async () => {
    const write = (before: number): Transaction => update(before, ["/a", "2"])
    const change = async (direct: Store): Promise<unknown> =>
      direct.txn(update((await direct.get("/a"))?.modRevision ?? 0, ["/a", "3"]))
    expect(await lose(write, isTwo, change)).toEqual({ result: "Unavailable", value: "3" })
  })

  const create: Transaction = {
    compare: [{ key: "/b", modRevision: 0 }],
    operations: [{ type: "put", key: "/b", value: Buffer.from("2") }],
  }
  const isCreated = async (direct: Store): Promise<boolean> => (await textOf(direct, "/b")) === "2"

  test("has succeeded if what it created is there", async () => {
    expect(await lose(() => create, isCreated)).toEqual({ result: true, value: "1", other: "2" })
  })

  test("does not undo that what it created is deleted", async () => {
    const remove = (direct: Store): Promise<unknown> =>
      direct.txn({ compare: [], operations: [{ type: "delete", key: "/b" }] })
    expect(await lose(() => create, isCreated, remove)).toEqual({ result: "Unavailable", value: "1", other: undefined })
  })

  test("has no known outcome if it deletes", async () => {
    const remove = (before: number): Transaction => update(before, ["/a", undefined])
    const isGone = async (direct: Store): Promise<boolean> => (await direct.get("/a")) === undefined
    expect(await lose(remove, isGone)).toEqual({ result: "Unavailable", value: undefined })
  })
})
