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

export interface GivingUp {
  /** Failures in a row that are tried again. */
  after: number
  /** It is looked at once more after this long. */
  anewMs: number
}

export interface WorkerOptions<K> {
  queue: FairQueue<K>
  /** How many keys are worked on at the same time. */
  workers: number
  reconcile(key: K, signal: AbortSignal): Promise<ReconcileResult>
  name: string
  log: Log
  signal: AbortSignal
  /** When a key that fails is no longer tried again. Default: never. */
  givesUp?: GivingUp | undefined
}

/**
 * A reconcile that takes longer waits for somebody else (a tenant's webhook, say) and needs no worker: another one takes its
 * place, so that one group's slow keys do not hold up the others'. The queue's maxWorking bounds them for each group.
 */
const slowMs = 1_000
/** Reconciles waiting like that, of all groups. Beyond: they keep their workers. */
const maxAside = 1_024

/** Resolves when the signal has ended and no key is being worked on any more. */
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
    // Losing a race is how optimistic locking works; the next try reads what won.
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
