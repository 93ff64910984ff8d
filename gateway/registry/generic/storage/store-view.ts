// An in-memory view of a part of a control plane's store (webhook configurations, RBAC policies, flow schemas). It is read on first
// use and then kept up to date. The store notifies its watches of a write before it acknowledges the write, and the view applies
// the change synchronously, so it contains every acknowledged write.

import { failureFields, type Log } from "../../../../client/log.ts"
import type { KeyValue, Revision, Store, StoreEvent, Watcher } from "../../../../storage/types.ts"
import { inTurns } from "../../../../client/in-turns.ts"
import { readError } from "./storage-errors.ts"

interface StoreViewParts<S> {
  store: Store
  /** Prefix of the keys in the view. */
  prefix: string
  log: Log
  /** The state of an empty store. */
  create: () => S
  put: (state: S, entry: KeyValue) => void
  delete: (state: S, key: string) => void
  /** Called after the initial entries, and then after every change. */
  changed?: (state: S, isInitial: boolean) => void
}

/**
 * What is written after the watch was lost may be missing, so everything is read again, but not forever: while the disk fails, every
 * watch ends at once. What has been read then is for its readers only.
 */
const maxAttempts = 2

export class StoreView<S> implements AsyncDisposable {
  readonly #parts: StoreViewParts<S>
  #opening: Promise<S> | undefined
  #state: S | undefined
  #watcher: Watcher | undefined
  #following: Promise<void> | undefined

  constructor(parts: StoreViewParts<S>) {
    this.#parts = parts
  }

  /** Undefined until opened() has resolved. */
  get state(): S | undefined {
    return this.#state
  }

  /** The same promise until the view must be read again. Throws StatusErrors. */
  opened(): Promise<S> {
    this.#opening ??= this.#read().catch((error: unknown) => {
      this.#opening = undefined
      throw readError(error, `read ${this.#parts.prefix}`)
    })
    return this.#opening
  }

  async #read(): Promise<S> {
    for (let attempt = 1; ; attempt++) {
      const { state, isFollowed } = await this.#readOnce()
      if (isFollowed) return state
      if (attempt < maxAttempts) continue
      this.#opening = undefined
      return state
    }
  }

  async #readOnce(): Promise<{ state: S; isFollowed: boolean }> {
    const { store, prefix, changed } = this.#parts
    // The watch begins first, so that what is written while the initial entries are read belongs to the view as well.
    const watcher = store.watch(prefix, { after: store.revision })
    const meanwhile: StoreEvent[] = []
    let change = (events: readonly StoreEvent[]): void => void meanwhile.push(...events)
    this.#watcher = watcher
    this.#following = this.#follow(watcher, (events) => change(events))
    try {
      const { state, revision } = await this.#initial()
      this.#apply(state, meanwhile, revision)
      const isFollowed = this.#watcher === watcher
      if (!isFollowed) return { state, isFollowed }
      change = (events) => {
        this.#apply(state, events, revision)
        changed?.(state, false)
      }
      changed?.(state, true)
      this.#state = state
      return { state, isFollowed }
    } catch (error) {
      watcher.close()
      throw error
    }
  }

  async #initial(): Promise<{ state: S; revision: Revision }> {
    const { store, prefix, create, put } = this.#parts
    const { items, revision } = await store.range(prefix)
    const state = create()
    await inTurns(items, (item) => put(state, item))
    return { state, revision }
  }

  /** Changes up to `revision` are in the initial entries. */
  #apply(state: S, events: readonly StoreEvent[], revision: Revision): void {
    for (const { type, current } of events) {
      if (current.modRevision <= revision) continue
      if (type === "put") this.#parts.put(state, current)
      else this.#parts.delete(state, current.key)
    }
  }

  /** When the watch cannot continue, the next access reads everything again. */
  async #follow(watcher: Watcher, change: (events: readonly StoreEvent[]) => void): Promise<void> {
    const { prefix, log } = this.#parts
    try {
      for await (const events of watcher) change(events)
    } catch (error) {
      log.warn(failureFields(error), `watch of ${prefix} ended, reading it again`)
    } finally {
      if (this.#watcher === watcher) {
        this.#watcher = undefined
        // Whoever is still reading notices it.
        if (this.#state !== undefined) this.#opening = this.#state = undefined
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opening?.catch(() => undefined) // the caller of opened() has already received the error
    this.#watcher?.close()
    await this.#following
  }
}

/** The stored value, parsed. */
export function parseStored({ value }: KeyValue): unknown {
  return JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString())
}
