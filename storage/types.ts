// The storage contract: a small etcd per control plane. It deals with keys, bytes, revisions and events, and knows nothing of HTTP,
// pods or tenants. Level, memory and etcd implement it and pass storage/testing/store-suite/store-suite.ts.
//
// A revision is a positive integer that only increases. Every committed transaction gets a new one; in a store with its own
// sequence it is the next integer. Such a store starts at revision 1 (entries of the base layer have modRevision 1).

export type Revision = number

export interface KeyValue {
  key: string
  /** The receiver must not modify it: backends return cached arrays. */
  readonly value: Uint8Array
  createRevision: Revision
  modRevision: Revision
  /** The base layer's own form of the value, so that its bytes need not be created: {@link BaseLayer.known}. */
  readonly known?: unknown
  /**
   * A result that a reader computed from the value, cached for later readers as long as the entry exists. Stores never use it. Stores
   * that keep entries create them with this property, which costs less than adding it later.
   */
  found?: unknown
}

/** One change. `previous` is the value before it; only a creation has none. */
export interface StoreEvent {
  type: "put" | "delete"
  /** put: the written entry. delete: the last value, with modRevision = the revision of the deletion. */
  current: KeyValue
  previous?: KeyValue
}

export type Operation =
  /** `isGiven`: the caller does not modify the bytes any more, so the store may keep them and pass them to watches. */
  { type: "put"; key: string; value: Uint8Array; isGiven?: boolean } | { type: "delete"; key: string }

/** `modRevision` 0: the key must not exist. */
export interface Comparison {
  key: string
  modRevision: Revision
}

export interface Transaction {
  /** All must hold, or nothing is written. */
  compare: readonly Comparison[]
  operations: readonly Operation[]
  /** The written objects are being deleted: the transaction may use the quota's reserve. */
  leaving?: boolean
}

export type TransactionResult =
  | { succeeded: true; revision: Revision }
  /** `current` has the current state of the compared keys, in their order; undefined for keys that do not exist. */
  | { succeeded: false; revision: Revision; current: readonly (KeyValue | undefined)[] }

export interface RangeOptions {
  /** Point in time; default the latest committed. Compacted or FutureRevision when it cannot be answered. */
  revision?: Revision
  /** Exclusive lower bound: continue after this key. */
  after?: string
  limit?: number
  /** Replaces `limit` if the values are in memory, where reading them is cheap: larger pieces of the same revision. */
  limitInMemory?: number
  /** The result may end, with `more`, when its values have this length: so much has to be read into memory. */
  limitBytes?: number
  /** Count the keys beyond `limit`. May require a scan over keys. */
  count?: boolean
}

export interface RangeResult {
  items: readonly KeyValue[]
  /** Length of their values, without those of the base layer, whose bytes are created when they are needed. */
  bytes: number
  /** The revision of the result. */
  revision: Revision
  more: boolean
  /** With `count`: how many keys remain after the last item. */
  remaining?: number
}

export interface WatchOptions {
  /** Deliver every change with modRevision > `after`. Fails with Compacted if the log no longer contains them. */
  after: Revision
  /** Maximum number of unread events. Beyond it the watch ends with SlowConsumer; the consumer resumes or relists. */
  maxPending?: number
  /** Maximum size of the store's changes since the first unread event. Beyond it the watch reads them from the log later. */
  maxPendingBytes?: number
  /**
   * If many watches wait for one change, this one may be notified in a later turn of the event loop (watch/wakes.ts). All other
   * watches are notified before the writer.
   */
  patient?: boolean
  /** Deliver only changes of the keys under the prefix for which this is true. */
  concerns?: (key: string) => boolean
  /**
   * Changes for which this is true may be left out, so that they do not wake the watch. Called within writes: it must take no more than about
   * a microsecond, and not throw.
   */
  excludes?: (change: StoreEvent) => boolean
  /** Limits how many watches read the log at the same time, and hold what they have read. */
  reading?: LogReading
}

export interface LogReading {
  /** Called before a piece of the log is read. Returns undefined if the watch may read it now, otherwise a promise to await. */
  enlarge?(): Promise<void> | undefined
  /** Called when the piece has turned out to be small, or is no longer held; may be called again. */
  reduce?(): void
}

/**
 * Changes under a prefix, in order, each once, in batches of one or more complete transactions. `for await` ends when the watch is
 * closed, and throws StorageError if it cannot continue. All changes up to `revision` have been delivered; it also advances
 * when nothing under the prefix changes (for bookmarks).
 */
export interface Watcher extends AsyncIterable<readonly StoreEvent[]> {
  readonly revision: Revision
  close(): void
}

export interface Store extends AsyncDisposable {
  /** The latest committed revision known in this process: at least that of every result this store has returned. */
  readonly revision: Revision
  /** Reads and watches at or below it fail with Compacted. */
  readonly compactedRevision: Revision
  /** Counted memory that closing the store releases: cached values and changes, and buffers of the backend. */
  readonly memoryBytes: number
  /** Set while nothing can be written because the data on disk is damaged. */
  readonly damage?: StorageError | undefined
  /** The latest committed revision of the backend. Differs from `revision` only if other processes write to the same store. */
  latest(): Promise<Revision>
  /** The latest committed value, or the one at `revision`. Linearizable: sees every acknowledged write. */
  get(key: string, revision?: Revision): Promise<KeyValue | undefined>
  /** Keys that start with `prefix`, in byte order. */
  range(prefix: string, options?: RangeOptions): Promise<RangeResult>
  /** Resolves when the transaction is on disk. A transaction that writes nothing gets no revision. Limits: storage/limits.ts. */
  txn(transaction: Transaction): Promise<TransactionResult>
  watch(prefix: string, options: WatchOptions): Watcher
  compact(revision: Revision): Promise<void>
}

/** Immutable entries below a store: the objects every control plane starts with. Reads see them until they are overwritten or deleted. */
export interface BaseLayer {
  /** In byte order. */
  readonly keys: readonly string[]
  has(key: string): boolean
  /** Undefined if the key does not exist. The value may be created on demand. */
  value(key: string): Uint8Array | undefined
  /** For readers of stores. Stores pass it on without using it. */
  known?(key: string): unknown
}

export type StorageErrorCode =
  | "Compacted" // reading or watching: the revision is no longer in the log
  | "FutureRevision" // reading or watching: the revision does not exist yet
  | "SlowConsumer" // watching: more than maxPending events wait
  | "QuotaExceeded" // writing: the store's quota is used up
  | "TooLarge" // writing: a value or transaction beyond the limit
  | "Closed" // any: the store is closed or closing
  | "InUse" // opening: another process uses it
  | "Format" // opening: written by a newer version
  | "Corrupt" // opening or checking: an invariant does not hold
  | "Unavailable" // any: the disk fails (full, not writable)

export class StorageError extends Error {
  readonly code: StorageErrorCode

  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = "StorageError"
    this.code = code
  }
}

export function hasCode(error: unknown, ...codes: StorageErrorCode[]): error is StorageError {
  return error instanceof StorageError && codes.includes(error.code)
}

export function closedError(): StorageError {
  return new StorageError("Closed", "the store is closed")
}
