// The limits of one store, named, with what happens at each. Every store of a gateway has its own set; the defaults are
// meant for a process with thousands of stores, of which few are busy.

/**
 * What a process holds for each byte of objects and texts that it keeps: V8 lets garbage lie until there is about as much of it.
 * Measured: 610 KiB for an awake tenant of 20 objects that needs 340, 1200 for one of 100 that needs 700.
 */
export const heldPerUsed = 2

export interface StoreLimits {
  /** One key, UTF-8 bytes. Beyond: TooLarge. */
  maxKeyBytes: number
  /** One value. An API server takes bodies up to 3 MiB; the margin is for what it adds (metadata, managed fields). Beyond: TooLarge. */
  maxValueBytes: number
  /** Operations and comparisons of one transaction, each. Beyond: TooLarge. */
  maxTransactionOperations: number
  /** Keys and values of one transaction. Beyond: TooLarge. */
  maxTransactionBytes: number
  /** Transactions waiting for the disk. Beyond: Unavailable, nothing is written. */
  maxWaitingTransactions: number
  /** A group commit takes waiting transactions until it has this many bytes; the rest goes into the next group. */
  groupBytes: number
  /** Events a watch keeps for its consumer when the watch does not say. Beyond: SlowConsumer. */
  maxPendingEvents: number
  /** Recent changes kept in memory, so that watches resume without reading the disk. Beyond: the oldest go. */
  recentEventBytes: number
  /** Changes and bytes of the revision log read at once while a watch catches up. */
  backlogChanges: number
  backlogBytes: number
  /**
   * Ranges at a revision at most this far behind read the log since then, others the history of each key in the range:
   * which of the two costs less.
   */
  recentRevisions: number
  /**
   * Automatic compaction: history older than this, or beyond this many revisions, is dropped. Checked when something is
   * written or the past is read; a store that rests keeps what it has. 0 turns that half off. Source: kube-apiserver lets etcd
   * compact every five minutes what was there five minutes before (--etcd-compaction-interval), and clients count on it.
   */
  historyMilliseconds: number
  historyRevisions: number
  /** Changes dropped per step of a compaction; between steps other work gets its turn. */
  compactionStep: number
  /** Current values of a small store kept in memory, with what keeping them costs. A store with more reads them from LevelDB. */
  residentBytes: number
  /** LevelDB's own: uncompressed blocks kept, bytes collected in memory before a table is written, table files held open (LevelDB's minimum is 74). */
  blockCacheBytes: number
  writeBufferBytes: number
  maxOpenFiles: number
  /** After the disk refused: how long writes fail at once before the database is opened anew. */
  reopenMilliseconds: number
}

const KiB = 1024
const MiB = 1024 * KiB

export const defaultLimits: Readonly<StoreLimits> = {
  maxKeyBytes: 2 * KiB,
  maxValueBytes: 3 * MiB + 256 * KiB,
  maxTransactionOperations: 1024,
  maxTransactionBytes: 8 * MiB,
  maxWaitingTransactions: 16 * KiB,
  groupBytes: 4 * MiB,
  maxPendingEvents: 4096,
  recentEventBytes: 256 * KiB,
  backlogChanges: 512,
  backlogBytes: 1 * MiB,
  recentRevisions: 500,
  historyMilliseconds: 5 * 60_000,
  historyRevisions: 10_000,
  compactionStep: 500,
  residentBytes: 512 * KiB,
  blockCacheBytes: 200 * KiB,
  writeBufferBytes: 1024 * KiB,
  maxOpenFiles: 74,
  reopenMilliseconds: 1000,
}

export function withDefaults(limits: Partial<StoreLimits> | undefined): StoreLimits {
  return { ...defaultLimits, ...limits }
}
