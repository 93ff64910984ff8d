// A store on LevelDB. Writes go through the group commit, reads use LevelDB's tables, watches use the revision log and
// the buffer of recent changes. Reads and watches see only what is on disk: while a batch is being written, they use a
// snapshot taken before it.

import { heldPerUsed, type StoreLimits } from "../limits.ts"
import type { Usage } from "../quota.ts"
import { checkReadable, compactedError, compactionTarget } from "../transaction.ts"
import {
  type BaseLayer,
  closedError,
  type KeyValue,
  type RangeOptions,
  type RangeResult,
  type Revision,
  type StorageError,
  type Store,
  type StoreEvent,
  type Transaction,
  type TransactionResult,
  type Watcher,
  type WatchOptions,
} from "../types.ts"
import { EventBuffer } from "../watch/event-buffer.ts"
import { createWatcher, type ChangeLog } from "../watch/watcher.ts"
import { memoryOf, type Database } from "./database.ts"
import type { DatabaseState, OpenedDatabase } from "./state.ts"
import { GroupCommit } from "./group-commit.ts"
import { Allowance } from "./allowance.ts"
import { History } from "./history.ts"
import type { Image } from "./image.ts"
import { type CountedKeys, KeyCounts } from "./key-counts.ts"
import { Residency } from "./residency.ts"
import type { Resident } from "./resident.ts"
import { readRange } from "./range.ts"
import { changeWrites, readAt, readChanges } from "./revision-log.ts"
import { StoreDatabase } from "./store-database.ts"
import type { View } from "./view.ts"
import { Views } from "./views.ts"

interface LevelStoreParts {
  /** Undefined: LevelDB is opened when first needed; until then the resident values are the complete state. */
  database: Database | undefined
  state: Pick<DatabaseState, "head" | "compacted">
  residency: Residency
  /** The database has been at that revision before. */
  open: (atLeast: Revision) => Promise<OpenedDatabase>
  /** Whether the values of a small store are noted when it has been closed without errors after writes. */
  hasImage: boolean
  /** Called with a state that is on disk. Never rejects. */
  noted: (image: Image) => Promise<void>
  limits: StoreLimits
  base: BaseLayer
  now: (() => number) | undefined
  allowance: Allowance
}

/**
 * Groups of transactions after which it is noted how far an open store has got: more than a new tenant has, since a note takes as long as a
 * few of them.
 */
const firstNoted = 16

export class LevelStore implements Store, ChangeLog {
  readonly #hasImage: boolean
  readonly #noted: LevelStoreParts["noted"]
  readonly #base: BaseLayer
  readonly #limits: StoreLimits
  readonly #now: () => number
  readonly #commits: GroupCommit
  readonly #history: History
  readonly #allowance: Allowance
  readonly #database: StoreDatabase
  #head: Revision
  #buffer: EventBuffer
  readonly #residency: Residency
  readonly #counts = new KeyCounts()
  readonly #views: Views
  /** Groups of transactions since the database was opened. */
  #groups = 0
  #noting: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor(parts: LevelStoreParts) {
    this.#hasImage = parts.hasImage
    this.#noted = parts.noted
    this.#base = parts.base
    this.#residency = parts.residency
    this.#limits = parts.limits
    this.#now = parts.now ?? (() => performance.now())
    this.#allowance = parts.allowance
    this.#head = parts.state.head
    this.#buffer = new EventBuffer(this.#head, this.#limits.recentEventBytes)
    this.#database = new StoreDatabase({
      database: parts.database,
      open: () => parts.open(this.#head),
      now: this.#now,
      writeBufferBytes: this.#limits.writeBufferBytes,
      reopenMilliseconds: this.#limits.reopenMilliseconds,
      isClosing: () => this.#closing !== undefined,
      isKnown: (state) => state.head === this.#head && state.compacted === this.#history.compacted,
      adopted: (database) => this.found(database),
      dropped: () => this.#residency.drop(),
      distrusted: (error) => this.#buffer.end(error),
      begin: (opened, trusted) => this.#begin(opened, trusted),
    })
    this.#views = new Views({
      base: parts.base,
      limits: this.#limits,
      database: () => this.#database.opened,
      head: () => this.#head,
    })
    this.#history = new History(parts.state, this.#limits, this.#now, {
      database: () => this.#database.opened,
      ready: () => this.#database.ready(),
      write: (writes, sync) => this.#database.write(writes, sync),
      isClosing: () => this.#closing !== undefined,
      dropped: () => this.#views.dropped(),
    })
    this.#commits = new GroupCommit(
      {
        ready: () => this.#database.ready(),
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
    const { current } = this.#database
    const ofDatabase = current === undefined ? 0 : memoryOf(current)
    return heldPerUsed * (values + this.#buffer.bytes) + ofDatabase
  }

  get damage(): StorageError | undefined {
    return this.#database.damage
  }

  async latest(): Promise<Revision> {
    if (this.#residentAt(undefined) === undefined) await this.#database.ready()
    return this.#head
  }

  async get(key: string, revision?: Revision): Promise<KeyValue | undefined> {
    const resident = this.#residentAt(revision)
    if (resident !== undefined) return resident.get(key)
    const waiting = this.#database.ready()
    if (waiting !== undefined) await waiting
    if (revision !== undefined) checkReadable(revision, this.#history.compacted, this.#head)
    if (revision !== undefined && revision < this.#head)
      return this.#past(revision, (view) => readAt(view, key, revision))
    return this.#readCurrent(key)
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    const resident = this.#residentAt(options.revision)
    if (resident !== undefined) return { ...resident.range(prefix, options), revision: this.#head }
    const waiting = this.#database.ready()
    if (waiting !== undefined) await waiting
    checkReadable(options.revision ?? this.#head, this.#history.compacted, this.#head)
    this.#residency.promote((load) => this.#withView(load))
    const read = (view: View) => readRange(view, prefix, options, this.#countIn(view, prefix, options))
    return options.revision === undefined ? this.#withView(read) : this.#past(options.revision, read)
  }

  /** While a commit ends, the view may still be that before it. */
  #countIn(view: View, prefix: string, { count = false }: RangeOptions): CountedKeys | undefined {
    return count && view.revision === this.#head ? this.#counts.of(prefix) : undefined
  }

  txn(transaction: Transaction): Promise<TransactionResult> {
    return this.#commits.submit(transaction)
  }

  watch(prefix: string, options: WatchOptions): Watcher {
    if (this.#closing) throw closedError()
    return createWatcher(this, this.#buffer, prefix, options, this.#limits)
  }

  async readChanges(prefix: string, after: Revision): Promise<{ events: readonly StoreEvent[]; revision: Revision }> {
    await this.#database.ready()
    return this.#withView((view) => {
      const { compacted } = this.#history
      if (after <= compacted) throw compactedError(after, compacted)
      return readChanges(view, prefix, after)
    })
  }

  async compact(revision: Revision): Promise<void> {
    await this.#database.ready()
    await this.#history.compactTo(compactionTarget(revision, this.#head))
  }

  /** Call once for a database that was there before the store was opened. */
  found(database: Database): Promise<void> {
    return this.#history.found(database, this.#head)
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#buffer.end(closedError())
    await this.#commits.close()
    await this.#database.opening()
    await this.#history.done
    const resident = this.#residency.current
    await this.#database.close()
    await this.#noting
    // A large store has too many values to read them when it opens.
    const isSmall = resident !== undefined && resident.bytes <= this.#limits.residentBytes
    if (this.#database.current !== undefined && !this.#database.isBroken)
      await this.#note(this.#hasImage && isSmall ? resident.tableEntries() : undefined)
    await this.#residency.close()
  }

  #note(entries: Image["entries"]): Promise<void> {
    const { recorded: usage } = this.#allowance
    return this.#noted({ head: this.#head, compacted: this.#history.compacted, usage, entries })
  }

  /** The resident values, if they can answer without the database. */
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

  /**
   * Also compacts after reads of the past, so that continue tokens expire in time even without further writes. Compactions that ended
   * while the read waited for its view have set the compacted revision before they removed what it would need.
   */
  async #past<T>(revision: Revision, read: (view: View) => Promise<T>): Promise<T> {
    const result = await this.#withView((view) => {
      checkReadable(revision, this.#history.compacted, this.#head)
      return read(view)
    })
    this.#history.check(this.#head)
    return result
  }

  async #commit(events: readonly StoreEvent[], revision: Revision, usage: Usage | undefined): Promise<void> {
    await this.#views.during(this.#residency.current === undefined, async () => {
      await this.#database.write([...changeWrites(events, this.#base), ...this.#allowance.writes(usage)], true)
      this.#head = revision
      this.#allowance.committed(usage)
      this.#residency.committed(events)
      this.#counts.committed(events)
    })
    this.#groups++
    // Then after twice as many, and so on; nobody waits for it.
    if (this.#groups >= firstNoted && Number.isInteger(Math.log2(this.#groups)))
      this.#noting = this.#noting.then(() => this.#note(undefined))
    this.#history.check(this.#head, this.#buffer.publish(events, revision))
  }

  async #begin({ database, state }: OpenedDatabase, trusted: () => void): Promise<void> {
    this.#views.forget()
    this.#groups = 0
    await this.#allowance.open(database, state)
    await this.#residency.open(database, () => {
      this.#head = state.head
      this.#counts.forget()
      this.#history.compacted = state.compacted
      this.#buffer = new EventBuffer(state.head, this.#limits.recentEventBytes)
      trusted()
    })
  }
}
