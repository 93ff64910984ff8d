// Group commit: while one batch is being written to disk, transactions wait; then all waiting transactions become one batch with
// one fsync, after those that come back from the last one (group-pace.ts). Each transaction is compared with the committed state
// plus the changes of the earlier ones in the group, and gets its own revision. No transaction is answered before the batch is on
// disk, not even one whose comparison failed: it may have been compared with uncommitted changes of the group.

import type { StoreLimits } from "../limits.ts"
import { usageAfter, type StoreQuota, type Usage } from "../quota.ts"
import { applyTransaction, measureTransaction, stateAfter } from "../transaction.ts"
import {
  closedError,
  type KeyValue,
  type Revision,
  StorageError,
  type StoreEvent,
  type Transaction,
  type TransactionResult,
} from "../types.ts"
import { GroupPace } from "./group-pace.ts"

/** The state that a group is compared with and written to. */
export interface CommitTarget {
  /** Called before each group; throws if writing is not possible now. */
  ready(): Promise<void> | undefined
  revision(): Revision
  /** The committed state. Not called while commit() is under way. */
  read(key: string): KeyValue | undefined
  /** Writes everything or nothing, durably. Afterwards revision() is `revision`. Throws Unavailable. */
  commit(events: readonly StoreEvent[], revision: Revision, usage: Usage | undefined): Promise<void>
  /** Usage and quota of the committed state. Undefined: no quota. */
  quota(): { quota: StoreQuota; used: Usage } | undefined
}

interface Waiting {
  transaction: Transaction
  bytes: number
  resolve(result: TransactionResult): void
  reject(error: unknown): void
}

export class GroupCommit {
  readonly #target: CommitTarget
  readonly #limits: StoreLimits
  readonly #pace = new GroupPace()
  #waiting: Waiting[] = []
  #running: Promise<void> | undefined
  #closed = false

  constructor(target: CommitTarget, limits: StoreLimits) {
    this.#target = target
    this.#limits = limits
  }

  async submit(transaction: Transaction): Promise<TransactionResult> {
    const bytes = measureTransaction(transaction, this.#limits)
    if (this.#closed) throw closedError()
    if (this.#waiting.length >= this.#limits.maxWaitingTransactions)
      throw new StorageError("Unavailable", `more than ${this.#limits.maxWaitingTransactions} transactions are waiting`)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ transaction, bytes, resolve, reject })
      this.#running ??= this.#run()
      this.#pace.arrived(this.#waiting.length)
    })
  }

  /** Rejects waiting and new transactions; resolves when the group in progress is done. */
  async close(): Promise<void> {
    this.#closed = true
    for (const waiting of this.#waiting.splice(0)) waiting.reject(closedError())
    await this.#running
  }

  async #run(): Promise<void> {
    // Transactions submitted in the same turn of the event loop go into the same group.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      await this.#pace.company(this.#waiting.length)
      const size = await this.#commitGroup()
      this.#pace.ended(size, this.#waiting.length)
    }
    this.#running = undefined
  }

  /** Returns its size. */
  async #commitGroup(): Promise<number> {
    let group: readonly Waiting[] = []
    try {
      const waiting = this.#target.ready()
      if (waiting !== undefined) await waiting
      group = this.#takeGroup()
      const { answers, events, usage } = this.#apply(group)
      if (events.length > 0) await this.#target.commit(events, events.at(-1)?.current.modRevision ?? 0, usage)
      for (const answer of answers) answer()
    } catch (error) {
      if (group.length === 0) group = this.#takeGroup()
      for (const waiting of group) waiting.reject(error)
    }
    return group.length
  }

  #takeGroup(): readonly Waiting[] {
    let bytes = 0
    let end = 0
    for (const waiting of this.#waiting) {
      bytes += waiting.bytes
      if (end > 0 && bytes > this.#limits.groupBytes) break
      end++
    }
    return this.#waiting.splice(0, end)
  }

  #apply(group: readonly Waiting[]): {
    answers: (() => void)[]
    events: StoreEvent[]
    usage: Usage | undefined
  } {
    const events: StoreEvent[] = []
    const overlay = new Map<string, KeyValue | undefined>()
    const read = (key: string) => (overlay.has(key) ? overlay.get(key) : this.#target.read(key))
    let revision = this.#target.revision()
    const limited = this.#target.quota()
    let usage = limited?.used
    const answers = group.map((waiting) => {
      const { transaction } = waiting
      const outcome = applyTransaction(transaction, revision, read)
      try {
        if (limited !== undefined && usage !== undefined)
          usage = usageAfter(usage, outcome.events, limited.quota, transaction.leaving === true)
      } catch (error) {
        return () => waiting.reject(error)
      }
      revision = outcome.result.revision
      for (const event of outcome.events) {
        overlay.set(event.current.key, stateAfter(event))
        events.push(event)
      }
      return () => waiting.resolve(outcome.result)
    })
    return { answers, events, usage }
  }
}
