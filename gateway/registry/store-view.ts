// What a control plane keeps in memory of a part of its store (webhook configurations, policies of RBAC, flow schemas): read when
// first asked for, then in step. The store tells its watches of a write before it acknowledges it, and what it tells is applied
// without waiting, so whoever asks after an acknowledged write sees it.

import type { Log } from "../../client/log.ts"
import type { KeyValue, Store, StoreEvent, Watcher } from "../../storage/types.ts"

export interface StoreViewParts<S> {
  store: Store
  /** Of the keys it is about. */
  prefix: string
  log: Log
  /** What is there at first. */
  read: (items: readonly KeyValue[]) => S
  /** What has changed since. */
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

  /** The same promise until it has to be read anew. */
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

  /** When the watch cannot go on, the next question reads everything anew. */
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
    await this.#opening?.catch(() => undefined) // already told to whoever asked
    this.#watcher?.close()
    await this.#following
  }
}

/** What is stored, parsed. */
export function parseStored({ value }: KeyValue): unknown {
  return JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString())
}
