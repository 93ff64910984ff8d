// The storage contract: a small etcd per control plane. It knows keys, bytes, revisions and events; nothing of HTTP,
// of pods, or of what a tenant is. Level, memory and etcd implement it and pass storage/testing/store-suite.ts.
//
// A revision is a positive integer that only grows; every committed transaction takes a new one: the next, where the store
// has a sequence of its own. A new store of that kind is at revision 1 (what a base layer holds has modRevision 1).

export type Revision = number

export interface KeyValue {
  key: string
  /** Never to be changed by the receiver: backends hand out what they cache. */
  readonly value: Uint8Array
  createRevision: Revision
  modRevision: Revision
  /** What a base layer knows of the value, so that its bytes need not be made: {@link BaseLayer.known}. */
  readonly known?: unknown
  /**
   * What a reader found in the value, for the next one: there as long as the entry is. Stores never look at it; those that
   * keep entries make them with its place, which takes less than to find one later.
   */
  found?: unknown
}

/** One change. `previous` is the value before it, while the revision log still has it. */
export interface StoreEvent {
  type: "put" | "delete"
  /** put: as written. delete: the last value, with modRevision = the revision of the deletion. */
  current: KeyValue
  previous?: KeyValue
}

export type Operation =
  /** `isGiven`: nobody changes the bytes any more, so the store may keep them, and those who watch see these very bytes. */
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
  /** What is written is on its way out: a quota's reserve is open to it. */
  leaving?: boolean
}

export type TransactionResult =
  | { succeeded: true; revision: Revision }
  /** `current` has the present state of the keys compared, in their order; undefined where a key does not exist. */
  | { succeeded: false; revision: Revision; current: readonly (KeyValue | undefined)[] }

export interface RangeOptions {
  /** Point in time; default the latest committed. Compacted or FutureRevision when it cannot be answered. */
  revision?: Revision
  /** Exclusive lower bound: continue after this key. */
  after?: string
  limit?: number
  /** Instead of `limit`, where the values are in memory and cost nothing to read: more of one point in time at once. */
  limitInMemory?: number
  /** Count what lies beyond `limit`. Costs a scan over keys. */
  count?: boolean
}

export interface RangeResult {
  items: readonly KeyValue[]
  /** The revision the answer is true at. */
  revision: Revision
  more: boolean
  /** With `count`: how many keys remain after the last item. */
  remaining?: number
}

export interface WatchOptions {
  /** Deliver every change with modRevision > `after`. Compacted error when the log no longer reaches back. */
  after: Revision
  /** Events not taken by the consumer. Beyond it the watch ends with SlowConsumer; the consumer resumes or relists. */
  maxPending?: number
  /**
   * Where many watches wait for one change, this one may be told after others have had their turn (watch/wakes.ts). Others are
   * told before whoever made the change.
   */
  patient?: boolean
}

/**
 * Changes under a prefix, in order, each once, in batches of one or more whole transactions. `for await` ends when
 * closed, throws StorageError when the watch cannot go on. `revision` is the revision up to which everything has been
 * delivered, also when nothing under the prefix changed (for bookmarks).
 */
export interface Watcher extends AsyncIterable<readonly StoreEvent[]> {
  readonly revision: Revision
  close(): void
}

export interface Store extends AsyncDisposable {
  /** The latest committed revision that is known here: at least that of every answer this store has given. */
  readonly revision: Revision
  /** Reads and watches at or below it fail with Compacted. */
  readonly compactedRevision: Revision
  /** Memory that closing it gives back, as far as it is counted: values and changes it keeps, its backend's own buffers. */
  readonly memoryBytes: number
  /** The latest committed revision of all; others than `revision` only where other processes write to the same store. */
  latest(): Promise<Revision>
  /** The latest committed value, or the one at `revision`. Linearizable: sees every acknowledged write. */
  get(key: string, revision?: Revision): Promise<KeyValue | undefined>
  /** Keys that start with `prefix`, in byte order. */
  range(prefix: string, options?: RangeOptions): Promise<RangeResult>
  /** Acknowledged when it is on disk. A transaction that writes nothing takes no revision. Limits: storage/limits.ts. */
  txn(transaction: Transaction): Promise<TransactionResult>
  watch(prefix: string, options: WatchOptions): Watcher
  compact(revision: Revision): Promise<void>
}

/** Immutable objects below a store: what every control plane starts with. Reads see them until overwritten or deleted. */
export interface BaseLayer {
  /** In byte order. */
  readonly keys: readonly string[]
  has(key: string): boolean
  /** Undefined: it has no such key. May have to be made. */
  value(key: string): Uint8Array | undefined
  /** For who reads from stores; they hand it on and do not look into it. */
  known?(key: string): unknown
}

export type StorageErrorCode =
  | "Compacted" // reading or watching: the revision is no longer in the log
  | "FutureRevision" // reading or watching: the revision is not there yet
  | "SlowConsumer" // watching: more than maxPending events wait
  | "QuotaExceeded" // writing: the store holds as much as it may
  | "TooLarge" // writing: a value or transaction beyond the limit
  | "Closed" // any: the store is closed or closing
  | "InUse" // opening: another process has it
  | "Format" // opening: made by a newer version
  | "Corrupt" // opening or checking: an invariant does not hold
  | "Unavailable" // any: the disk refuses (full, not writable)

export class StorageError extends Error {
  readonly code: StorageErrorCode

  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = "StorageError"
    this.code = code
  }
}
