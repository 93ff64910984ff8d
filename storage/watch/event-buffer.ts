// The recent changes of one store, and the live watches that receive the next ones. A backend publishes each committed
// transaction here, in order, before it acknowledges the transaction. All watches share the event objects.

import type { Revision, StoreEvent } from "../types.ts"
import { Wakes } from "./wakes.ts"

/** A watch that has caught up. Called once per commit, in order; must not throw. */
export interface LiveConsumer {
  offer(events: readonly StoreEvent[], revision: Revision): void
  /** Called when the watch cannot continue. */
  fail(error: Error): void
}

/** Estimated size of an event besides its key and value: objects, the value's buffer and its handle. */
const eventOverheadBytes = 400

/** Maximum number of dropped events that remain in the array: removing them one by one would cost more. */
const maxGone = 64

export class EventBuffer {
  readonly #maxBytes: number
  readonly #events: StoreEvent[] = []
  /** Events before this index have been dropped. */
  #start = 0
  #bytes = 0
  #published = 0
  #revision: Revision
  #floor: Revision
  readonly #live = new Set<LiveConsumer>()
  #ended: Error | undefined
  readonly #head: (() => Revision) | undefined
  /** Live watches that may be notified later. */
  readonly wakes = new Wakes()

  /** `head`: set if the revision also advances without changes to this store. */
  constructor(revision: Revision, maxBytes: number, head?: () => Revision) {
    this.#head = head
    this.#revision = revision
    this.#floor = revision
    this.#maxBytes = maxBytes
  }

  /** All changes up to this revision have been published. */
  get revision(): Revision {
    return this.#head?.() ?? this.#revision
  }

  /** The buffer contains every change with a revision in (floor, revision]. */
  get floor(): Revision {
    return this.#floor
  }

  /** Estimated size of the changes in the buffer. */
  get bytes(): number {
    return this.#bytes
  }

  /** Estimated size of all changes ever published. */
  get published(): number {
    return this.#published
  }

  /** Publishes the changes of one or more complete transactions, up to and including `revision`. Returns their estimated size. */
  publish(events: readonly StoreEvent[], revision: Revision): number {
    const before = this.#published
    for (const event of events) {
      this.#events.push(event)
      const size = weight(event)
      this.#bytes += size
      this.#published += size
    }
    this.#revision = revision
    this.#trim()
    for (const consumer of this.#live) consumer.offer(events, revision)
    return this.#published - before
  }

  /** The changes after `revision`, which must be at or above the floor. */
  since(revision: Revision): readonly StoreEvent[] {
    let low = this.#start
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#events[middle]?.current.modRevision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return this.#events.slice(low)
  }

  join(consumer: LiveConsumer): void {
    if (this.#ended) consumer.fail(this.#ended)
    else this.#live.add(consumer)
  }

  leave(consumer: LiveConsumer): void {
    this.#live.delete(consumer)
  }

  /** Ends every live watch, and every watch that tries to join later. */
  end(error: Error): void {
    this.#ended = error
    const consumers = [...this.#live]
    this.#live.clear()
    for (const consumer of consumers) consumer.fail(error)
  }

  #trim(): void {
    while (this.#bytes > this.#maxBytes && this.#start < this.#events.length) this.#dropTransaction()
    if (this.#start <= maxGone) return
    this.#events.splice(0, this.#start)
    this.#start = 0
  }

  // A transaction is dropped as a whole; otherwise a watch could start in the middle of it.
  #dropTransaction(): void {
    const revision = this.#events[this.#start]?.current.modRevision ?? this.#revision
    for (let event = this.#events[this.#start]; event?.current.modRevision === revision;) {
      this.#bytes -= weight(event)
      this.#start++
      event = this.#events[this.#start]
    }
    this.#floor = revision
  }
}

// The previous value is usually another event's current one, so it is not counted.
function weight(event: StoreEvent): number {
  return eventOverheadBytes + event.current.key.length + event.current.value.byteLength
}
