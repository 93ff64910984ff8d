// Compaction of one store: how far back its history reaches, and removal of older history. It runs in the background after writes,
// according to the policy, or on request; one compaction at a time.

import { setImmediate } from "node:timers/promises"
import { HistoryPolicy } from "../history-policy.ts"
import type { StoreLimits } from "../limits.ts"
import type { Revision } from "../types.ts"
import { dropOldest, freeSpace, hasLeftovers, logBytes } from "./compaction.ts"
import type { Database } from "./database.ts"
import { metaCompacted } from "./keys.ts"
import type { Write } from "./revision-log.ts"

/** The parts of the store that it needs. */
interface HistoryStore {
  database(): Database
  /** Throws if the store cannot be used. */
  ready(): Promise<void> | undefined
  write(writes: Write[], sync: boolean): Promise<void>
  isClosing(): boolean
  /** Called when history has been removed. */
  dropped(): void
}

export class History {
  /** Reads and watches at or below it fail. */
  compacted: Revision
  readonly #limits: StoreLimits
  readonly #policy: HistoryPolicy
  readonly #store: HistoryStore
  /** The compaction in progress, and those queued behind it. */
  #queue: Promise<void> = Promise.resolve()
  #isQueued = false
  /** Bytes removed since space was last freed. */
  #removed = 0
  #isFreeing = false

  constructor(
    state: { head: Revision; compacted: Revision },
    limits: StoreLimits,
    now: () => number,
    store: HistoryStore,
  ) {
    this.compacted = state.compacted
    this.#limits = limits
    this.#store = store
    this.#policy = new HistoryPolicy(limits, now)
    this.#policy.target(state.head, state.compacted)
  }

  /** Resolves when no compaction is in progress. */
  get done(): Promise<void> {
    return this.#queue
  }

  /**
   * Call once for a database that was there: counts its history, unless it is certainly small, and removes the remains of an
   * interrupted compaction, in the background.
   */
  async found(database: Database, head: Revision): Promise<void> {
    const { historyBytes, maxTransactionBytes } = this.#limits
    if ((head - this.compacted) * maxTransactionBytes > historyBytes) this.#policy.wrote(await logBytes(database))
    if (await hasLeftovers(database, this.compacted)) background(this.#enqueue(() => this.#drop()))
  }

  /** Called after writes of so many bytes, and after reads of the past: removes history that is too old, in the background. */
  check(head: Revision, written = 0): void {
    this.#policy.wrote(written)
    if (this.#isQueued || this.#store.isClosing()) return
    const target = this.#policy.target(head, this.compacted)
    if (target !== undefined) background(this.compactTo(Math.min(target, head - 1)))
  }

  compactTo(revision: Revision): Promise<void> {
    return this.#enqueue(async () => {
      if (revision <= this.compacted) return
      const record: Write = {
        type: "put",
        key: metaCompacted,
        value: Buffer.from(String(revision)),
        keyEncoding: "utf8",
      }
      await this.#store.write([record], true)
      this.compacted = revision
      await this.#drop()
    })
  }

  // The state at the oldest readable revision needs only the changes after it.
  async #drop(): Promise<void> {
    const store = this.#store
    const write = (writes: Write[]) => store.write(writes, false)
    for (let hasMore = true; hasMore && !store.isClosing(); await setImmediate()) {
      const dropped = await dropOldest(store.database(), this.compacted + 1, this.#limits, write)
      this.#removed += dropped.bytes
      hasMore = dropped.hasMore
    }
    store.dropped()
    this.#free()
  }

  /** Beside further compactions, because it may take seconds. LevelDB ends it when it is closed. */
  #free(): void {
    if (this.#isFreeing || this.#removed < this.#limits.freedBytes || this.#store.isClosing()) return
    this.#removed = 0
    this.#isFreeing = true
    const freed = freeSpace(this.#store.database(), this.compacted + 1)
    background(freed.finally(() => (this.#isFreeing = false)))
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#isQueued = true
    const run = this.#queue.then(async () => {
      await this.#store.ready()
      await work()
    })
    const done = (): void => {
      this.#isQueued = false
    }
    // The queue continues after a failure, which is reported to the caller.
    this.#queue = run.then(done, done)
    return run
  }
}

// Background work: if it fails, the store is broken or closing, and the next caller gets the error.
function background(work: Promise<void>): void {
  work.catch(() => undefined)
}
