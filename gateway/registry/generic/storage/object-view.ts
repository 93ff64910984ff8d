// A parsed view of a small set of objects that every request may need (webhook configurations, APIServices), kept up to date with
// the store (store-view.ts).

import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { Log } from "../../../../client/log.ts"
import type { KeyValue, Store } from "../../../../storage/types.ts"
import { deepFreeze } from "../../../../apimachinery/freeze.ts"
import { parseStored, StoreView } from "./store-view.ts"

interface ObjectViewOptions {
  store: Store
  /** "/registry/<group>/<resource>/" */
  prefix: string
  log: Log
}

interface Objects<T> {
  byKey: Map<string, T>
  /** In key order; undefined after a change, until the next access. */
  sorted: readonly T[] | undefined
}

export class ObjectView<T extends KubeObject> implements AsyncDisposable {
  readonly #view: StoreView<Objects<T>>
  readonly #listeners: (() => void)[] = []

  constructor({ store, prefix, log }: ObjectViewOptions) {
    this.#view = new StoreView<Objects<T>>({
      store,
      prefix,
      log,
      create: () => ({ byKey: new Map(), sorted: undefined }),
      put: ({ byKey }, item) => void byKey.set(item.key, parse<T>(item)),
      delete: ({ byKey }, key) => void byKey.delete(key),
      changed: (objects, isInitial) => {
        objects.sorted = undefined
        if (!isInitial) for (const listener of this.#listeners) listener()
      },
    })
  }

  /** Calls the listener after every change when it is visible; not for the initial objects. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Also false before the first access. */
  get isEmpty(): boolean {
    return this.#view.state?.byKey.size === 0
  }

  /** Ordered by name, frozen. Returns the same value until something changes. */
  async current(): Promise<readonly T[]> {
    const objects = this.#view.state ?? (await this.#view.opened())
    return (objects.sorted ??= [...objects.byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#view[Symbol.asyncDispose]()
  }
}

function parse<T extends KubeObject>(item: KeyValue): T {
  const object = parseStored(item) as T
  object.metadata.resourceVersion = String(item.modRevision)
  return deepFreeze(object)
}
