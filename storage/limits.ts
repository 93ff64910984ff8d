// The limits of one store and the behaviour at each limit. Every store of a gateway has its own set; the defaults are meant for a
// process with thousands of stores, few of which are busy.

/**
 * Memory that a process needs per byte of live objects and strings: V8 starts a collection when there is about as much garbage.
 * Measured: 610 KiB for an awake tenant of 20 objects that needs 340, 1200 for one of 100 that needs 700.
 */
export const heldPerUsed = 2

export interface StoreLimits {
  /** Size of one key in UTF-8 bytes. Beyond: TooLarge. */
  maxKeyBytes: number
  /** Size of one value. An API server accepts bodies up to 3 MiB and adds metadata and managed fields. Beyond: TooLarge. */
  maxValueBytes: number
  /** Number of operations, and of comparisons, in one transaction. Beyond: TooLarge. */
  maxTransactionOperations: number
  /** Total size of keys and values in one transaction. Beyond: TooLarge. */
  maxTransactionBytes: number
  /** Number of transactions waiting for the disk. Beyond: Unavailable, nothing is written. */
  maxWaitingTransactions: number
  /** A group commit takes waiting transactions until it has this many bytes; the rest is part of the next group. */
  groupBytes: number
  /** Default number of events that a watch buffers for its consumer. Beyond: SlowConsumer. */
  maxPendingEvents: number
  /**
   * Size of all changes of the store since the first event that a watch buffers. Beyond: it drops them, and reads them from the log when
   * its consumer continues. All watches share the events, so this is what they hold together.
   */
  maxPendingBytes: number
  /** Recent changes kept in memory, so that watches resume without reading the disk. Beyond: the oldest are dropped. */
  recentEventBytes: number
  /** Changes, bytes of the revision log, and bytes of their values that a watch reads at once while it catches up. */
  backlogChanges: number
  backlogBytes: number
  /** A piece of the log with fewer bytes may be held by any number of watches. Beyond: WatchOptions.reading. */
  smallBacklogBytes: number
  /**
   * A range at a revision at most this far behind is computed from the log since that revision, others from the history of each key in
   * the range, whichever costs less.
   */
  recentRevisions: number
  /**
   * Automatic compaction: history older than this, or beyond this many revisions or bytes, is dropped. Checked when something is
   * written or the past is read; an idle store keeps its history. 0 disables that limit. Source: kube-apiserver makes etcd compact
   * every five minutes what is older than five minutes (--etcd-compaction-interval), and clients rely on that. The quota of a store does
   * not count its history: without a limit in bytes, one that is overwritten all the time would fill the disk for all.
   */
  historyMilliseconds: number
  historyRevisions: number
  historyBytes: number
  /** Changes dropped per step of a compaction; other work runs between the steps. */
  compactionStep: number
  /** When so many bytes of history have been dropped, their space on disk is freed; fewer are left to LevelDB. */
  freedBytes: number
  /** Size of the current values, with overhead, that a small store keeps in memory. A larger store reads them from LevelDB. */
  residentBytes: number
  /**
   * LevelDB's options: uncompressed blocks cached, bytes buffered before a table is written, table files kept open (at least 74). A buffer
   * takes memory as it is filled, and is written earlier if that takes long (log-upkeep.ts). One of 1 MiB takes half as much processor
   * time again for each write.
   */
  blockCacheBytes: number
  writeBufferBytes: number
  maxOpenFiles: number
  /** After a disk error: how long writes fail immediately before the database is reopened. */
  reopenMilliseconds: number
}

const KiB = 1024
const MiB = 1024 * KiB

/** Bytes of values that whoever reads a whole collection has in memory at once. */
export const pieceBytes = 8 * MiB

export const defaultLimits: Readonly<StoreLimits> = {
  maxKeyBytes: 2 * KiB,
  maxValueBytes: 3 * MiB + 256 * KiB,
  maxTransactionOperations: 1024,
  maxTransactionBytes: 8 * MiB,
  maxWaitingTransactions: 16 * KiB,
  groupBytes: 4 * MiB,
  maxPendingEvents: 4096,
  maxPendingBytes: 8 * MiB,
  recentEventBytes: 256 * KiB,
  backlogChanges: 512,
  backlogBytes: 1 * MiB,
  smallBacklogBytes: 64 * KiB,
  recentRevisions: 500,
  historyMilliseconds: 5 * 60_000,
  historyRevisions: 100_000,
  historyBytes: 256 * MiB,
  compactionStep: 500,
  freedBytes: 64 * MiB,
  residentBytes: 512 * KiB,
  blockCacheBytes: 200 * KiB,
  writeBufferBytes: 4 * MiB,
  maxOpenFiles: 74,
  reopenMilliseconds: 1000,
}

export function withDefaults(limits: Partial<StoreLimits> | undefined): StoreLimits {
  return { ...defaultLimits, ...limits }
}
