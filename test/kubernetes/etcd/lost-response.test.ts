// A transaction whose response is lost: it is retried if it cannot be applied twice, and its caller learns the truth, or that nobody knows it.

import { once } from "node:events"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { describe, expect, test } from "vitest"
import { EtcdDatabase } from "../../../storage/etcd/database.ts"
import type { Store, Transaction } from "../../../storage/types.ts"
import { eventually } from "../../harness/eventually.ts"
import { lacks } from "../harness/needs.ts"
import { TestEtcd } from "./test-etcd.ts"

/** Between a database and etcd. */
class Relay implements AsyncDisposable {
  #isMute = false
  readonly #connections = new Set<Socket>()
  readonly #server = createServer((near) => {
    const far = connect(this.#port, "127.0.0.1")
    near.pipe(far)
    far.on("data", (data) => void (this.#isMute || near.write(data)))
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#connections.add(one)
      one.on("error", () => undefined) // closed below
      one.on("close", () => other.destroy())
    }
  })
  readonly #port: number

  static async start(server: string): Promise<Relay> {
    const relay = new Relay(Number(new URL(server).port))
    relay.#server.listen(0, "127.0.0.1")
    await once(relay.#server, "listening")
    return relay
  }

  private constructor(port: number) {
    this.#port = port
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** From now on requests arrive, and responses are lost. */
  mute(): void {
    this.#isMute = true
  }

  /** Closes all connections; new ones work. */
  reset(): void {
    this.#isMute = false
    for (const socket of this.#connections) socket.destroy()
    this.#connections.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.reset()
    this.#server.close()
    await once(this.#server, "close")
  }
}

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
