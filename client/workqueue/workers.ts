// The loop of every controller: take a key, reconcile it, and decide what happens next. The only place that logs errors of
// reconciles.

import { StatusError, hasReason } from "../../apimachinery/status.ts"
import type { Log } from "../log.ts"
import { isNamespaceTerminating } from "../namespace-terminating.ts"
import type { FairQueue } from "./fair-queue.ts"

/** A retry would not help; the key waits for the next change of its object. */
export class TerminalError extends Error {
  constructor(message: string) {
    super(message)
    this.name = "TerminalError"
  }
}

export type ReconcileResult = void | { requeueAfterMs: number }

/** Nothing was attempted: the number of failures of the key stays. Without a time, whoever reconciles it adds it again. */
export interface Untried {
  isUntried: true
  requeueAfterMs?: number
}

export interface GiveUp {
  /** Number of consecutive failures that are retried. */
  after: number
  /** The key is retried once more after this time. */
  retryMs: number
}

interface WorkerOptions<K> {
  queue: FairQueue<K>
  /** Number of keys processed at the same time. */
  workers: number
  reconcile(key: K, signal: AbortSignal): Promise<ReconcileResult | Untried>
  /**
   * Called when a key is taken, which is reconciled when the promise has resolved. A reconcile that finds nothing to write waits for
   * nothing, so the next one would begin at once, and all keys of a queue, whose number tenants decide, would be one stretch of the
   * thread. Default: at once, where nobody else needs the thread.
   */
  pause?(key: K): Promise<void> | undefined
  name: string
  log: Log
  signal: AbortSignal
  /** When to give up a failing key. Default: never. */
  giveUp?: GiveUp | undefined
}

/**
 * A reconcile that takes longer than this waits for its turn or for something external (such as a tenant's webhook) and needs no worker.
 * Another worker takes its place, so that slow keys of one group do not delay the others. The queue's maxWorking limits them per group.
 */
const slowMs = 1_000
/** Maximum number of such reconciles of all groups. Further ones keep their workers. */
const maxSlow = 1_024

/** Resolves when the signal has ended and no key is being processed. */
export async function runWorkers<K>(options: WorkerOptions<K>): Promise<void> {
  const pool: WorkerPool = { slow: 0, working: new Set() }
  for (let index = 0; index < options.workers; index++) startWorker(options, pool)
  while (pool.working.size > 0) await Promise.all(pool.working)
}

interface WorkerPool {
  slow: number
  working: Set<Promise<void>>
}

function startWorker<K>(options: WorkerOptions<K>, pool: WorkerPool): void {
  const working = work(options, pool).finally(() => pool.working.delete(working))
  pool.working.add(working)
}

async function work<K>(options: WorkerOptions<K>, pool: WorkerPool): Promise<void> {
  const { queue, signal } = options
  for (let isSlow = false; !isSlow;) {
    const key = await queue.get(signal)
    if (key === undefined) return
    const timer = setTimeout(() => {
      if (pool.slow >= maxSlow) return
      isSlow = true
      pool.slow++
      startWorker(options, pool)
    }, slowMs)
    timer.unref()
    try {
      const pause = options.pause?.(key)
      if (pause !== undefined) await pause
      queue.begin(key)
      if (!signal.aborted) await once(options, key)
    } finally {
      clearTimeout(timer)
      queue.done(key)
    }
    if (isSlow) pool.slow--
  }
}

async function once<K>(options: WorkerOptions<K>, key: K): Promise<void> {
  const { queue, name, log, signal } = options
  try {
    const result = await options.reconcile(key, signal)
    if (result?.requeueAfterMs !== undefined) queue.addAfter(key, result.requeueAfterMs)
    if (result === undefined || !("isUntried" in result)) queue.forget(key)
  } catch (error) {
    if (signal.aborted) return
    if (error instanceof TerminalError) {
      log.warn({ controller: name, key, error: error.message }, "reconcile failed permanently")
      queue.forget(key)
      return
    }
    // Conflicts are normal with optimistic locking; the next try reads the new state.
    if (hasReason(error, "Conflict", "NotFound", "AlreadyExists")) {
      log.debug({ controller: name, key, error: error.message }, "reconcile conflicted; retrying")
    } else if (isNamespaceTerminating(error)) {
      log.debug({ controller: name, key }, "the namespace is being deleted")
    } else if (error instanceof StatusError) {
      log.warn({ controller: name, key, error: error.message, retries: queue.retries(key) }, "reconcile failed")
    } else {
      log.error({ controller: name, key, err: error }, "reconcile failed unexpectedly")
    }
    retry(options, key)
  }
}

function retry<K>({ queue, name, log, giveUp }: WorkerOptions<K>, key: K): void {
  if (giveUp === undefined || queue.retries(key) < giveUp.after) {
    queue.addRateLimited(key)
    return
  }
  log.warn({ controller: name, key, retries: queue.retries(key) }, "reconcile failed too often; giving up")
  queue.giveUp(key, giveUp.retryMs)
}
