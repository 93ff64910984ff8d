// The changes under a prefix of a store for a watch, with occasional ticks for bookmarks. When the tenant has slept, it continues
// with its next store: nothing is written while the tenant sleeps.

import {
  type LogReading,
  StorageError,
  type StoreEvent,
  type Watcher,
  type WatchOptions as StoreWatchOptions,
} from "../../../../storage/types.ts"
import type { ControlPlane } from "../../../control-plane/control-plane.ts"
import type { Edition } from "../../edition.ts"

/** The interval of bookmarks for an idle watch that accepts them. */
const tickIntervalMs = 60_000

/** The watched control plane, and its successor. */
export type WatchHome = Pick<ControlPlane, "store" | "reopened" | "resources" | "turns">

/** Nothing has changed for a while. */
export const tick = Symbol("tick")

export interface WatchOptions {
  home: WatchHome
  prefix: string
  /** Changes after this revision. */
  after: number
  withTicks: boolean
  /** WatchOptions of the store. */
  excludes?: StoreWatchOptions["excludes"] | undefined
  patient?: boolean
  reading?: LogReading | undefined
  tickMs?: number
  /** The watch ends with it. `of` finds the current one. */
  edition?: { first: Edition; of(home: WatchHome): Edition | undefined } | undefined
  signal: AbortSignal
}

type Next = readonly StoreEvent[] | undefined

/** For a single reader, which awaits each step before it requests the next. */
export class WatchChanges implements Disposable {
  readonly #prefix: string
  #options: Pick<StoreWatchOptions, "excludes" | "patient" | "reading">
  readonly #signal: AbortSignal
  readonly #close = (): void => this.#watcher?.close()
  readonly #edition: WatchOptions["edition"]
  #unfollow: (() => void) | undefined
  #isOver = false
  #home: WatchHome
  #after: number
  #watcher: Watcher | undefined
  #iterator: AsyncIterator<readonly StoreEvent[], undefined> | undefined
  /**
   * With ticks: the pending step, or a step that completed while the reader was not waiting. Ticks may have been returned
   * meanwhile.
   */
  #owed: { changes: Promise<Next>; hasCome: boolean } | undefined
  #waiter: PromiseWithResolvers<Next | typeof tick> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor({
    home,
    prefix,
    after,
    withTicks,
    excludes,
    patient = false,
    reading,
    tickMs = tickIntervalMs,
    edition,
    signal,
  }: WatchOptions) {
    this.#home = home
    this.#edition = edition
    this.#prefix = prefix
    this.#after = after
    this.#options = { patient, ...(excludes && { excludes }), ...(reading && { reading }) }
    this.#signal = signal
    signal.addEventListener("abort", this.#close, { once: true })
    if (withTicks) this.#timer = setInterval(() => this.#notify((waiter) => waiter.resolve(tick)), tickMs).unref()
    this.#followEdition()
  }

  /** All changes up to this revision have been returned. */
  get revision(): number {
    return Math.max(this.#after, this.#watcher?.revision ?? 0)
  }

  /** Undefined: the watch has ended. */
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

  /**
   * A promise retains every reaction added to it, and an idle watch waits a thousand times a day: one reaction serves all of them.
   */
  #begin(): { changes: Promise<Next>; hasCome: boolean } {
    const changes = this.#changes()
    const owed = { changes, hasCome: false }
    const come = (): void => {
      owed.hasCome = true
      this.#notify((waiter) => {
        this.#owed = undefined
        waiter.resolve(changes)
      })
    }
    changes.then(come, come) // the waiter receives a failure
    return owed
  }

  #notify(say: (waiter: PromiseWithResolvers<Next | typeof tick>) => void): void {
    const waiter = this.#waiter
    this.#waiter = undefined
    if (waiter !== undefined) say(waiter)
  }

  async #changes(): Promise<Next> {
    for (;;) {
      if (this.#isOver) return undefined
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
      // It would look at the values of the next store in the caches of the first one.
      const { excludes: _, ...options } = this.#options
      this.#options = options
      this.#followEdition()
    }
  }

  #followEdition(): void {
    this.#unfollow?.()
    const current = this.#edition?.of(this.#home)
    if (this.#edition === undefined) return
    if (current !== undefined && this.#edition.first.isSame(current))
      this.#unfollow = current.follow(() => this.#finish())
    else this.#finish()
  }

  #finish(): void {
    this.#isOver = true
    this.#close()
  }

  #open(): AsyncIterator<readonly StoreEvent[], undefined> {
    const watcher = this.#home.store.watch(this.#prefix, { after: this.#after, ...this.#options })
    this.#watcher = watcher
    if (this.#signal.aborted) watcher.close()
    return watcher[Symbol.asyncIterator]()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#signal.removeEventListener("abort", this.#close)
    this.#unfollow?.()
    this.#watcher?.close()
  }
}
