// One store in an etcd cluster that many share: reads and writes go to etcd, watches use the feed of the whole database. Every
// response waits until the feed has reached its revision, so that the consumers of the store in this process (watches and the
// caches built on them) have observed everything that its readers and writers know, whichever process wrote it.

import { emptyBaseLayer } from "../base-layer.ts"
import type { StoreLimits } from "../limits.ts"
import { checkReadable, compactedError, measureTransaction } from "../transaction.ts"
import {
  type BaseLayer,
  closedError,
  type KeyValue,
  type RangeOptions,
  type RangeResult,
  type Revision,
  StorageError,
  type Store,
  type StoreEvent,
  type Transaction,
  type TransactionResult,
  type Watcher,
  type WatchOptions,
} from "../types.ts"
import { EventBuffer } from "../watch/event-buffer.ts"
import { createWatcher, type ChangeLog } from "../watch/watcher.ts"
import { LostResponseError } from "./client.ts"
import type { Connection } from "./connection.ts"
import { GatedKeys } from "./gated-keys.ts"
import { placeOf, rangeEnd, storeKeys, type StoreKeys } from "./keys.ts"
import { Layer, LostValueError } from "./layer.ts"
import { QuotaGate, type Committed, type Condition, type QuotaGateParts } from "./quota-gate.ts"
import { Mark } from "./mark.ts"
import { readRange } from "./range.ts"
import { isCreation, isGuarded, wireTransaction } from "./transaction.ts"
import type { RangeRequest, RangeResponse, TxnResponse, WireEvent } from "./wire.ts"

interface EtcdStoreParts {
  connection: Connection
  uid: string
  base: BaseLayer | undefined
  limits: StoreLimits
  /** The revision of the last change, if it is certain. */
  lastChange: Revision | undefined
  /** The quota. Undefined: unlimited. */
  quota: Omit<QuotaGateParts, "store"> | undefined
  /** The key of its mark (mark.ts). Undefined: it is never removed. */
  mark: string | undefined
  /** Called when the store is closed and receives no more changes. */
  closed(store: EtcdStore): void
}

export class EtcdStore implements Store, ChangeLog {
  readonly #connection: Connection
  readonly #parts: EtcdStoreParts
  readonly #keys: StoreKeys
  readonly #layer: Layer
  readonly #gate: QuotaGate | undefined
  readonly #mark: Mark | undefined
  #buffer: EventBuffer
  #closing = false
  #lastChange: Revision

  constructor(parts: EtcdStoreParts) {
    this.#parts = parts
    this.#connection = parts.connection
    this.#keys = storeKeys(parts.connection.prefix, parts.uid)
    this.#layer = new Layer(parts.base ?? emptyBaseLayer)
    this.#lastChange = parts.lastChange ?? parts.connection.revision
    this.#buffer = this.#newBuffer(parts.connection.revision)
    this.#mark = parts.mark === undefined ? undefined : new Mark(this.#keys.value(parts.mark))
    if (parts.quota === undefined) return
    const store = new GatedKeys({
      connection: parts.connection,
      keys: this.#keys,
      layer: this.#layer,
      mark: this.#mark,
      range: (request, revision) => this.#range(request, revision),
      commit: (transaction, condition) => this.#commit(transaction, condition),
    })
    this.#gate = new QuotaGate({ ...parts.quota, store })
  }

  /** Reads the state that is needed before the first response. Changes are already delivered to the store. */
  async load(): Promise<void> {
    if (this.#layer.base.keys.length === 0) return
    const { client } = this.#connection
    const prefix = this.#keys.deleted("")
    const request = { key: prefix, range_end: rangeEnd(prefix), keys_only: true }
    try {
      const { response } = await client.call(client.calls.range, request, "again")
      for (const { key, mod_revision } of response.kvs) this.#layer.deleted(this.#keyOf(key), mod_revision)
    } catch (error) {
      throw this.#connection.translate(error, undefined)
    }
  }

  get revision(): Revision {
    return this.#connection.revision
  }

  get compactedRevision(): Revision {
    return this.#connection.compacted
  }

  get memoryBytes(): number {
    return this.#buffer.bytes
  }

  async latest(): Promise<Revision> {
    this.#checkOpen()
    return this.#connection.latest()
  }

  async get(key: string, revision?: Revision): Promise<KeyValue | undefined> {
    this.#checkOpen()
    const { kvs, header } = await this.#range({ key: this.#keys.value(key) }, revision)
    const [found] = kvs
    return found === undefined ? this.#layer.below(key, revision ?? header.revision) : this.#layer.keyValue(key, found)
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    this.#checkOpen()
    const read = (request: RangeRequest, revision?: Revision) => this.#range(request, revision)
    return readRange({ keys: this.#keys, layer: this.#layer, read }, prefix, options)
  }

  async txn(transaction: Transaction): Promise<TransactionResult> {
    this.#checkOpen()
    measureTransaction(transaction, this.#parts.limits)
    const { compare, operations } = transaction
    if (compare.length === 0 && operations.length === 0) return { succeeded: true, revision: await this.latest() }
    if (this.#gate !== undefined) return this.#gate.write(transaction)
    const { result } = await this.#commit(transaction)
    if (result === undefined) throw new Error("a transaction failed for a condition that it does not have")
    return result
  }

  /** The gate of the store's quota. */
  get gate(): QuotaGate | undefined {
    return this.#gate
  }

  /** The revision of the last change of this store. */
  get lastChange(): Revision {
    return this.#lastChange
  }

  watch(prefix: string, options: WatchOptions): Watcher {
    this.#checkOpen()
    // If the store has not changed since, a watch may start even at a revision that has been compacted.
    const after = options.after >= this.#lastChange ? Math.max(options.after, this.revision) : options.after
    return createWatcher(this, this.#buffer, prefix, { ...options, after }, this.#parts.limits)
  }

  /** The revision may have been written by another process, and the client may have received it from there. */
  async reach(revision: Revision): Promise<void> {
    this.#checkOpen()
    checkReadable(revision, this.compactedRevision, await this.#connection.latest())
  }

  async readChanges(prefix: string, after: Revision): Promise<{ events: readonly StoreEvent[]; revision: Revision }> {
    this.#checkOpen()
    if (after <= this.compactedRevision) throw compactedError(after, this.compactedRevision)
    // Reads the whole store, because deletion marks of keys of the base are needed together with the values.
    const { backlogChanges: changes, backlogBytes: bytes } = this.#parts.limits
    const request = { prefix: this.#keys.root, after, changes, bytes }
    const { events, revision } = await this.#connection.readBacklog(request)
    await this.#connection.reach(revision)
    try {
      const changes = this.#changes(events)
      return { events: changes.filter(({ current }) => current.key.startsWith(prefix)), revision }
    } catch (error) {
      if (!(error instanceof LostValueError)) throw error
      throw compactedError(after, error.revision)
    }
  }

  /** Compacts all stores of the database. */
  async compact(revision: Revision): Promise<void> {
    this.#checkOpen()
    await this.#connection.compact(revision)
  }

  /** One transaction, delivered by the feed. */
  changed(changes: readonly WireEvent[], revision: Revision): void {
    this.#lastChange = revision
    try {
      const events = this.#changes(changes)
      this.#gate?.changed(events, changes.find(this.#isGate), revision)
      if (events.length > 0) this.#buffer.publish(events, revision)
    } catch (error) {
      if (!(error instanceof LostValueError)) throw error
      this.startAnew(compactedError(revision - 1, revision), revision)
    }
  }

  /** Called if changes were not delivered: consumers must read everything again. */
  startAnew(error: StorageError, revision: Revision): void {
    this.#lastChange = revision
    this.#gate?.startAnew()
    const before = this.#buffer
    this.#buffer = this.#newBuffer(revision)
    before.end(error)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    this.#parts.closed(this)
    this.#buffer.end(closedError())
  }

  #newBuffer(revision: Revision): EventBuffer {
    return new EventBuffer(revision, this.#parts.limits.recentEventBytes, () =>
      Math.max(revision, this.#connection.revision),
    )
  }

  #checkOpen(): void {
    if (this.#closing) throw closedError()
  }

  async #commit(transaction: Transaction, condition?: Condition): Promise<Committed> {
    const { client } = this.#connection
    const wire = wireTransaction(transaction, this.#keys, this.#layer)
    if (condition !== undefined) {
      wire.compare.push(...condition.compare)
      wire.success.push(...condition.success)
    }
    const checkMark = this.#mark?.require(wire)
    let outcome: { response: TxnResponse; isRepeated: boolean }
    try {
      outcome = await client.call(client.calls.txn, wire, isGuarded(transaction) ? "again" : "once")
    } catch (error) {
      if (error instanceof LostResponseError && isCreation(transaction)) return this.#writtenBefore(transaction)
      throw this.#connection.translate(error, undefined)
    }
    const { response, isRepeated } = outcome
    checkMark?.(response)
    const { revision } = response.header
    await this.#connection.reach(revision)
    this.#checkOpen()
    if (response.succeeded) return { result: { succeeded: true, revision }, isRepeated }
    const current = transaction.compare.map(({ key }, index) => {
      const found = response.responses[index]?.response_range?.kvs[0]
      return found === undefined ? this.#layer.below(key, revision) : this.#layer.keyValue(key, found)
    })
    if (transaction.compare.every(({ modRevision }, index) => (current[index]?.modRevision ?? 0) === modRevision))
      return { isRepeated }
    const isCertain = !isRepeated || transaction.operations.length === 0
    if (isCertain) return { result: { succeeded: false, revision, current }, isRepeated }
    return this.#writtenBefore(transaction)
  }

  async #range(request: RangeRequest, revision: Revision | undefined): Promise<RangeResponse> {
    const { client, compacted } = this.#connection
    if (revision !== undefined && revision <= compacted) throw compactedError(revision, compacted)
    const at = revision === undefined ? request : { ...request, revision }
    try {
      const { response } = await client.call(client.calls.range, at, "again")
      // Its header has the latest revision, even if an earlier one was read.
      await this.#connection.reach(revision ?? response.header.revision)
      this.#checkOpen()
      return response
    } catch (error) {
      throw this.#closing ? closedError() : this.#connection.translate(error, revision)
    }
  }

  /**
   * The outcome of an attempt whose response was lost, if the current values are those that it wrote. Otherwise they have changed
   * since, or it took no effect: nobody can tell, and a caller that tried again might write twice.
   */
  async #writtenBefore({ operations }: Transaction): Promise<Committed> {
    const revisions = new Set<Revision | undefined>()
    for (const operation of operations) {
      const found = await this.get(operation.key)
      if (operation.type === "put") revisions.add(hasValue(found, operation.value) ? found.modRevision : undefined)
      else if (found !== undefined) revisions.add(undefined)
    }
    const [revision] = revisions
    if (revisions.size === 1 && revision !== undefined)
      return { result: { succeeded: true, revision }, isRepeated: true }
    throw new StorageError("Unavailable", "the response of etcd was lost: the transaction may have been applied")
  }

  /** Events of one or more transactions. */
  #changes(events: readonly WireEvent[]): StoreEvent[] {
    const prefixLength = this.#connection.storesPrefix.length
    const found: StoreEvent[] = []
    for (let start = 0; start < events.length;) {
      const revision = events[start]?.kv.mod_revision ?? 0
      const changes = []
      for (let event = events[start]; event?.kv.mod_revision === revision; event = events[++start])
        changes.push({ place: placeOf(event.kv.key, prefixLength), event })
      found.push(...this.#layer.events(changes, revision))
    }
    return found
  }

  readonly #isGate = ({ kv }: WireEvent): boolean => kv.key.equals(this.#keys.gate)

  #keyOf(wire: Buffer): string {
    return wire.toString("utf8", this.#keys.root.length + 1)
  }
}

function hasValue(found: KeyValue | undefined, value: Uint8Array): found is KeyValue {
  return found !== undefined && Buffer.compare(found.value, value) === 0
}
