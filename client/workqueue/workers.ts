// The loop of every controller: take a key, reconcile it, and decide what happens next. The only place that logs errors of
// reconciles.

import { StatusError, hasReason } from "../../apimachinery/status.ts"
import type { Log } from "../log.ts"
import { isNamespaceTerminating } from "../namespace-terminating.ts"
import type { FairQueue } from "./fair-queue.ts"

/** A retry would not help; the key waits for the next change of its object. */
export class TerminalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = "TerminalError"
  }
}

export type ReconcileResult = void | { requeueAfterMs: number }

export interface GivingUp {
  /** Number of consecutive failures that are retried. */
  after: number
  /** The key is retried once more after this time. */
  anewMs: number
}

export interface WorkerOptions<K> {
  queue: FairQueue<K>
  /** Number of keys processed at the same time. */
  workers: number
  reconcile(key: K, signal: AbortSignal): Promise<ReconcileResult>
  name: string
  log: Log
  signal: AbortSignal
  /** When to give up a failing key. Default: never. */
  givesUp?: GivingUp | undefined
}

/**
 * A reconcile that takes longer than this waits for something external (such as a tenant's webhook) and needs no worker. Another
 * worker takes its place, so that slow keys of one group do not delay the others. The queue's maxWorking limits them per group.
 */
const slowMs = 1_000
/** Maximum number of such reconciles of all groups. Further ones keep their workers. */
const maxAside = 1_024

/** Resolves when the signal has ended and no key is being processed. */
export async function runWorkers<K>(options: WorkerOptions<K>): Promise<void> {
  const crew: Crew = { aside: 0, working: new Set() }
  for (let index = 0; index < options.workers; index++) hire(options, crew)
  while (crew.working.size > 0) await Promise.all(crew.working)
}

interface Crew {
  aside: number
  working: Set<Promise<void>>
}

function hire<K>(options: WorkerOptions<K>, crew: Crew): void {
  const working = work(options, crew).finally(() => crew.working.delete(working))
  crew.working.add(working)
}

async function work<K>(options: WorkerOptions<K>, crew: Crew): Promise<void> {
  const { queue, signal } = options
  for (let isAside = false; !isAside;) {
    const key = await queue.get(signal)
    if (key === undefined) return
    const timer = setTimeout(() => {
      if (crew.aside >= maxAside) return
      isAside = true
      crew.aside++
      hire(options, crew)
    }, slowMs)
    timer.unref()
    try {
      await once(options, key)
    } finally {
      clearTimeout(timer)
      queue.done(key)
    }
    if (isAside) crew.aside--
  }
}

async function once<K>(options: WorkerOptions<K>, key: K): Promise<void> {
  const { queue, name, log, signal } = options
  try {
    const result = await options.reconcile(key, signal)
    if (result !== undefined) queue.addAfter(key, result.requeueAfterMs)
    queue.forget(key)
  } catch (error) {
    if (signal.aborted) return
    if (error instanceof TerminalError) {
      log.warn({ controller: name, key, error: error.message }, "reconcile failed for good")
      queue.forget(key)
      return
    }
    // Conflicts are normal with optimistic locking; the next try reads the new state.
    if (hasReason(error, "Conflict", "NotFound", "AlreadyExists")) {
      log.debug({ controller: name, key, error: error.message }, "reconcile lost a race")
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

function retry<K>({ queue, name, log, givesUp }: WorkerOptions<K>, key: K): void {
  if (givesUp === undefined || queue.retries(key) < givesUp.after) {
    queue.addRateLimited(key)
    return
  }
  log.warn({ controller: name, key, retries: queue.retries(key) }, "reconcile failed too often in a row: given up")
  queue.forget(key)
  queue.addAfter(key, givesUp.anewMs)
}
