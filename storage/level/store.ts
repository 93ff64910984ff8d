// A store on LevelDB: one directory, one owner process. Writes go through the group commit, reads to LevelDB's tables,
// watches to the revision log and the buffer of recent changes. Only what is on disk is seen by reads and watches: while
// a batch is under way, they use a snapshot taken before it.

import { setImmediate } from "node:timers/promises"
import { emptyBaseLayer } from "../base-layer.ts"
import { HistoryPolicy } from "../history-policy.ts"
import { withDefaults, type StoreLimits } from "../limits.ts"
import type { StoreQuota, Usage } from "../quota.ts"
import { checkReadable, compactedError, compactionTarget } from "../transaction.ts"
import {
  type BaseLayer,
  type KeyValue,
  type RangeOptions,
  type RangeResult,
  type Revision,
  type Store,
  type StoreEvent,
  type Transaction,
  type TransactionResult,
  type Watcher,
  type WatchOptions,
} from "../types.ts"
import { EventBuffer } from "../watch/event-buffer.ts"
import { createWatcher, type ChangeLog } from "../watch/watcher.ts"
import { dropOldest, hasLeftovers } from "./compaction.ts"
import { accessError, memoryOf, openDatabase, readState, type Database, type DatabaseState } from "./database.ts"
import { closedError, GroupCommit } from "./group-commit.ts"
import { Allowance } from "./allowance.ts"
import { metaCompacted } from "./keys.ts"
import { Residency } from "./residency.ts"
import { ResidentBudget } from "./resident.ts"
import { readRange } from "./range.ts"
import { changeWrites, readAt, readChanges, type Write } from "./revision-log.ts"
import { readCurrent, View } from "./view.ts"

export interface LevelStoreOptions {
  directory: string
  base?: BaseLayer
  limits?: Partial<StoreLimits>
  /** Milliseconds, for the age of history. */
  now?: () => number
  /** What large stores of the process may keep in memory together. Default: nothing. */
  residents?: ResidentBudget
  /** What it may hold. Default: without limit. */
  quota?: StoreQuota
  /** How the database is opened: tests put a failing disk here. */
  open?: typeof openDatabase
}

const noBudget = new ResidentBudget(0)

/** Fails with InUse, Format, Corrupt or Unavailable. */
export async function openLevelStore(options: LevelStoreOptions): Promise<Store> {
  const limits = withDefaults(options.limits)
  const { residents: budget = noBudget } = options
  const open = () => (options.open ?? openDatabase)({ directory: options.directory, limits })
  const database = await open()
  try {
    const state = await readState(database)
    const base = options.base ?? emptyBaseLayer
    const residency = new Residency({ base, ownBytes: limits.residentBytes, budget })
    if (state.fresh) residency.beginEmpty()
    else await residency.open(database)
    const allowance = new Allowance(options.quota)
    await allowance.open(database, state)
    const store = new LevelStore({ database, state, residency, open, limits, base, now: options.now, allowance })
    if (!state.fresh && (await hasLeftovers(database, state.compacted))) store.resumeCompaction()
    return store
  } catch (error) {
    await database.close()
    throw accessError(error, options.directory)
  }
}

interface Parts {
  database: Database
  state: DatabaseState
  residency: Residency
  open: () => Promise<Database>
  limits: StoreLimits
  base: BaseLayer
  now: (() => number) | undefined
  allowance: Allowance
}

class LevelStore implements Store, ChangeLog {
  readonly #open: () => Promise<Database>
  readonly #base: BaseLayer
  readonly #limits: StoreLimits
  readonly #now: () => number
  readonly #commits: GroupCommit
  readonly #policy: HistoryPolicy
  readonly #allowance: Allowance
  #database: Database
  #head: Revision
  #compacted: Revision
  #buffer: EventBuffer
  readonly #residency: Residency
  /** The committed state for reads of several steps, and for all reads while a batch is under way. */
  #view: View | undefined
  #committing = false
  /** Set from a failed write until the database has been opened anew. */
  #broken: Error | undefined
  #reopening: Promise<void> | undefined
  #reopenAfter = 0
  /** Compactions run one after the other. */
  #compaction: Promise<void> = Promise.resolve()
  #compactionWaits = false
  #closing: Promise<void> | undefined

  constructor(parts: Parts) {
    this.#database = parts.database
    this.#open = parts.open
    this.#base = parts.base
    this.#residency = parts.residency
    this.#limits = parts.limits
    this.#now = parts.now ?? Date.now
    this.#allowance = parts.allowance
    this.#head = parts.state.head
    this.#compacted = parts.state.compacted
    this.#buffer = new EventBuffer(this.#head, this.#limits.recentEventBytes)
    this.#policy = new HistoryPolicy(this.#limits, this.#now)
    this.#policy.target(this.#head, this.#compacted)
    this.#commits = new GroupCommit(
      {
        ready: () => this.#ready(),
        revision: () => this.#head,
        read: (key) => this.#readCurrent(key),
        commit: (events, revision, usage) => this.#commit(events, revision, usage),
        quota: () => this.#allowance.current,
      },
      this.#limits,
    )
  }

  get revision(): Revision {
    return this.#head
  }

  get compactedRevision(): Revision {
    return this.#compacted
  }

  get memoryBytes(): number {
    const values = this.#residency.current?.bytes ?? 0
    return values + this.#buffer.bytes + memoryOf(this.#database)
  }

  async latest(): Promise<Revision> {
    await this.#ready()
    return this.#head
  }

  async get(key: string, revision?: Revision): Promise<KeyValue | undefined> {
    await this.#ready()
    if (revision !== undefined) checkReadable(revision, this.#compacted, this.#head)
    if (revision !== undefined && revision < this.#head) return this.#withView((view) => readAt(view, key, revision))
    return this.#readCurrent(key)
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    await this.#ready()
    const { revision = this.#head } = options
    checkReadable(revision, this.#compacted, this.#head)
    const resident = revision === this.#head ? this.#residency.current : undefined
    if (resident !== undefined) {
      const { limitInMemory = 0, limit } = options
      const limits = limit === undefined || limitInMemory < limit ? {} : { limit: limitInMemory }
      return { ...resident.range(prefix, { ...options, ...limits }), revision }
    }
    this.#residency.promote((load) => this.#withView(load))
    return this.#withView((view) => readRange(view, prefix, options))
  }

  txn(transaction: Transaction): Promise<TransactionResult> {
    return this.#commits.submit(transaction)
  }

  watch(prefix: string, options: WatchOptions): Watcher {
    if (this.#closing) throw closedError()
    return createWatcher(this, this.#buffer, prefix, {
      after: options.after,
      maxPending: options.maxPending ?? this.#limits.maxPendingEvents,
    })
  }

  async readChanges(prefix: string, after: Revision): Promise<{ events: readonly StoreEvent[]; revision: Revision }> {
    await this.#ready()
    if (after <= this.#compacted) throw compactedError(after, this.#compacted)
    return this.#withView((view) => readChanges(view, prefix, after))
  }

  async compact(revision: Revision): Promise<void> {
    await this.#ready()
    await this.#compactTo(compactionTarget(revision, this.#head))
  }

  /** Removes what an interrupted compaction has left, in the background. */
  resumeCompaction(): void {
    this.#background(this.#enqueue(() => this.#dropHistory()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#buffer.end(closedError())
    await this.#commits.close()
    // Its failure has been told to those who asked for something.
    await this.#reopening?.catch(() => undefined)
    await this.#compaction
    await this.#residency.close()
    await this.#database.close()
  }

  async #ready(): Promise<void> {
    if (this.#closing) throw closedError()
    if (this.#broken) await this.#reopen()
  }

  #readCurrent(key: string): KeyValue | undefined {
    const resident = this.#residency.current
    if (resident !== undefined) return resident.get(key)
    const snapshot = this.#committing ? this.#view?.snapshot : undefined
    try {
      return readCurrent(this.#database, this.#base, key, snapshot)
    } catch (error) {
      throw accessError(error, this.#database.location)
    }
  }

  async #withView<T>(read: (view: View) => Promise<T>): Promise<T> {
    const view = this.#currentView()
    try {
      return await view.read(read)
    } catch (error) {
      throw this.#closing ? closedError() : accessError(error, view.database.location)
    }
  }

  #currentView(): View {
    this.#view ??= new View(this.#database, this.#base, this.#limits, this.#head)
    return this.#view
  }

  #retireView(): void {
    this.#view?.retire()
    this.#view = undefined
  }

  async #commit(events: readonly StoreEvent[], revision: Revision, usage: Usage | undefined): Promise<void> {
    // Reads during the commit need the state before it.
    this.#currentView()
    this.#committing = true
    try {
      await this.#write([...changeWrites(events, this.#base), ...this.#allowance.writes(usage)], true)
      this.#head = revision
      this.#allowance.committed(usage)
      this.#residency.committed(events)
      this.#retireView()
    } finally {
      this.#committing = false
    }
    this.#buffer.publish(events, revision)
    this.#compactHistory()
  }

  async #write(writes: Write[], sync: boolean): Promise<void> {
    const database = this.#database
    try {
      await database.batch<string | Buffer, Buffer>(writes, { sync, valueEncoding: "buffer" })
    } catch (error) {
      const failure = accessError(error, database.location)
      if (database === this.#database) this.#break(failure)
      throw failure
    }
  }

  // After a failed write LevelDB's log may end in half a record, or even in a whole one: only opening it anew tells.
  // Watches end, because they could miss what turns out to be there.
  #break(error: Error): void {
    if (this.#broken || this.#closing) return
    this.#broken = error
    this.#residency.drop()
    this.#buffer.end(error)
    this.#background(this.#reopen())
  }

  #reopen(): Promise<void> {
    this.#reopening ??= this.#tryReopen().finally(() => {
      this.#reopening = undefined
    })
    return this.#reopening
  }

  async #tryReopen(): Promise<void> {
    const reason = this.#broken
    if (reason && this.#now() < this.#reopenAfter) throw reason
    this.#reopenAfter = this.#now() + this.#limits.reopenMilliseconds
    await this.#database.close()
    this.#view = undefined
    this.#database = await this.#open()
    const state = await readState(this.#database)
    const { head, compacted } = state
    await this.#allowance.open(this.#database, state)
    await this.#residency.open(this.#database)
    this.#head = head
    this.#compacted = compacted
    this.#buffer = new EventBuffer(head, this.#limits.recentEventBytes)
    this.#broken = undefined
  }

  #compactHistory(): void {
    if (this.#compactionWaits || this.#closing) return
    const target = this.#policy.target(this.#head, this.#compacted)
    if (target !== undefined) this.#background(this.#compactTo(Math.min(target, this.#head - 1)))
  }

  #compactTo(revision: Revision): Promise<void> {
    return this.#enqueue(async () => {
      if (revision <= this.#compacted) return
      const record: Write = {
        type: "put",
        key: metaCompacted,
        value: Buffer.from(String(revision)),
        keyEncoding: "utf8",
      }
      await this.#write([record], true)
      this.#compacted = revision
      await this.#dropHistory()
    })
  }

  // The state at the oldest readable revision needs only the changes after it.
  async #dropHistory(): Promise<void> {
    const write = (writes: Write[]) => this.#write(writes, false)
    while (!this.#closing && (await dropOldest(this.#database, this.#compacted + 1, this.#limits, write)))
      await setImmediate()
    if (!this.#committing) this.#retireView()
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#compactionWaits = true
    const run = this.#compaction.then(async () => {
      await this.#ready()
      await work()
    })
    // The queue goes on after a failure, which its caller gets to see.
    this.#compaction = run.then(
      () => this.#compactionDone(),
      () => this.#compactionDone(),
    )
    return run
  }

  #compactionDone(): void {
    this.#compactionWaits = false
  }

  // Work nobody waits for: when it fails, the store is broken or closing, and the next caller is told.
  #background(work: Promise<void>): void {
    work.catch(() => undefined)
  }
}
