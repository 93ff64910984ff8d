// The loop every controller runs: take a key, reconcile it, and say what comes next. The only place where a reconcile's
// error is logged.

import { StatusError, hasReason } from "../../apimachinery/status.ts"
import type { Log } from "../log.ts"
import { isNamespaceTerminating } from "../namespace-terminating.ts"
import type { FairQueue } from "./fair-queue.ts"

/** Trying again will not help; the key waits for the next change of its object. */
export class TerminalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = "TerminalError"
  }
}

export type ReconcileResult = void | { requeueAfterMs: number }

export interface WorkerOptions<K> {
  queue: FairQueue<K>
  /** How many keys are worked on at the same time. */
  workers: number
  reconcile(key: K, signal: AbortSignal): Promise<ReconcileResult>
  name: string
  log: Log
  signal: AbortSignal
}

/** Resolves when the signal has ended and no key is being worked on any more. */
export async function runWorkers<K>(options: WorkerOptions<K>): Promise<void> {
  await Promise.all(Array.from({ length: options.workers }, () => work(options)))
}

async function work<K>(options: WorkerOptions<K>): Promise<void> {
  const { queue, signal } = options
  for (;;) {
    const key = await queue.get(signal)
    if (key === undefined) return
    try {
      await once(options, key)
    } finally {
      queue.done(key)
    }
  }
}

async function once<K>(options: WorkerOptions<K>, key: K): Promise<void> {
  const { queue, name, log, signal } = options
  try {
    const result = await options.reconcile(key, signal)
    queue.forget(key)
    if (result !== undefined) queue.addAfter(key, result.requeueAfterMs)
  } catch (error) {
    if (signal.aborted) return
    if (error instanceof TerminalError) {
      log.warn({ controller: name, key, error: error.message }, "reconcile failed for good")
      queue.forget(key)
      return
    }
    // Losing a race is how optimistic locking works; the next try reads what won.
    if (hasReason(error, "Conflict", "NotFound", "AlreadyExists")) {
      log.debug({ controller: name, key, error: error.message }, "reconcile lost a race")
    } else if (isNamespaceTerminating(error)) {
      log.debug({ controller: name, key }, "the namespace is being deleted")
    } else if (error instanceof StatusError) {
      log.warn({ controller: name, key, error: error.message, retries: queue.retries(key) }, "reconcile failed")
    } else {
      log.error({ controller: name, key, error }, "reconcile failed unexpectedly")
    }
    queue.addRateLimited(key)
  }
}
