// Compaction of one store: how far back its history reaches, and dropping what lies before. In the background after writes, as
// the policy says, or when somebody asks; one after the other.

import { setImmediate } from "node:timers/promises"
import { HistoryPolicy } from "../history-policy.ts"
import type { StoreLimits } from "../limits.ts"
import type { Revision } from "../types.ts"
import { dropOldest } from "./compaction.ts"
import type { Database } from "./database.ts"
import { metaCompacted } from "./keys.ts"
import type { Write } from "./revision-log.ts"

/** What it needs of its store. */
export interface HistoryStore {
  database(): Database
  /** Fails when the store cannot be used. */
  ready(): Promise<void> | undefined
  write(writes: Write[], sync: boolean): Promise<void>
  isClosing(): boolean
  /** Told when history has been dropped. */
  dropped(): void
}

export class History {
  /** Reads and watches at or below it fail. */
  compacted: Revision
  readonly #limits: StoreLimits
  readonly #policy: HistoryPolicy
  readonly #store: HistoryStore
  /** The one under way, and those behind it. */
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

  /** Resolves when nothing is under way. */
  get done(): Promise<void> {
    return this.#queue
  }

  /** Something has been written, or the past been read: what is too old by now goes, in the background. */
  check(head: Revision): void {
    if (this.#isQueued || this.#store.isClosing()) return
    const target = this.#policy.target(head, this.compacted)
    if (target !== undefined) background(this.compactTo(Math.min(target, head - 1)))
  }

  /** Removes what an interrupted compaction has left, in the background. */
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
    // The queue goes on after a failure, which its caller gets to see.
    this.#queue = run.then(done, done)
    return run
  }
}

// Work nobody waits for: when it fails, the store is broken or closing, and the next caller is told.
function background(work: Promise<void>): void {
  work.catch(() => undefined)
}
