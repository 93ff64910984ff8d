// Few objects that every request may need to look at (webhook configurations, APIServices), parsed and in step with the
// store. Read when first asked for. The store tells its watches of a write before it acknowledges it, and what it tells is
// applied without waiting, so whoever asks after an acknowledged write sees it.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { Log } from "../../client/log.ts"
import type { KeyValue, Store, Watcher } from "../../storage/types.ts"
import { deepFreeze } from "./freeze.ts"

export interface ObjectViewOptions {
  store: Store
  /** "/registry/<group>/<resource>/" */
  prefix: string
  log: Log
  /** After every change, when it is visible; not for what was there at first. */
  onChange?(): void
}

interface Objects<T> {
  byKey: Map<string, T>
  /** In the keys' order; undefined after a change, until somebody asks. */
  sorted: readonly T[] | undefined
}

export class ObjectView<T extends KubeObject> implements AsyncDisposable {
  readonly #options: ObjectViewOptions
  #opening: Promise<Objects<T>> | undefined
  #open: Objects<T> | undefined
  #watcher: Watcher | undefined
  #following: Promise<void> | undefined

  constructor(options: ObjectViewOptions) {
    this.#options = options
  }

  /** False also when nobody has asked yet. */
  get isEmpty(): boolean {
    return this.#open?.byKey.size === 0
  }

  /** In the order of names, frozen. The same value until something changes. */
  async current(): Promise<readonly T[]> {
    const objects = this.#open ?? (await this.#opened())
    return (objects.sorted ??= [...objects.byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object))
  }

  #opened(): Promise<Objects<T>> {
    this.#opening ??= this.#read().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async #read(): Promise<Objects<T>> {
    const { store, prefix } = this.#options
    const { items, revision } = await store.range(prefix)
    const objects: Objects<T> = { byKey: new Map(items.map((item) => [item.key, parse<T>(item)])), sorted: undefined }
    const watcher = store.watch(prefix, { after: revision })
    this.#watcher = watcher
    this.#open = objects
    this.#following = this.#follow(watcher, objects)
    return objects
  }

  /** When the watch cannot go on, the next question reads everything anew. */
  async #follow(watcher: Watcher, objects: Objects<T>): Promise<void> {
    try {
      for await (const events of watcher) {
        for (const { type, current } of events) {
          if (type === "put") objects.byKey.set(current.key, parse<T>(current))
          else objects.byKey.delete(current.key)
        }
        objects.sorted = undefined
        this.#options.onChange?.()
      }
    } catch (error) {
      this.#options.log.warn({ error: String(error) }, `watch of ${this.#options.prefix} ended, reading it again`)
    } finally {
      if (this.#watcher === watcher) {
        this.#opening = undefined
        this.#open = undefined
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opening?.catch(() => undefined) // already told to whoever asked
    this.#watcher?.close()
    await this.#following
  }
}

function parse<T extends KubeObject>({ value, modRevision }: KeyValue): T {
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
  const object = JSON.parse(text) as T
  object.metadata.resourceVersion = String(modRevision)
  return deepFreeze(object)
}
