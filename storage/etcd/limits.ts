// The limits of one etcd connection, named, with what happens at each. What concerns single values and transactions is in
// storage/limits.ts; etcd's own (--max-request-bytes, 1.5 MiB by default; --max-txn-ops) come on top and are TooLarge as well.

export interface EtcdLimits {
  /** One attempt at one member. Beyond: the next member is asked. */
  attemptMs: number
  /** All attempts of one call together, and for how long a call waits for the feed. Beyond: Unavailable. */
  callMs: number
  /** Between attempts, doubled each time up to the second. */
  retryMs: number
  maxRetryMs: number
  /** A connection without an answer to a ping: asked after the first, given up after the second. etcd refuses pings below 5 s. */
  keepAliveMs: number
  keepAliveTimeoutMs: number
  /** A feed that lags behind an answer asks for news after so long, and again each time it has passed. */
  progressMs: number
  /** Answers being read from history for watches at the same time. Beyond: they wait. */
  maxBacklogs: number
  /** History of all tenants together: revisions that stay readable at least, unless they are too old (storage/limits.ts). */
  historyRevisions: number
}

export const defaultEtcdLimits: Readonly<EtcdLimits> = {
  attemptMs: 5_000,
  callMs: 20_000,
  retryMs: 20,
  maxRetryMs: 500,
  keepAliveMs: 10_000,
  keepAliveTimeoutMs: 5_000,
  progressMs: 25,
  maxBacklogs: 32,
  historyRevisions: 1_000_000,
}
