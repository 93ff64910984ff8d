// A store on an open LevelDB. Writes go through the group commit, reads to LevelDB's tables, watches to the revision log and
// the buffer of recent changes. Only what is on disk is seen by reads and watches: while a batch is under way, they use a
// snapshot taken before it.

import { heldPerUsed, type StoreLimits } from "../limits.ts"
import type { Usage } from "../quota.ts"
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
import { accessError, memoryOf, readState, type Database, type DatabaseState } from "./database.ts"
import { closedError, GroupCommit } from "./group-commit.ts"
import { Allowance } from "./allowance.ts"
import { History } from "./history.ts"
import { Residency } from "./residency.ts"
import { readRange } from "./range.ts"
import { changeWrites, readAt, readChanges, type Write } from "./revision-log.ts"
import { readCurrent, View } from "./view.ts"

export interface LevelStoreParts {
  database: Database
  state: DatabaseState
  residency: Residency
  open: () => Promise<Database>
  limits: StoreLimits
  base: BaseLayer
  now: (() => number) | undefined
  allowance: Allowance
}

export class LevelStore implements Store, ChangeLog {
  readonly #open: () => Promise<Database>
  readonly #base: BaseLayer
  readonly #limits: StoreLimits
  readonly #now: () => number
  readonly #commits: GroupCommit
  readonly #history: History
  readonly #allowance: Allowance
  #database: Database
  #head: Revision
  #buffer: EventBuffer
  readonly #residency: Residency
  /** The committed state for reads of several steps, and for all reads while a batch is under way. */
  #view: View | undefined
  #committing = false
  /** Set from a failed write until the database has been opened anew. */
  #broken: Error | undefined
  #reopening: Promise<void> | undefined
  #reopenAfter = 0
  #closing: Promise<void> | undefined

  constructor(parts: LevelStoreParts) {
    this.#database = parts.database
    this.#open = parts.open
    this.#base = parts.base
    this.#residency = parts.residency
    this.#limits = parts.limits
    this.#now = parts.now ?? Date.now
    this.#allowance = parts.allowance
    this.#head = parts.state.head
    this.#buffer = new EventBuffer(this.#head, this.#limits.recentEventBytes)
    this.#history = new History(parts.state, this.#limits, this.#now, {
      database: () => this.#database,
      ready: () => this.#ready(),
      write: (writes, sync) => this.#write(writes, sync),
      isClosing: () => this.#closing !== undefined,
      dropped: () => {
        if (!this.#committing) this.#retireView()
      },
    })
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
    return this.#history.compacted
  }

  get memoryBytes(): number {
    const values = this.#residency.current?.bytes ?? 0
    return heldPerUsed * (values + this.#buffer.bytes) + memoryOf(this.#database)
  }

  async latest(): Promise<Revision> {
    await this.#ready()
    return this.#head
  }

  async get(key: string, revision?: Revision): Promise<KeyValue | undefined> {
    const waiting = this.#ready()
    if (waiting !== undefined) await waiting
    if (revision !== undefined) checkReadable(revision, this.#history.compacted, this.#head)
    if (revision !== undefined && revision < this.#head) return this.#withView((view) => readAt(view, key, revision))
    return this.#readCurrent(key)
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    const waiting = this.#ready()
    if (waiting !== undefined) await waiting
    const { revision = this.#head } = options
    checkReadable(revision, this.#history.compacted, this.#head)
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
      patient: options.patient ?? false,
    })
  }

  async readChanges(prefix: string, after: Revision): Promise<{ events: readonly StoreEvent[]; revision: Revision }> {
    await this.#ready()
    const { compacted } = this.#history
    if (after <= compacted) throw compactedError(after, compacted)
    return this.#withView((view) => readChanges(view, prefix, after))
  }

  async compact(revision: Revision): Promise<void> {
    await this.#ready()
    await this.#history.compactTo(compactionTarget(revision, this.#head))
  }

  /** What an interrupted compaction has left is removed, in the background. */
  resumeCompaction(): void {
    this.#history.resume()
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
    await this.#history.done
    await this.#residency.close()
    await this.#database.close()
  }

  /** Undefined: it is. */
  #ready(): Promise<void> | undefined {
    if (this.#closing) throw closedError()
    return this.#broken && this.#reopen()
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
    this.#history.committed(this.#head)
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
    await this.#allowance.open(this.#database, state)
    await this.#residency.open(this.#database)
    this.#head = state.head
    this.#history.compacted = state.compacted
    this.#buffer = new EventBuffer(state.head, this.#limits.recentEventBytes)
    this.#broken = undefined
  }

  // Work nobody waits for: when it fails, the store is broken or closing, and the next caller is told.
  #background(work: Promise<void>): void {
    work.catch(() => undefined)
  }
}
