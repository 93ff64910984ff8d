// One watch: backlog → cutover → live. A watch that is behind reads the log in pieces, as fast as its consumer takes them.
// Once the shared buffer of recent changes reaches back far enough, it takes the rest from there and joins the live
// watches in the same synchronous step, so no event is lost or delivered twice. Unread live events wait in memory,
// up to maxPending; then the watch ends with SlowConsumer, and the consumer resumes from `revision` or lists again.
// Beyond maxPendingBytes they are dropped, and the watch is behind again.

import type { StoreLimits } from "../limits.ts"
import { checkReadable, compactedError } from "../transaction.ts"
import {
  type LogReading,
  StorageError,
  type Revision,
  type StoreEvent,
  type Watcher,
  type WatchOptions,
} from "../types.ts"
import type { EventBuffer, LiveConsumer } from "./event-buffer.ts"
import type { Sleeper } from "./wakes.ts"

/** The source of past changes. */
export interface ChangeLog {
  readonly compactedRevision: Revision
  /**
   * The next changes under `prefix` after `after`, in complete transactions, and the revision up to which they are
   * complete, which is above `after` unless the log ends there. Throws Compacted.
   */
  readChanges(prefix: string, after: Revision): Promise<{ events: readonly StoreEvent[]; revision: Revision }>
  /**
   * For stores with other writers: resolves when the buffer contains everything up to `revision`, which a client may have received
   * elsewhere. Throws FutureRevision.
   */
  reach?(revision: Revision): Promise<void>
}

/** Defaults of the options. */
type WatchLimits = Pick<StoreLimits, "maxPendingEvents" | "maxPendingBytes" | "smallBacklogBytes">

interface Waiter {
  resolve(result: IteratorResult<readonly StoreEvent[], undefined>): void
  reject(error: Error): void
}

const finished = { done: true, value: undefined } as const

/** Invalid options are reported by the first read of the watch, like every other error that ends it. */
export function createWatcher(
  log: ChangeLog,
  buffer: EventBuffer,
  prefix: string,
  options: WatchOptions,
  limits: WatchLimits,
): Watcher {
  return new LogWatcher(log, buffer, prefix, options, limits)
}

class LogWatcher implements Watcher, LiveConsumer, Sleeper, AsyncIterator<readonly StoreEvent[], undefined> {
  readonly #log: ChangeLog
  readonly #buffer: EventBuffer
  readonly #prefix: string
  readonly #maxPending: number
  readonly #maxPendingBytes: number
  readonly #isPatient: boolean
  readonly #concerns: ((key: string) => boolean) | undefined
  readonly #excludes: WatchOptions["excludes"]
  readonly #reading: LogReading
  readonly #smallBytes: number
  #isToBeWoken = false
  #state: "behind" | "live" | "ended" = "behind"
  /** Everything up to this revision has been delivered to the consumer. */
  #delivered: Revision
  /** Everything up to this revision has been delivered or is in #pending. */
  #seen: Revision
  #pending: StoreEvent[] = []
  /** What the buffer had published before the first of them. */
  #pendingFrom = 0
  #failure: Error | undefined
  #waiter: Waiter | undefined

  constructor(log: ChangeLog, buffer: EventBuffer, prefix: string, options: WatchOptions, limits: WatchLimits) {
    this.#log = log
    this.#buffer = buffer
    this.#prefix = prefix
    this.#maxPending = options.maxPending ?? limits.maxPendingEvents
    this.#maxPendingBytes = options.maxPendingBytes ?? limits.maxPendingBytes
    this.#isPatient = options.patient ?? false
    this.#concerns = options.concerns
    this.#excludes = options.excludes
    this.#reading = options.reading ?? {}
    this.#smallBytes = limits.smallBacklogBytes
    this.#delivered = options.after
    this.#seen = options.after
    try {
      const head = log.reach === undefined ? buffer.revision : Infinity
      checkReadable(options.after, log.compactedRevision, head)
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      this.fail(error)
    }
  }

  // Changes outside the prefix are not offered individually: if nothing is pending, everything has been delivered.
  get revision(): Revision {
    return this.#state === "live" && this.#pending.length === 0 ? this.#buffer.revision : this.#delivered
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly StoreEvent[], undefined> {
    return this
  }

  next(): Promise<IteratorResult<readonly StoreEvent[], undefined>> {
    // In the most frequent case, live and without pending events, the consumer waits for a single promise.
    if (this.#state === "live" && this.#pending.length === 0 && !this.#waiter) return this.#wait()
    return this.#step()
  }

  #wait(): Promise<IteratorResult<readonly StoreEvent[], undefined>> {
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject }
    })
  }

  async #step(): Promise<IteratorResult<readonly StoreEvent[], undefined>> {
    if (this.#waiter) throw new TypeError("the watch is being read already")
    if (this.#seen > this.#buffer.revision && this.#state === "behind") await this.#reach()
    if (this.#state === "behind") this.#reading.reduce?.() // the consumer has taken the piece before
    while (this.#state === "behind" && !this.#tryCutover()) {
      const events = await this.#readBacklog()
      if (events.length > 0) return { done: false, value: events }
    }
    if (this.#failure) {
      const error = this.#failure
      this.#failure = undefined
      throw error
    }
    if (this.#state === "ended") return finished
    if (this.#pending.length > 0) return { done: false, value: this.#take() }
    return this.#wait()
  }

  async return(): Promise<IteratorResult<readonly StoreEvent[], undefined>> {
    this.close()
    return finished
  }

  close(): void {
    this.#end()
    this.#failure = undefined
    const waiter = this.#waiter
    this.#waiter = undefined
    waiter?.resolve(finished)
  }

  fail(error: Error): void {
    if (this.#state === "ended") return
    this.wake()
    this.#end()
    const waiter = this.#waiter
    this.#waiter = undefined
    if (waiter) waiter.reject(error)
    else this.#failure = error
  }

  offer(events: readonly StoreEvent[], revision: Revision): void {
    this.#seen = revision
    if (this.#pending.length === 0) this.#pendingFrom = this.#buffer.published
    for (const event of events) if (this.#isOf(event) && this.#excludes?.(event) !== true) this.#pending.push(event)
    if (this.#pending.length === 0) {
      this.#delivered = revision
    } else if (this.#waiter) {
      if (!this.#isPatient || this.#pending.length > this.#maxPending) this.wake()
      else if (!this.#isToBeWoken) {
        this.#isToBeWoken = true
        this.#buffer.wakes.add(this)
      }
    } else if (this.#pending.length > this.#maxPending) {
      const text = `watch of "${this.#prefix}" has more than ${this.#maxPending} events waiting`
      this.fail(new StorageError("SlowConsumer", text))
    } else if (this.#buffer.published - this.#pendingFrom > this.#maxPendingBytes) this.#fallBehind()
  }

  #fallBehind(): void {
    this.#pending = []
    this.#seen = this.#delivered
    this.#state = "behind"
    this.#buffer.leave(this)
  }

  #isOf({ current: { key } }: StoreEvent): boolean {
    return key.startsWith(this.#prefix) && (this.#concerns === undefined || this.#concerns(key))
  }

  /** Delivers the pending events to the waiting consumer. */
  wake(): void {
    this.#isToBeWoken = false
    const waiter = this.#waiter
    if (waiter === undefined || this.#pending.length === 0) return
    this.#waiter = undefined
    waiter.resolve({ done: false, value: this.#take() })
  }

  #take(): readonly StoreEvent[] {
    const events = this.#pending
    this.#pending = []
    this.#delivered = this.#seen
    return events
  }

  #end(): void {
    this.#delivered = this.revision
    this.#state = "ended"
    this.#pending = []
    this.#buffer.leave(this)
  }

  // Synchronous from reading the buffer to joining it: no commit can happen in between. This happens only while the consumer
  // waits, so that the events found here are delivered at once.
  #tryCutover(): boolean {
    if (this.#seen < this.#buffer.floor) return false
    this.#state = "live"
    this.#pending = this.#buffer.since(this.#seen).filter((event) => this.#isOf(event))
    this.#seen = this.#buffer.revision
    if (this.#pending.length === 0) this.#delivered = this.#seen
    this.#buffer.join(this)
    return true
  }

  async #reach(): Promise<void> {
    try {
      await this.#log.reach?.(this.#seen)
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** One piece of the log. Empty if it contains nothing for this watch, or if the watch has ended. */
  async #readBacklog(): Promise<readonly StoreEvent[]> {
    if (this.#seen <= this.#log.compactedRevision) {
      this.fail(compactedError(this.#seen, this.#log.compactedRevision))
      return []
    }
    try {
      const waiting = this.#reading.enlarge?.()
      if (waiting !== undefined) await waiting
      if (this.#state !== "behind") return []
      const { events, revision } = await this.#log.readChanges(this.#prefix, this.#seen)
      if (bytesOf(events) < this.#smallBytes) this.#reading.reduce?.()
      // Closed or failed meanwhile.
      if (this.#state !== "behind") return []
      this.#seen = revision
      this.#delivered = revision
      return this.#concerns === undefined ? events : events.filter((event) => this.#isOf(event))
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)))
      return []
    }
  }
}

/** Values that were replaced are held, too. */
function bytesOf(events: readonly StoreEvent[]): number {
  let bytes = 0
  for (const { current, previous } of events) bytes += current.value.length + (previous?.value.length ?? 0)
  return bytes
}
