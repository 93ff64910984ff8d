// A cache of one resource of one API with change handlers. It contains the client's objects, trimmed (trim.ts).

import type { KubeObject } from "../../apimachinery/object.ts"
import type { Clock } from "../clock.ts"
import { silentLog, type Log } from "../log.ts"
import { callHandler, keyOf } from "./handlers.ts"
import { ObjectIndex, type IndexFunctions } from "./object-index.ts"
import { reflect } from "./reflector.ts"
import type { ListWatch, Resource } from "../rest.ts"
import { trim } from "./trim.ts"

/** Called synchronously in the order of changes, after the informer's own state has changed; must not block or throw. */
export interface InformerHandler<T> {
  added?(object: T): void
  updated?(object: T, previous: T): void
  deleted?(object: T): void
}

export interface InformerOptions<T> {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  indexes?: IndexFunctions<T>
  /** Called when a list or watch has failed, which is repeated. */
  failed?: (error: unknown) => void
  log?: Log
  clock?: Clock
}

export class Informer<T extends KubeObject> {
  readonly #client: ListWatch
  readonly #resource: Resource
  readonly #options: InformerOptions<T>
  readonly #objects: ObjectIndex<T>
  readonly #handlers = new Set<InformerHandler<T>>()
  readonly #log: Log
  #started: Promise<void> | undefined
  #synced = false

  constructor(client: ListWatch, resource: Resource, options: InformerOptions<T> = {}) {
    this.#client = client
    this.#resource = resource
    this.#options = options
    this.#objects = new ObjectIndex(options.indexes)
    this.#log = options.log ?? silentLog
  }

  /** All objects of the initial list have been delivered. */
  get synced(): boolean {
    return this.#synced
  }

  get size(): number {
    return this.#objects.size
  }

  /** Resolves when first synced, or when the signal ends before that. Runs once: later calls wait for the same. */
  start(signal: AbortSignal): Promise<void> {
    this.#started ??= new Promise((resolve) => {
      const { namespace, labelSelector, fieldSelector, failed, clock } = this.#options
      const running = reflect<T>({
        client: this.#client,
        resource: this.#resource,
        signal,
        log: this.#log,
        ...(namespace === undefined ? {} : { namespace }),
        ...(labelSelector === undefined ? {} : { labelSelector }),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
        ...(failed === undefined ? {} : { failed }),
        ...(clock === undefined ? {} : { clock }),
        sink: {
          replace: (objects) => {
            this.#replace(objects)
            this.#synced = true
            resolve()
          },
          changed: (type, object) => (type === "DELETED" ? this.#delete(object) : this.#set(object)),
        },
      })
      running.then(resolve, (error: unknown) => {
        this.#log.error({ resource: this.#resource.resource, err: error }, "informer stopped")
        resolve()
      })
    })
    return this.#started
  }

  get(namespace: string | undefined, name: string): T | undefined {
    return this.#objects.get(namespace, name)
  }

  list(namespace?: string): T[] {
    return this.#objects.list(namespace)
  }

  byIndex(index: string, value: string): T[] {
    return this.#objects.byIndex(index, value)
  }

  /** Namespaces that are currently folded. */
  get folded(): readonly string[] {
    return this.#objects.folded()
  }

  /** Compresses the objects of a namespace until one of them changes or is requested. */
  fold(namespace: string): void {
    this.#objects.fold(namespace)
  }

  /** Replays existing objects as added. Returns a function that removes the handler. */
  subscribe(handler: InformerHandler<T>): () => void {
    this.#handlers.add(handler)
    for (const object of this.#objects.list()) this.#notify(() => handler.added?.(object))
    return () => this.#handlers.delete(handler)
  }

  #replace(objects: readonly T[]): void {
    const present = new Set(objects.map(keyOf))
    const folded = this.#objects.folded()
    for (const object of this.#objects.list()) if (!present.has(keyOf(object))) this.#delete(object)
    for (const object of objects) this.#set(object)
    for (const namespace of folded) this.#objects.fold(namespace)
  }

  #set(delivered: T): void {
    const object = trim(delivered)
    const previous = this.#objects.set(object)
    if (previous !== undefined && sameVersion(previous, object)) return
    for (const handler of this.#handlers) {
      this.#notify(() => {
        if (previous === undefined) handler.added?.(object)
        else if (previous.metadata.uid === object.metadata.uid) handler.updated?.(object, previous)
        else {
          // Deleted and recreated between two lists.
          handler.deleted?.(previous)
          handler.added?.(object)
        }
      })
    }
  }

  #delete(object: T): void {
    if (this.#objects.delete(object.metadata.namespace, object.metadata.name ?? "") === undefined) return
    for (const handler of this.#handlers) this.#notify(() => handler.deleted?.(object))
  }

  #notify(call: () => void): void {
    callHandler(call, this.#resource, this.#log)
  }
}

function sameVersion(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion
}
