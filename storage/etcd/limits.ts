// Limits of one etcd connection, and the effect of each. Limits of values and transactions are in storage/limits.ts; etcd's own
// limits (--max-request-bytes, 1.5 MiB by default; --max-txn-ops) also apply and cause TooLarge.

export interface EtcdLimits {
  /** One attempt on one member, and the time in which the feed's member must say how far it is. When exceeded: the next member is tried. */
  attemptMs: number
  /** All attempts of one call, and also the time that a call waits for the feed. When exceeded: Unavailable. */
  callMs: number
  /** Delay between attempts, also of the feed, doubled each time up to maxRetryMs. */
  retryMs: number
  maxRetryMs: number
  /** Interval of pings on a connection, and time after which an unanswered ping closes it. etcd rejects intervals below 5 s. */
  keepAliveMs: number
  keepAliveTimeoutMs: number
  /** Interval at which a feed that is behind a response requests its progress. */
  progressMs: number
  /** After a compaction that has failed. */
  compactRetryMs: number
  /** Number of concurrent backlog reads for watches. When exceeded: they wait, and stores take turns. */
  maxBacklogs: number
  /** The same for each store. */
  maxBacklogsOfStore: number
  /** History of all tenants together: number of revisions that stay readable at least, unless they are too old (storage/limits.ts). */
  historyRevisions: number
  /** The same for its size: etcd itself stops all writes at --quota-backend-bytes, 2 GiB by default. */
  historyBytes: number
}

export const defaultEtcdLimits: Readonly<EtcdLimits> = {
  attemptMs: 5_000,
  callMs: 20_000,
  retryMs: 20,
  maxRetryMs: 500,
  keepAliveMs: 10_000,
  keepAliveTimeoutMs: 5_000,
  progressMs: 25,
  compactRetryMs: 60_000,
  maxBacklogs: 32,
  maxBacklogsOfStore: 8,
  historyRevisions: 1_000_000,
  historyBytes: 512 * 1024 * 1024,
}

/** The delay after so many failures in a row, at least one. */
export function retryDelay({ retryMs, maxRetryMs }: EtcdLimits, failures: number): number {
  return Math.min(retryMs * 2 ** (failures - 1), maxRetryMs)
}
