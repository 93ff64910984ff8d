// Three members, of which one after the other is killed under load, the leader too: what was acknowledged is there, and the
// watches of two processes' worth of connections have seen every change once, in order.

import { describe, expect, test } from "vitest"
import { EtcdDatabase } from "../../../storage/etcd/database.ts"
import { StorageError, type Store, type StoreEvent } from "../../../storage/types.ts"
import { eventually } from "../../harness/eventually.ts"
import { lacks } from "../harness/needs.ts"
import { TestEtcd } from "./test-etcd.ts"

const writers = 8
/** Acknowledged writes between two failures. */
const between = 200
const waitMs = 90_000

interface Written {
  key: string
  value: string
  revision: number
}

class Load {
  readonly acknowledged: Written[] = []
  #stopped = false
  readonly #running: Promise<void>[]

  constructor(stores: readonly Store[]) {
    this.#running = Array.from({ length: writers }, (_, writer) =>
      this.#write(stores[writer % stores.length] as Store, `/load/${writer}`),
    )
  }

  async more(count: number): Promise<void> {
    const target = this.acknowledged.length + count
    await eventually(() => this.acknowledged.length >= target, { timeoutMs: waitMs })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
  }

  /** Each has keys of its own. A write whose outcome is not known is looked at before the next one. */
  async #write(store: Store, prefix: string): Promise<void> {
    for (let i = 0; !this.#stopped; i++) {
      const key = `${prefix}/${i % 5}`
      const value = `${i}`
      try {
        const found = await store.get(key)
        const compare = [{ key, modRevision: found?.modRevision ?? 0 }]
        const result = await store.txn({ compare, operations: [{ type: "put", key, value: Buffer.from(value) }] })
        if (!result.succeeded) throw new Error(`${key} was written by nobody else, yet it has changed`)
        this.acknowledged.push({ key, value, revision: result.revision })
      } catch (error) {
        if (!(error instanceof StorageError) || error.code !== "Unavailable") throw error
      }
    }
  }
}

/** All events of a watch, until it has reached `revision`. */
class Witness {
  readonly events: StoreEvent[] = []
  failure: unknown
  readonly #watcher: ReturnType<Store["watch"]>

  constructor(store: Store) {
    this.#watcher = store.watch("/load/", { after: store.revision, maxPending: 1_000_000 })
    this.#follow().catch((error: unknown) => {
      this.failure = error
    })
  }

  async reached(revision: number): Promise<void> {
    await eventually(() => this.failure !== undefined || this.#watcher.revision >= revision, { timeoutMs: waitMs })
    expect(this.failure).toBeUndefined()
    this.#watcher.close()
  }

  async #follow(): Promise<void> {
    for await (const events of this.#watcher) this.events.push(...events)
  }
}

const show = ({ type, current }: StoreEvent): string =>
  `${type} ${current.key}=${Buffer.from(current.value).toString()} ${current.modRevision}`

/** All have seen all that was acknowledged, once and in order, and it is there. */
async function haveSeen(load: Load, stores: readonly Store[], witnesses: readonly Witness[]): Promise<void> {
  const last = await (stores[0] as Store).latest()
  await Promise.all(witnesses.map((witness) => witness.reached(last)))
  const [mine = [], others = []] = witnesses.map(({ events }) => events)
  expect(others.map(show)).toEqual(mine.map(show))
  const revisions = mine.map(({ current }) => current.modRevision)
  expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b))
  const seen = new Set(mine.map(show))
  const lost = load.acknowledged.filter(({ key, value, revision }) => !seen.has(`put ${key}=${value} ${revision}`))
  expect(lost).toEqual([])

  const { items } = await (stores[1] as Store).range("/load/")
  const state = new Map(mine.map(({ current }) => [current.key, current]))
  expect(new Map(items.map(({ key, modRevision }) => [key, modRevision]))).toEqual(
    new Map([...state.values()].map(({ key, modRevision }) => [key, modRevision])),
  )
}

describe.skipIf(lacks(["etcd"]))("members of etcd", () => {
  test(
    "a member and the leader killed under load lose no acknowledged write and no event",
    { timeout: 300_000 },
    async () => {
      await using etcd = await TestEtcd.start({ members: 3, durable: true })
      await using first = await EtcdDatabase.open({ servers: etcd.servers })
      await using second = await EtcdDatabase.open({ servers: etcd.servers.toReversed() })
      const stores = [await first.openStore("tenant"), await second.openStore("tenant")]
      const witnesses = stores.map((store) => new Witness(store))
      const load = new Load(stores)

      await load.more(between)
      // Whom the first database and its watch talk to.
      await etcd.kill(0)
      await load.more(between)
      await etcd.startMember(0)
      for (let round = 0; round < 2; round++) {
        const leader = await eventually(() => etcd.leader(), { timeoutMs: waitMs })
        await etcd.kill(leader as number)
        await load.more(between)
        await etcd.startMember(leader as number)
      }
      await load.more(between)
      await load.stop()

      await haveSeen(load, stores, witnesses)
    },
  )

  test(
    "a member and the leader that are frozen under load lose no acknowledged write and no event",
    { timeout: 300_000 },
    async () => {
      await using etcd = await TestEtcd.start({ members: 3 })
      await using first = await EtcdDatabase.open({ servers: etcd.servers })
      await using second = await EtcdDatabase.open({ servers: etcd.servers.toReversed() })
      const stores = [await first.openStore("tenant"), await second.openStore("tenant")]
      const witnesses = stores.map((store) => new Witness(store))
      const load = new Load(stores)
      await load.more(between)
      // Whom the first database and its watch talk to, then the leader, which others take the place of.
      for (const which of [() => 0, () => etcd.leader()]) {
        const frozen = await which()
        etcd.freeze(frozen)
        await load.more(2 * between)
        etcd.goOn(frozen)
        await load.more(between)
      }
      await load.stop()
      await haveSeen(load, stores, witnesses)
    },
  )

  test("a connection is made while only two of three members are there", async () => {
    await using etcd = await TestEtcd.start({ members: 3 })
    await etcd.kill(0)
    await using database = await EtcdDatabase.open({ servers: etcd.servers })
    const store = await database.openStore("tenant")
    const operations = [{ type: "put", key: "/a", value: Buffer.from("1") }] as const
    expect((await store.txn({ compare: [{ key: "/a", modRevision: 0 }], operations })).succeeded).toBe(true)
  })

  test("without a majority it is said that etcd does not answer", async () => {
    await using etcd = await TestEtcd.start({ members: 3 })
    await using database = await EtcdDatabase.open({
      servers: etcd.servers,
      etcdLimits: { attemptMs: 500, callMs: 1_000 },
    })
    const store = await database.openStore("tenant")
    await etcd.kill(0)
    await etcd.kill(1)
    const unavailable = expect.toSatisfy(
      (error: unknown) => error instanceof StorageError && error.code === "Unavailable",
    )
    await expect(store.get("/a")).rejects.toEqual(unavailable)
    await expect(
      store.txn({ compare: [], operations: [{ type: "put", key: "/a", value: Buffer.from("1") }] }),
    ).rejects.toEqual(unavailable)
    await etcd.startMember(0)
    await eventually(async () => (await store.get("/b").catch(() => "away")) !== "away", { timeoutMs: waitMs })
  })

  test("who holds a lease does not wait at the end for an etcd that is gone", { timeout: 60_000 }, async () => {
    await using etcd = await TestEtcd.start({ members: 1 })
    await using database = await EtcdDatabase.open({ servers: etcd.servers, etcdLimits: { callMs: 600_000 } })
    const lease = await database.hold("name", "holder", { ttlSeconds: 600, waitMs: 0 })
    await etcd.kill(0)
    await lease[Symbol.asyncDispose]()
    expect(lease.lost.aborted).toBe(false)
  })
})
