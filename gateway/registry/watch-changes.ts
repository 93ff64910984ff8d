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
  /** Set: whoever reads has been given a tick instead of it. */
  #owed: Promise<Next> | undefined
  #timer: NodeJS.Timeout | undefined
  #interrupt: (() => void) | undefined

  constructor({ home, prefix, after, withTicks, patient = false, tickMs = tickIntervalMs, signal }: Options) {
    this.#home = home
    this.#prefix = prefix
    this.#after = after
    this.#patient = patient
    this.#signal = signal
    signal.addEventListener("abort", this.#close, { once: true })
    if (withTicks) this.#timer = setInterval(() => this.#interrupt?.(), tickMs).unref()
  }

  /** Up to here everything has been handed over. */
  get revision(): number {
    return Math.max(this.#after, this.#watcher?.revision ?? 0)
  }

  /** Undefined: the watch is over. */
  next(): Promise<Next | typeof tick> {
    const next = this.#owed ?? this.#changes()
    this.#owed = undefined
    if (this.#timer === undefined) return next
    // Not Promise.race with a promise of the next tick: that would gather what every wait has added to it, until the tick.
    return new Promise((resolve, reject) => {
      this.#interrupt = () => {
        this.#interrupt = undefined
        this.#owed = next
        resolve(tick)
      }
      next.then((changes) => {
        this.#interrupt = undefined
        resolve(changes)
      }, reject)
    })
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
