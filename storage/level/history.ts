// Compaction of one store: how far back its history reaches, and removal of older history. It runs in the background after writes,
// according to the policy, or on request; one compaction at a time.

import { setImmediate } from "node:timers/promises"
import { HistoryPolicy } from "../history-policy.ts"
import type { StoreLimits } from "../limits.ts"
import type { Revision } from "../types.ts"
import { dropOldest } from "./compaction.ts"
import type { Database } from "./database.ts"
import { metaCompacted } from "./keys.ts"
import type { Write } from "./revision-log.ts"

/** The parts of the store that it needs. */
export interface HistoryStore {
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

  /** Called after writes and reads of the past: removes history that has become too old, in the background. */
  check(head: Revision): void {
    if (this.#isQueued || this.#store.isClosing()) return
    const target = this.#policy.target(head, this.compacted)
    if (target !== undefined) background(this.compactTo(Math.min(target, head - 1)))
  }

  /** Removes the remains of an interrupted compaction, in the background. */
  resume(): void {
    background(this.#enqueue(() => this.#drop()))
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
    while (!store.isClosing() && (await dropOldest(store.database(), this.compacted + 1, this.#limits, write)))
      await setImmediate()
    store.dropped()
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
