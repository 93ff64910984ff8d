// An in-memory store with the same guarantees as the one on disk, except durability. For tests, and for control planes that need
// not outlive the process. Transactions are applied synchronously, in the order of the calls.

import { baseRevision, baseValue, emptyBaseLayer, storedLength } from "../base-layer.ts"
import { lowerBound, selectKeys } from "../key-order.ts"
import { HistoryPolicy } from "../history-policy.ts"
import { withDefaults, type StoreLimits } from "../limits.ts"
import {
  applyTransaction,
  checkReadable,
  compactedError,
  compactionTarget,
  measureTransaction,
  stateAfter,
} from "../transaction.ts"
import {
  type BaseLayer,
  closedError,
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

interface MemoryStoreOptions {
  base?: BaseLayer
  limits?: Partial<StoreLimits>
}

export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options.base ?? emptyBaseLayer, withDefaults(options.limits))
}

/** The state of a key from `revision` on; undefined if it does not exist. */
interface Version {
  revision: Revision
  state: KeyValue | undefined
}

class MemoryStore implements Store, ChangeLog {
  readonly #limits: StoreLimits
  readonly #buffer: EventBuffer
  readonly #history: HistoryPolicy
  /** All keys with versions, in byte order. */
  readonly #keys: string[] = []
  /** By key, oldest first; the first version is the state at the oldest readable revision. */
  readonly #versions = new Map<string, Version[]>()
  readonly #log: StoreEvent[] = []
  #revision: Revision = baseRevision
  #compacted: Revision = 0
  #closed = false

  constructor(base: BaseLayer, limits: StoreLimits) {
    this.#limits = limits
    this.#buffer = new EventBuffer(baseRevision, limits.recentEventBytes)
    this.#history = new HistoryPolicy(limits, () => performance.now())
    for (const key of base.keys) {
      this.#keys.push(key)
      this.#versions.set(key, [{ revision: baseRevision, state: baseValue(base, key) }])
    }
  }

  get revision(): Revision {
    return this.#revision
  }

  get compactedRevision(): Revision {
    return this.#compacted
  }

  /** Only the size of the recent changes, because closing this store would not free memory. */
  get memoryBytes(): number {
    return this.#buffer.bytes
  }

  async latest(): Promise<Revision> {
    this.#checkOpen()
    return this.#revision
  }

  async get(key: string, revision?: Revision): Promise<KeyValue | undefined> {
    this.#checkOpen()
    if (revision !== undefined) checkReadable(revision, this.#compacted, this.#revision)
    return this.#at(key, revision ?? this.#revision)
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    this.#checkOpen()
    const revision = options.revision ?? this.#revision
    checkReadable(revision, this.#compacted, this.#revision)
    const { limit = Infinity, limitBytes = Infinity } = options
    const items: KeyValue[] = []
    let bytes = 0
    let remaining = 0
    for (const key of selectKeys(this.#keys, prefix, options.after)) {
      const state = this.#at(key, revision)
      if (!state) continue
      if (items.length < limit && bytes < limitBytes) {
        items.push(state)
        bytes += storedLength(state)
      } else remaining++
    }
    return { items, bytes, revision, more: remaining > 0, ...(options.count ? { remaining } : {}) }
  }

  async txn(transaction: Transaction): Promise<TransactionResult> {
    this.#checkOpen()
    measureTransaction(transaction, this.#limits)
    const { result, events } = applyTransaction(transaction, this.#revision, (key) => this.#at(key, this.#revision))
    if (events.length === 0) return result
    this.#revision = result.revision
    for (const event of events) {
      this.#log.push(event)
      this.#addVersion(event.current.key, { revision: result.revision, state: stateAfter(event) })
    }
    this.#history.wrote(this.#buffer.publish(events, result.revision))
    this.#compactHistory()
    return result
  }

  watch(prefix: string, options: WatchOptions): Watcher {
    this.#checkOpen()
    return createWatcher(this, this.#buffer, prefix, options, this.#limits)
  }

  async readChanges(prefix: string, after: Revision): Promise<{ events: readonly StoreEvent[]; revision: Revision }> {
    this.#checkOpen()
    if (after <= this.#compacted) throw compactedError(after, this.#compacted)
    const piece = this.#pieceFrom(this.#logIndex(after))
    const events = piece.filter((event) => event.current.key.startsWith(prefix))
    return { events, revision: Math.max(piece.at(-1)?.current.modRevision ?? 0, after) }
  }

  async compact(revision: Revision): Promise<void> {
    this.#checkOpen()
    this.#compactTo(compactionTarget(revision, this.#revision))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#buffer.end(closedError())
  }

  /** Whole transactions within the limits, at least one. */
  #pieceFrom(start: number): readonly StoreEvent[] {
    const { backlogChanges, backlogBytes } = this.#limits
    let whole = start
    let bytes = 0
    for (let at = start; at < this.#log.length; at++) {
      const { modRevision, value } = (this.#log[at] as StoreEvent).current
      if (modRevision !== this.#log[at - 1]?.current.modRevision) whole = at
      bytes += value.length
      if (whole > start && (at - start >= backlogChanges || bytes > backlogBytes)) return this.#log.slice(start, whole)
    }
    return this.#log.slice(start)
  }

  #checkOpen(): void {
    if (this.#closed) throw closedError()
  }

  #at(key: string, revision: Revision): KeyValue | undefined {
    return this.#versions.get(key)?.findLast((version) => version.revision <= revision)?.state
  }

  #addVersion(key: string, version: Version): void {
    const versions = this.#versions.get(key)
    if (versions) {
      versions.push(version)
    } else {
      this.#versions.set(key, [version])
      this.#keys.splice(lowerBound(this.#keys, key), 0, key)
    }
  }

  /** The first entry of the log after `revision`. */
  #logIndex(revision: Revision): number {
    let low = 0
    let high = this.#log.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#log[middle]?.current.modRevision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }

  #compactHistory(): void {
    const target = this.#history.target(this.#revision, this.#compacted)
    if (target !== undefined) this.#compactTo(Math.min(target, this.#revision - 1))
  }

  // The oldest state that must be kept is the one at the first revision that stays readable.
  #compactTo(revision: Revision): void {
    if (revision <= this.#compacted) return
    this.#compacted = revision
    const oldest = revision + 1
    const dropped = this.#log.splice(0, this.#logIndex(oldest))
    for (const key of new Set(dropped.map((event) => event.current.key))) this.#dropVersions(key, oldest)
  }

  #dropVersions(key: string, oldest: Revision): void {
    const versions = this.#versions.get(key) ?? []
    const first = versions.findLastIndex((version) => version.revision <= oldest)
    versions.splice(0, first)
    if (versions.length > 1 || versions[0]?.state) return
    this.#versions.delete(key)
    this.#keys.splice(lowerBound(this.#keys, key), 1)
  }
}
