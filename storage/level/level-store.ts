// A store on an open LevelDB. Writes go through the group commit, reads to LevelDB's tables, watches to the revision log and
// the buffer of recent changes. Only what is on disk is seen by reads and watches: while a batch is under way, they use a
// snapshot taken before it.

import { heldPerUsed, type StoreLimits } from "../limits.ts"
import type { Usage } from "../quota.ts"
import { checkReadable, compactedError, compactionTarget } from "../transaction.ts"
import {
  StorageError,
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
import { accessError, memoryOf, type Database, type DatabaseState, type OpenedDatabase } from "./database.ts"
import { closedError, GroupCommit } from "./group-commit.ts"
import { Allowance } from "./allowance.ts"
import { hasLeftovers } from "./compaction.ts"
import { History } from "./history.ts"
import type { Image } from "./image.ts"
import { Residency } from "./residency.ts"
import type { Resident } from "./resident.ts"
import { readRange } from "./range.ts"
import { changeWrites, readAt, readChanges, type Write } from "./revision-log.ts"
import type { View } from "./view.ts"
import { Views } from "./views.ts"

export interface LevelStoreParts {
  /** Undefined: it is opened when it is needed first; until then what is resident is all there is to know. */
  database: Database | undefined
  state: Pick<DatabaseState, "head" | "compacted">
  residency: Residency
  open: () => Promise<OpenedDatabase>
  /** Told when it has been closed in good order after it was written to, with what is there then. */
  closed?: (image: Image) => Promise<void>
  limits: StoreLimits
  base: BaseLayer
  now: (() => number) | undefined
  allowance: Allowance
}

export class LevelStore implements Store, ChangeLog {
  readonly #open: () => Promise<OpenedDatabase>
  readonly #closed: LevelStoreParts["closed"]
  readonly #base: BaseLayer
  readonly #limits: StoreLimits
  readonly #now: () => number
  readonly #commits: GroupCommit
  readonly #history: History
  readonly #allowance: Allowance
  #database: Database | undefined
  #head: Revision
  #buffer: EventBuffer
  readonly #residency: Residency
  readonly #views: Views
  /** Set from a failed write until the database has been opened anew. */
  #broken: Error | undefined
  /** Of the database: at the first time, or anew. */
  #opening: Promise<void> | undefined
  #openAfter = 0
  #closing: Promise<void> | undefined

  constructor(parts: LevelStoreParts) {
    this.#database = parts.database
    this.#open = parts.open
    this.#closed = parts.closed
    this.#base = parts.base
    this.#residency = parts.residency
    this.#limits = parts.limits
    this.#now = parts.now ?? Date.now
    this.#allowance = parts.allowance
    this.#head = parts.state.head
    this.#buffer = new EventBuffer(this.#head, this.#limits.recentEventBytes)
    this.#views = new Views({
      base: parts.base,
      limits: this.#limits,
      database: () => this.#openDatabase,
      head: () => this.#head,
    })
    this.#history = new History(parts.state, this.#limits, this.#now, {
      database: () => this.#openDatabase,
      ready: () => this.#ready(),
      write: (writes, sync) => this.#write(writes, sync),
      isClosing: () => this.#closing !== undefined,
      dropped: () => this.#views.dropped(),
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
    const ofDatabase = this.#database === undefined ? 0 : memoryOf(this.#database)
    return heldPerUsed * (values + this.#buffer.bytes) + ofDatabase
  }

  async latest(): Promise<Revision> {
    if (this.#residentAt(undefined) === undefined) await this.#ready()
    return this.#head
  }

  async get(key: string, revision?: Revision): Promise<KeyValue | undefined> {
    const resident = this.#residentAt(revision)
    if (resident !== undefined) return resident.get(key)
    const waiting = this.#ready()
    if (waiting !== undefined) await waiting
    if (revision !== undefined) checkReadable(revision, this.#history.compacted, this.#head)
    if (revision !== undefined && revision < this.#head) return this.#withView((view) => readAt(view, key, revision))
    return this.#readCurrent(key)
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    const resident = this.#residentAt(options.revision)
    if (resident !== undefined) return { ...resident.range(prefix, options), revision: this.#head }
    const waiting = this.#ready()
    if (waiting !== undefined) await waiting
    checkReadable(options.revision ?? this.#head, this.#history.compacted, this.#head)
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
    await this.#opening?.catch(() => undefined)
    await this.#history.done
    const resident = this.#residency.current
    await this.#database?.close()
    // What a large store was given for a while is more than one reads to wake it.
    const isSmall = resident !== undefined && resident.bytes <= this.#limits.residentBytes
    if (this.#database !== undefined && this.#broken === undefined && isSmall)
      await this.#closed?.({
        head: this.#head,
        compacted: this.#history.compacted,
        usage: this.#allowance.recorded,
        entries: resident.tableEntries(),
      })
    await this.#residency.close()
  }

  /** Resolves when the database can be used. Undefined: it can. */
  #ready(): Promise<void> | undefined {
    if (this.#closing) throw closedError()
    return this.#database === undefined || this.#broken !== undefined ? this.#openAgain() : undefined
  }

  get #openDatabase(): Database {
    if (this.#database === undefined) throw new Error("the database has not been opened")
    return this.#database
  }

  /** What answers without the database; undefined: nothing does. */
  #residentAt(revision: Revision | undefined): Resident | undefined {
    if (this.#closing) throw closedError()
    return revision === undefined || revision === this.#head ? this.#residency.current : undefined
  }

  #readCurrent(key: string): KeyValue | undefined {
    const resident = this.#residency.current
    return resident === undefined ? this.#views.readCurrent(key) : resident.get(key)
  }

  async #withView<T>(read: (view: View) => Promise<T>): Promise<T> {
    try {
      return await this.#views.read(read)
    } catch (error) {
      throw this.#closing ? closedError() : error
    }
  }

  async #commit(events: readonly StoreEvent[], revision: Revision, usage: Usage | undefined): Promise<void> {
    await this.#views.during(this.#residency.current === undefined, async () => {
      await this.#write([...changeWrites(events, this.#base), ...this.#allowance.writes(usage)], true)
      this.#head = revision
      this.#allowance.committed(usage)
      this.#residency.committed(events)
    })
    this.#buffer.publish(events, revision)
    this.#history.committed(this.#head)
  }

  async #write(writes: Write[], sync: boolean): Promise<void> {
    const database = this.#openDatabase
    try {
      await database.batch<string | Buffer, Buffer>(writes, { sync, valueEncoding: "buffer" })
    } catch (error) {
      const failure = accessError(error, database.location)
      if (database === this.#database) this.#break(failure)
      throw failure
    }
  }

  // After a failed write LevelDB's log may end in half a record, or even in a whole one: only opening it anew tells.
  // Watches end, because they could miss what turns out to be there. What is resident is what has been acknowledged: it is read
  // until then, however long a full disk takes.
  #break(error: Error): void {
    // Nobody waits for it: when it fails, the next caller is told.
    if (this.#distrust(error)) this.#openAgain().catch(() => undefined)
  }

  #distrust(error: Error): boolean {
    if (this.#broken || this.#closing) return false
    this.#broken = error
    this.#buffer.end(error)
    return true
  }

  #openAgain(): Promise<void> {
    this.#opening ??= this.#tryOpen().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #tryOpen(): Promise<void> {
    const reason = this.#broken
    if (reason && this.#now() < this.#openAfter) throw reason
    this.#openAfter = this.#now() + this.#limits.reopenMilliseconds
    await this.#database?.close()
    try {
      const opened = await this.#open()
      if (this.#broken === undefined) await this.#adopt(opened)
      else await this.#begin(opened)
    } catch (error) {
      this.#distrust(error as Error)
      throw error
    }
  }

  /** At the first time, when all that is known comes from the image. */
  async #adopt({ database, state }: OpenedDatabase): Promise<void> {
    if (state.head === this.#head && state.compacted === this.#history.compacted) {
      this.#database = database
      if (await hasLeftovers(database, state.compacted)) this.resumeCompaction()
      return
    }
    this.#distrust(new StorageError("Unavailable", `store ${database.location} was written to by somebody else`))
    this.#residency.drop()
    await this.#begin({ database, state })
  }

  async #begin({ database, state }: OpenedDatabase): Promise<void> {
    this.#database = database
    this.#views.forget()
    await this.#allowance.open(database, state)
    await this.#residency.open(database, () => {
      this.#head = state.head
      this.#history.compacted = state.compacted
      this.#buffer = new EventBuffer(state.head, this.#limits.recentEventBytes)
      this.#broken = undefined
    })
  }
}
