// Random operations compared with a simple model: an array of states by revision. For every implementation. MODEL_SEED=<seed>
// repeats a failed run; MODEL_STEPS changes its length.

import { expect } from "vitest"
import { createRandom, type Random } from "../../apimachinery/testing/random.ts"
import { createBaseLayer } from "./base-layer.ts"
import { compareKeys } from "../key-order.ts"
import type { BaseLayer, KeyValue, Operation, Store, StoreEvent, Transaction, Watcher } from "../types.ts"

const steps = Number(process.env["MODEL_STEPS"] ?? 400)
const seed = Number(process.env["MODEL_SEED"] ?? Date.now() % 1_000_000)

export interface ModelRun {
  base: BaseLayer | undefined
  /** Opens the same store each time; it has been closed before. */
  open: () => Promise<Store>
  /** Transactions submitted together are applied in order; otherwise they are submitted one by one. */
  inOrder: boolean
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

type State = ReadonlyMap<string, { value: string; create: number; mod: number }>

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

class Model {
  /** By revision; states before `compacted + 1` are not used. */
  readonly states: State[] = [new Map(), new Map()]
  readonly events: { revision: number; text: string; key: string }[] = []
  compacted = 0

  constructor(base: BaseLayer | undefined) {
    const value = (key: string): string => Buffer.from(base?.value(key) ?? []).toString()
    this.states[1] = new Map((base?.keys ?? []).map((key) => [key, { value: value(key), create: 1, mod: 1 }]))
  }

  get revision(): number {
    return this.states.length - 1
  }

  at(revision: number): State {
    return this.states[revision] ?? new Map()
  }

  apply({ compare, operations }: Transaction): { succeeded: boolean; revision: number } {
    const before = this.at(this.revision)
    if (!compare.every(({ key, modRevision }) => (before.get(key)?.mod ?? 0) === modRevision))
      return { succeeded: false, revision: this.revision }
    const after = new Map(before)
    const revision = this.revision + 1
    const texts: string[] = []
    for (const operation of operations) this.#write(after, operation, revision, texts)
    if (texts.length > 0) this.states.push(after)
    return { succeeded: true, revision: this.revision }
  }

  #write(
    state: Map<string, { value: string; create: number; mod: number }>,
    operation: Operation,
    revision: number,
    texts: string[],
  ): void {
    const { key } = operation
    const old = state.get(key)
    const was = old ? ` was ${old.value} ${old.create}/${old.mod}` : ""
    let text = ""
    if (operation.type === "put") {
      const entry = { value: Buffer.from(operation.value).toString(), create: old?.create ?? revision, mod: revision }
      state.set(key, entry)
      text = `put ${key}=${entry.value} ${entry.create}/${revision}${was}`
    } else {
      if (!old) return
      state.delete(key)
      text = `delete ${key}=${old.value} ${old.create}/${revision}${was}`
    }
    texts.push(text)
    this.events.push({ revision, text, key })
  }
}

const textOf = (value: Uint8Array): string => Buffer.from(value).toString()
const showState = (kv: KeyValue): string => `${kv.key}=${textOf(kv.value)} ${kv.createRevision}/${kv.modRevision}`
const showEvent = ({ type, current, previous }: StoreEvent): string => {
  const was = previous ? ` was ${textOf(previous.value)} ${previous.createRevision}/${previous.modRevision}` : ""
  return `${type} ${showState(current)}${was}`
}

class Run {
  readonly #random: Random
  readonly #open: () => Promise<Store>
  readonly #inOrder: boolean
  readonly #model: Model
  #store: Store
  #watch: { watcher: Watcher; prefix: string; after: number } | undefined
  #written = 0

  constructor({ base, open, inOrder }: ModelRun, random: Random, store: Store) {
    this.#open = open
    this.#inOrder = inOrder
    this.#random = random
    this.#store = store
    this.#model = new Model(base)
  }

  async step(): Promise<void> {
    const choice = this.#random(100)
    if (choice < 45) await this.#transactions()
    else if (choice < 65) await this.#range()
    else if (choice < 75) await this.#get()
    else if (choice < 90) await this.#watchSome()
    else if (choice < 95) await this.#compact()
    else if (choice < 97) await this.#reopen()
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

  // Transactions submitted together must have the same effect as sequential ones.
  async #transactions(): Promise<void> {
    const count = this.#inOrder ? 1 + this.#random(6) : 1
    const transactions = Array.from({ length: count }, () => this.#transaction())
    const results = await Promise.all(transactions.map((transaction) => this.#store.txn(transaction)))
    for (const [i, transaction] of transactions.entries()) {
      const { succeeded, revision } = results[i] ?? {}
      expect({ succeeded, revision }).toEqual(this.#model.apply(transaction))
    }
  }

  #expected(prefix: string, revision: number, after?: string): string[] {
    return [...this.#model.at(revision)]
      .filter(([key]) => key.startsWith(prefix) && (after === undefined || compareKeys(key, after) > 0))
      .toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .map(([key, { value, create, mod }]) => `${key}=${value} ${create}/${mod}`)
  }

  async #range(): Promise<void> {
    const prefix = this.#pick(prefixes)
    const revision = this.#revision()
    const limit = this.#random(5)
    const after = this.#random(2) === 0 ? this.#pick(keys) : undefined
    const options = { revision, limit, count: true, ...(after === undefined ? {} : { after }) }
    const { items, more, remaining } = await this.#store.range(prefix, options)
    const expected = this.#expected(prefix, revision, after)
    expect(items.map(showState)).toEqual(expected.slice(0, limit))
    expect([more, remaining]).toEqual([expected.length > limit, Math.max(0, expected.length - limit)])
    const latest = this.#expected(prefix, this.#model.revision)
    expect((await this.#store.range(prefix, { limit, count: true })).remaining).toBe(Math.max(0, latest.length - limit))
    const all = await this.#store.range(prefix)
    expect(all.items.map(showState)).toEqual(latest)
  }

  async #get(): Promise<void> {
    const revision = this.#revision()
    for (const key of keys) {
      const found = await this.#store.get(key, revision)
      expect(found ? [showState(found)] : []).toEqual(
        this.#expected(key, revision).filter((s) => s.startsWith(`${key}=`)),
      )
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
    expect(found).toEqual(this.#expected("/", revision))
  }

  // Continues the current watch or starts one, and reads all events up to now.
  async #watchSome(): Promise<void> {
    this.#watch ??= this.#startWatch()
    const { watcher, prefix, after } = this.#watch
    const expected = this.#model.events.filter((event) => event.revision > after && event.key.startsWith(prefix))
    const found: string[] = []
    const iterator = watcher[Symbol.asyncIterator]()
    while (found.length < expected.length) {
      const batch = await iterator.next()
      found.push(...(batch.value as StoreEvent[]).map(showEvent))
    }
    expect(found).toEqual(expected.map((event) => event.text))
    this.#watch.after = this.#model.revision
    if (this.#random(3) === 0) this.#endWatch()
  }

  #startWatch(): { watcher: Watcher; prefix: string; after: number } {
    const prefix = this.#pick(prefixes)
    const after = this.#revision()
    return { watcher: this.#store.watch(prefix, { after }), prefix, after }
  }

  #endWatch(): void {
    this.#watch?.watcher.close()
    this.#watch = undefined
  }

  async #compact(): Promise<void> {
    // Compaction may expire a watch that is behind; the suite tests that.
    this.#endWatch()
    const revision = this.#revision()
    await this.#store.compact(revision)
    this.#model.compacted = Math.max(this.#model.compacted, Math.min(revision, this.#model.revision - 1))
  }

  async #reopen(): Promise<void> {
    this.#endWatch()
    await this.#store[Symbol.asyncDispose]()
    this.#store = await this.#open()
  }
}
