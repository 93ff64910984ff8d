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
  /** What is listed is folded, unless it was there before and was not. See fold(). */
  foldsLists?: boolean
  /** Called when a list or watch has failed, which is repeated. */
  failed?: (error: unknown) => void
  log?: Log
  clock?: Clock
}

/** A list that is being delivered. */
interface Listing {
  /** Keys of its objects so far. */
  seen: Set<string>
  /** Of its last object. */
  namespace: string | undefined
  /** The namespaces that are not to be folded; undefined: none is. */
  inUse: ReadonlySet<string> | undefined
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
  #listing: Listing | undefined

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
          restarted: () => this.#restarted(),
          changed: (type, object) => (type === "DELETED" ? this.#delete(object) : this.#set(object)),
          synced: () => {
            this.#listed()
            this.#synced = true
            resolve()
          },
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

  #restarted(): void {
    // What an attempt that failed has delivered is not in use.
    const inUse = this.#options.foldsLists === true ? (this.#listing?.inUse ?? this.#unfolded()) : undefined
    this.#listing = { seen: new Set(), namespace: undefined, inUse }
  }

  #unfolded(): Set<string> {
    const folded = new Set(this.#objects.folded())
    return new Set(this.#objects.namespaces().filter((namespace) => !folded.has(namespace)))
  }

  /** Folds the namespace before, since servers list by namespace. */
  #list(listing: Listing, object: T): void {
    const { namespace = "" } = object.metadata
    listing.seen.add(keyOf(object))
    if (listing.namespace === namespace) return
    const { namespace: before } = listing
    this.#foldListed(listing)
    // By a server that lists otherwise everything would be unfolded and folded again with each object. "a-b/" is before "a/".
    if (before !== undefined && `${namespace}/` < `${before}/`) listing.inUse = undefined
    listing.namespace = namespace
  }

  #foldListed({ namespace, inUse }: Listing): void {
    if (namespace !== undefined && inUse?.has(namespace) === false) this.#objects.fold(namespace)
  }

  #listed(): void {
    const listing = this.#listing
    if (listing === undefined) return
    this.#foldListed(listing)
    this.#listing = undefined
    if (this.#objects.size > listing.seen.size) this.#deleteOthers(listing)
  }

  #deleteOthers({ seen }: Listing): void {
    const folded = new Set(this.#objects.folded())
    for (const namespace of this.#objects.namespaces()) {
      for (const object of this.#objects.list(namespace)) if (!seen.has(keyOf(object))) this.#delete(object)
      if (folded.has(namespace)) this.#objects.fold(namespace)
    }
  }

  #set(delivered: T): void {
    const object = trim(delivered)
    if (this.#listing !== undefined) this.#list(this.#listing, object)
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
