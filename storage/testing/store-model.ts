// Random operations compared with a simple model: an array of states by revision. For every implementation. MODEL_SEED=<seed>
// repeats a failed run; MODEL_STEPS changes its length.

import { setImmediate as nextTurn } from "node:timers/promises"
import { expect } from "vitest"
import { createRandom, type Random } from "../../apimachinery/testing/random.ts"
import {
  type BaseLayer,
  type Operation,
  type RangeResult,
  type StorageErrorCode,
  type Store,
  type Transaction,
  type TransactionResult,
} from "../types.ts"
import { createBaseLayer } from "./base-layer.ts"
import { PastRead } from "./model-read.ts"
import { Model, showState } from "./model-state.ts"
import { ModelWatch } from "./model-watch.ts"

const steps = Number(process.env["MODEL_STEPS"] ?? 400)
const seed = Number(process.env["MODEL_SEED"] ?? Date.now() % 1_000_000)

interface ModelRun {
  base: BaseLayer | undefined
  /** Opens the same store each time; it has been closed before. */
  open: () => Promise<Store>
  /** Transactions submitted together are applied in order; otherwise they are submitted one by one. */
  inOrder: boolean
  /** Default: yes. */
  reopens?: boolean
  /** The disk below the store, if it can fail. */
  disk?: ModelDisk
}

/** Its next write fails, before or after the data has been written. */
export interface ModelDisk {
  failure: "before" | "after" | undefined
}

export const modelBase = createBaseLayer(
  ["/a/2", "/a/3", "/b/1", "/z"].map((key) => [key, Buffer.from(`base of ${key}`)]),
)

export async function runModel(run: ModelRun): Promise<void> {
  console.log(`MODEL_SEED=${seed}`)
  const model = new Run(run, createRandom(seed), await run.open())
  for (let i = 0; i < steps; i++) await model.step()
  await model.finish()
}

const keys = ["/a/1", "/a/2", "/a/2/x", "/a/é", "/a/\u{1f600}", "/a/\u{ffee}", "/ab", "/b/1", "/b/2", "/c"]
const prefixes = ["/a/", "/a", "/b/", "/", "/a/2", "/none"]
/** Small, so that watches, groups and logs are read in several parts. */
export const modelLimits = {
  recentEventBytes: 1500,
  backlogChanges: 3,
  compactionStep: 2,
  groupBytes: 400,
  recentRevisions: 4,
}

class Run {
  readonly #random: Random
  readonly #open: (() => Promise<Store>) | undefined
  readonly #inOrder: boolean
  readonly #disk: ModelDisk | undefined
  readonly #model: Model
  #store: Store
  #watch: ModelWatch | undefined
  #written = 0

  constructor({ base, open, inOrder, reopens = true, disk }: ModelRun, random: Random, store: Store) {
    this.#disk = disk
    this.#open = reopens ? open : undefined
    this.#inOrder = inOrder
    this.#random = random
    this.#store = store
    this.#model = new Model(base)
  }

  async step(): Promise<void> {
    const choice = this.#random(100)
    if (choice < 35) await this.#transactions()
    else if (choice < 50) await this.#range()
    else if (choice < 60) await this.#get()
    else if (choice < 75) await this.#watchSome()
    else if (choice < 80) await this.#compact()
    else if (choice < 82) await this.#reopen()
    else if (choice < 84) await this.#closeBesideWrites()
    else if (choice < 86) await this.#failingWrite()
    else if (choice < 88) await this.#unreadable()
    else if (choice < 95) await this.#together()
    else await this.#page()
    expect(this.#store.revision).toBe(this.#model.revision)
    expect(this.#store.compactedRevision).toBe(this.#model.compacted)
  }

  async finish(): Promise<void> {
    await this.#reopen()
    await this.#store[Symbol.asyncDispose]()
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random(list.length)] as T
  }

  #revision(): number {
    return this.#model.compacted + 1 + this.#random(this.#model.revision - this.#model.compacted)
  }

  #transaction(): Transaction {
    const chosen = keys.filter(() => this.#random(8) === 0)
    const operations = chosen.map((key): Operation => {
      if (this.#random(3) === 0) return { type: "delete", key }
      return { type: "put", key, value: Buffer.from(`${this.#written++}`.repeat(1 + this.#random(30))) }
    })
    const key = this.#pick(keys)
    const present = this.#model.at(this.#model.revision).get(key)?.mod ?? 0
    const compare = this.#random(2) === 0 ? [] : [{ key, modRevision: this.#random(4) === 0 ? present + 1 : present }]
    return { compare, operations }
  }

  #severalTransactions(): Transaction[] {
    return Array.from({ length: this.#inOrder ? 1 + this.#random(6) : 1 }, () => this.#transaction())
  }

  // Transactions submitted together must have the same effect as sequential ones.
  async #transactions(): Promise<void> {
    const transactions = this.#severalTransactions()
    const results = await Promise.all(transactions.map((transaction) => this.#store.txn(transaction)))
    for (const [i, transaction] of transactions.entries()) this.#applied(transaction, results[i])
  }

  #applied(transaction: Transaction, { succeeded, revision }: Partial<TransactionResult> = {}): void {
    expect({ succeeded, revision }).toEqual(this.#model.apply(transaction))
  }

  async #range(): Promise<void> {
    const prefix = this.#pick(prefixes)
    const revision = this.#revision()
    const limit = this.#random(5)
    const after = this.#random(2) === 0 ? this.#pick(keys) : undefined
    const options = { revision, limit, count: true, ...(after === undefined ? {} : { after }) }
    const { items, more, remaining } = await this.#store.range(prefix, options)
    const expected = this.#model.list(prefix, revision, after)
    expect(items.map(showState)).toEqual(expected.slice(0, limit))
    expect([more, remaining]).toEqual([expected.length > limit, Math.max(0, expected.length - limit)])
    const latest = this.#model.list(prefix, this.#model.revision)
    expect((await this.#store.range(prefix, { limit, count: true })).remaining).toBe(Math.max(0, latest.length - limit))
    const all = await this.#store.range(prefix)
    expect(all.items.map(showState)).toEqual(latest)
    const piece = await this.#store.range(prefix, { revision, limitBytes: 1 + this.#random(60) })
    const whole = this.#model.list(prefix, revision)
    expect(piece.items.map(showState)).toEqual(whole.slice(0, piece.items.length))
    expect(piece.more).toBe(piece.items.length < whole.length)
    expect(piece.items.length > 0).toBe(whole.length > 0)
  }

  async #get(): Promise<void> {
    const revision = this.#revision()
    for (const key of keys) {
      const found = await this.#store.get(key, revision)
      expect(found ? [showState(found)] : []).toEqual(this.#model.get(key, revision))
    }
  }

  async #page(): Promise<void> {
    const { revision } = await this.#store.range("/", { limit: 0 })
    const found: string[] = []
    for (let after: string | undefined; ;) {
      const page = await this.#store.range("/", { revision, limit: 2, ...(after === undefined ? {} : { after }) })
      found.push(...page.items.map(showState))
      after = page.items.at(-1)?.key
      if (!page.more) break
      await this.#transactions()
    }
    expect(found).toEqual(this.#model.list("/", revision))
  }

  async #unreadable(): Promise<void> {
    const [key, prefix] = [this.#pick(keys), this.#pick(prefixes)]
    const expectCode = async (revision: number, wanted: StorageErrorCode): Promise<void> => {
      const iterator = this.#store.watch(prefix, { after: revision })[Symbol.asyncIterator]()
      const outcomes = [this.#store.get(key, revision), this.#store.range(prefix, { revision }), iterator.next()]
      await Promise.all(outcomes.map((outcome) => expect(outcome).rejects.toMatchObject({ code: wanted })))
    }
    await expectCode(this.#model.revision + 1 + this.#random(3), "FutureRevision")
    if (this.#model.compacted > 0) await expectCode(1 + this.#random(this.#model.compacted), "Compacted")
  }

  /** Continues the current watch or starts one, and reads all events up to now. */
  async #watchSome(): Promise<void> {
    this.#watch ??= new ModelWatch(this.#store, this.#pick(prefixes), {
      after: this.#revision(),
      ...(this.#random(4) === 0 ? { maxPendingBytes: 600 } : {}),
      ...(this.#random(4) === 0 ? { concerns: (key: string) => key.length % 2 === 0 } : {}),
      patient: this.#random(2) === 0,
    })
    const continues = await this.#watch.readAll(this.#model)
    if (!continues || this.#random(3) === 0) this.#endWatch()
  }

  #endWatch(): void {
    this.#watch?.close()
    this.#watch = undefined
  }

  async #compact(): Promise<void> {
    const revision = this.#revision()
    await this.#store.compact(revision)
    this.#model.compact(revision)
  }

  /** Writes, reads of the past and of the present, a compaction and a read of the watch, none of which waits for another. */
  async #together(): Promise<void> {
    const store = this.#store
    const before = this.#model.revision
    const transactions = this.#severalTransactions()
    const reads = Array.from({ length: 4 }, () => new PastRead(this.#pick(prefixes), this.#revision()))
    const compaction = this.#random(2) === 0 ? Math.min(this.#revision(), before - 1) : 0
    let results: readonly TransactionResult[] = []
    let present: RangeResult | undefined
    this.#watch?.begin()
    await this.#atOnce([
      ...reads.map((read) => () => read.from(store)),
      async () => (results = await Promise.all(transactions.map((transaction) => store.txn(transaction)))),
      async () => (present = await store.range("/")),
      async () => (compaction > 0 ? store.compact(compaction) : undefined),
    ])
    for (const [i, transaction] of transactions.entries()) this.#applied(transaction, results[i])
    this.#model.compact(compaction)
    for (const read of reads) read.check(this.#model)
    expect(present?.revision).toBeGreaterThanOrEqual(before)
    expect(present?.items.map(showState)).toEqual(this.#model.list("/", present?.revision ?? 0))
  }

  /** In any order, and in different turns of the event loop. */
  async #atOnce(jobs: readonly (() => Promise<unknown>)[]): Promise<void> {
    const begin = async (job: () => Promise<unknown>): Promise<void> => {
      for (let turns = this.#random(4); turns > 0; turns--) await nextTurn()
      await job()
    }
    const order = jobs.map((job) => ({ job, place: this.#random(100) })).toSorted((a, b) => a.place - b.place)
    await Promise.all(order.map(({ job }) => begin(job)))
  }

  /** What has been acknowledged is there when the store is opened again, and nothing else. */
  async #closeBesideWrites(): Promise<void> {
    if (!this.#inOrder || this.#open === undefined) return this.#transactions()
    const transactions = this.#severalTransactions()
    const writing = Promise.allSettled(transactions.map((transaction) => this.#store.txn(transaction)))
    for (let turns = this.#random(4); turns > 0; turns--) await nextTurn()
    await this.#reopen()
    for (const [i, outcome] of (await writing).entries()) {
      if (outcome.status === "fulfilled") this.#applied(transactions[i] as Transaction, outcome.value)
      else expect(outcome.reason).toMatchObject({ code: "Closed" })
    }
  }

  /** What a failed write has left on the disk shows when the store continues. */
  async #failingWrite(): Promise<void> {
    const disk = this.#disk
    if (disk === undefined) return this.#transactions()
    this.#endWatch()
    const transaction = this.#transaction()
    disk.failure = this.#pick(["before", "after"])
    const result = await this.#store.txn(transaction).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "Unavailable" })
    })
    disk.failure = undefined
    // The store continues when it has read what is there; until then values in memory are those before.
    await this.#store.txn({ compare: [], operations: [] })
    if (result !== undefined) this.#applied(transaction, result)
    else if (this.#store.revision > this.#model.revision) this.#model.apply(transaction)
    await this.#range()
  }

  async #reopen(): Promise<void> {
    if (this.#open === undefined) return
    this.#endWatch()
    await this.#store[Symbol.asyncDispose]()
    this.#store = await this.#open()
  }
}
