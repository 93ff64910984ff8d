// An in-memory view of a part of a control plane's store (webhook configurations, RBAC policies, flow schemas). It is read on first
// use and then kept up to date. The store notifies its watches of a write before it acknowledges the write, and the view applies
// the change synchronously, so it contains every acknowledged write.

import type { Log } from "../../../../client/log.ts"
import type { KeyValue, Store, StoreEvent, Watcher } from "../../../../storage/types.ts"

export interface StoreViewParts<S> {
  store: Store
  /** Prefix of the keys in the view. */
  prefix: string
  log: Log
  /** Called with the initial entries. */
  read: (items: readonly KeyValue[]) => S
  /** Called with later changes. */
  apply: (state: S, events: readonly StoreEvent[]) => void
}

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

  /** The same promise until the view must be read again. */
  opened(): Promise<S> {
    this.#opening ??= this.#read().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async #read(): Promise<S> {
    const { store, prefix, read } = this.#parts
    const { items, revision } = await store.range(prefix)
    const state = read(items)
    const watcher = store.watch(prefix, { after: revision })
    this.#watcher = watcher
    this.#state = state
    this.#following = this.#follow(watcher, state)
    return state
  }

  /** When the watch cannot continue, the next access reads everything again. */
  async #follow(watcher: Watcher, state: S): Promise<void> {
    const { prefix, log, apply } = this.#parts
    try {
      for await (const events of watcher) apply(state, events)
    } catch (error) {
      log.warn({ error: String(error) }, `watch of ${prefix} ended, reading it again`)
    } finally {
      if (this.#watcher === watcher) this.#opening = this.#state = undefined
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
