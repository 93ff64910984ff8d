// What a watch learns of its store: changes under a prefix, and from time to time that it is still there. Goes on with the next
// store of the same tenant when it has slept: while it sleeps nothing is written.

import { StorageError, type StoreEvent, type Watcher } from "../../storage/types.ts"
import type { ControlPlane } from "../tenancy/control-plane.ts"

/** How often a quiet watch that takes bookmarks learns how far it has got. */
const tickIntervalMs = 60_000

/** Whose objects are watched, and what comes after it. */
export type WatchHome = Pick<ControlPlane, "store" | "reopened">

/** Nothing has changed for a while. */
export const tick = Symbol("tick")

interface Options {
  home: WatchHome
  prefix: string
  /** Changes after this revision. */
  after: number
  withTicks: boolean
  /** WatchOptions.patient. */
  patient?: boolean
  tickMs?: number
  signal: AbortSignal
}

type Next = readonly StoreEvent[] | undefined

/** For one reader, who waits for one step before it asks for the next. */
export class WatchChanges implements Disposable {
  readonly #prefix: string
  readonly #patient: boolean
  readonly #signal: AbortSignal
  readonly #close = (): void => this.#watcher?.close()
  #home: WatchHome
  #after: number
  #watcher: Watcher | undefined
  #iterator: AsyncIterator<readonly StoreEvent[], undefined> | undefined
  /** With ticks: what is under way, or has come while nobody waited. Whoever reads may have been given ticks before it. */
  #owed: { changes: Promise<Next>; hasCome: boolean } | undefined
  #waiter: PromiseWithResolvers<Next | typeof tick> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor({ home, prefix, after, withTicks, patient = false, tickMs = tickIntervalMs, signal }: Options) {
    this.#home = home
    this.#prefix = prefix
    this.#after = after
    this.#patient = patient
    this.#signal = signal
    signal.addEventListener("abort", this.#close, { once: true })
    if (withTicks) this.#timer = setInterval(() => this.#tell((waiter) => waiter.resolve(tick)), tickMs).unref()
  }

  /** Up to here everything has been handed over. */
  get revision(): number {
    return Math.max(this.#after, this.#watcher?.revision ?? 0)
  }

  /** Undefined: the watch is over. */
  next(): Promise<Next | typeof tick> {
    if (this.#timer === undefined) return this.#changes()
    const owed = (this.#owed ??= this.#begin())
    if (owed.hasCome) {
      this.#owed = undefined
      return owed.changes
    }
    this.#waiter = Promise.withResolvers()
    return this.#waiter.promise
  }

  /** A promise keeps what every wait adds to it, and a quiet watch waits a thousand times a day: one wait, for all of them. */
  #begin(): { changes: Promise<Next>; hasCome: boolean } {
    const changes = this.#changes()
    const owed = { changes, hasCome: false }
    const come = (): void => {
      owed.hasCome = true
      this.#tell((waiter) => {
        this.#owed = undefined
        waiter.resolve(changes)
      })
    }
    changes.then(come, come) // a failure is told to who waits
    return owed
  }

  #tell(say: (waiter: PromiseWithResolvers<Next | typeof tick>) => void): void {
    const waiter = this.#waiter
    this.#waiter = undefined
    if (waiter !== undefined) say(waiter)
  }

  async #changes(): Promise<Next> {
    for (;;) {
      try {
        const iterator = (this.#iterator ??= this.#open())
        return (await iterator.next()).value
      } catch (error) {
        if (!(error instanceof StorageError && error.code === "Closed") || this.#signal.aborted) throw error
      }
      this.#after = this.revision
      this.#watcher = undefined
      this.#iterator = undefined
      const home = await this.#home.reopened(this.#signal)
      if (home === undefined) return undefined
      this.#home = home
    }
  }

  #open(): AsyncIterator<readonly StoreEvent[], undefined> {
    const watcher = this.#home.store.watch(this.#prefix, { after: this.#after, patient: this.#patient })
    this.#watcher = watcher
    if (this.#signal.aborted) watcher.close()
    return watcher[Symbol.asyncIterator]()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#signal.removeEventListener("abort", this.#close)
    this.#watcher?.close()
  }
}
