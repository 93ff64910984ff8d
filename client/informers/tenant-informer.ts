// A cache of one resource of all tenants: one watch per kind, not one per tenant and kind. Reads name the tenant, so objects of
// different tenants cannot be confused.

import type { KubeObject } from "../../apimachinery/object.ts"
import { Alike } from "./alike.ts"
import { silentLog, type Log } from "../log.ts"
import { callHandler, keyOf } from "./handlers.ts"
import { ObjectIndex, type IndexFunctions } from "./object-index.ts"
import type { Resource } from "../rest.ts"
import type { TenantEvent, Tenants } from "../tenants.ts"
import { trim } from "./trim.ts"

/** Called synchronously in the order of each tenant's changes, after the informer's own state has changed. */
export interface TenantInformerHandler<T> {
  added?(tenant: string, object: T): void
  updated?(tenant: string, object: T, previous: T): void
  deleted?(tenant: string, object: T): void
  /** The object was deleted, or its tenant was, or fell asleep: what is remembered of it can be forgotten. */
  forgotten?(object: T): void
  /** All objects the tenant had have been delivered. Called again after a stream had to restart. */
  synced?(tenant: string): void
  /** The tenant was deleted with all its objects; deleted() is not called for them. */
  removed?(tenant: string): void
  /** The tenant fell asleep: its objects are forgotten, and will be delivered again as added, then synced(). */
  asleep?(tenant: string): void
}

interface TenantInformerOptions<T> {
  /** Only objects whose text contains one of these strings are kept (and others that are delivered anyway). */
  mentioning?: readonly string[]
  indexes?: IndexFunctions<T>
  log?: Log
}

interface TenantObjects<T extends KubeObject> {
  objects: ObjectIndex<T>
  synced: boolean
  /** While the stream restarts: the objects delivered since, as "namespace/name". At synced() all others are removed. */
  seen: Set<string> | undefined
}

export class TenantInformer<T extends KubeObject> {
  readonly #tenants: Tenants
  readonly #resource: Resource
  readonly #options: TenantInformerOptions<T>
  readonly #log: Log
  readonly #state = new Map<string, TenantObjects<T>>()
  readonly #alike = new Alike<T>()
  readonly #handlers = new Set<TenantInformerHandler<T>>()
  /** The handlers that are called for each change; most only wait for the initial sync. */
  readonly #followers = new Set<TenantInformerHandler<T>>()
  #started = false

  constructor(tenants: Tenants, resource: Resource, options: TenantInformerOptions<T> = {}) {
    this.#tenants = tenants
    this.#resource = resource
    this.#options = options
    this.#log = options.log ?? silentLog
  }

  get resource(): Resource {
    return this.#resource
  }

  /** Starts once; later calls do nothing. */
  start(signal: AbortSignal): void {
    if (this.#started) return
    this.#started = true
    this.#tenants.watch<T>(
      this.#resource,
      {
        event: (event) => this.#event(event),
        synced: (tenant) => this.#synced(tenant),
        removed: (tenant) => this.#removed(tenant),
        asleep: (tenant) => {
          if (this.#forget(tenant)) this.#each((handler) => handler.asleep?.(tenant))
        },
        restarted: (tenant) => {
          // A sleeping tenant has no state, and takes no memory, until something of it is delivered.
          const state = this.#state.get(tenant)
          if (state !== undefined) state.seen = new Set()
        },
      },
      signal,
      this.#options.mentioning === undefined ? {} : { mentioning: this.#options.mentioning },
    )
  }

  isSynced(tenant: string): boolean {
    return this.#state.get(tenant)?.synced === true
  }

  get(tenant: string, namespace: string | undefined, name: string): T | undefined {
    return this.#state.get(tenant)?.objects.get(namespace, name)
  }

  list(tenant: string, namespace?: string): T[] {
    return this.#state.get(tenant)?.objects.list(namespace) ?? []
  }

  count(tenant: string): number {
    return this.#state.get(tenant)?.objects.size ?? 0
  }

  byIndex(tenant: string, index: string, value: string): T[] {
    return this.#state.get(tenant)?.objects.byIndex(index, value) ?? []
  }

  countByIndex(tenant: string, index: string, value: string): number {
    return this.#state.get(tenant)?.objects.countByIndex(index, value) ?? 0
  }

  /** Tenants that have state. */
  tenants(): string[] {
    return [...this.#state.keys()]
  }

  /** Replays existing objects as added (then synced). Returns a function that removes the handler. */
  subscribe(handler: TenantInformerHandler<T>): () => void {
    this.#handlers.add(handler)
    const isTold = "added" in handler || "updated" in handler || "deleted" in handler || "forgotten" in handler
    if (isTold) this.#followers.add(handler)
    for (const [tenant, state] of this.#state) {
      for (const object of state.objects.list()) this.#notify(() => handler.added?.(tenant, object))
      if (state.synced) this.#notify(() => handler.synced?.(tenant))
    }
    return () => {
      this.#handlers.delete(handler)
      this.#followers.delete(handler)
    }
  }

  #stateOf(tenant: string): TenantObjects<T> {
    let state = this.#state.get(tenant)
    if (state === undefined) {
      state = { objects: new ObjectIndex(this.#options.indexes), synced: false, seen: undefined }
      this.#state.set(tenant, state)
    }
    return state
  }

  #event({ tenant, type, object: delivered }: TenantEvent<T>): void {
    const state = this.#stateOf(tenant)
    if (type === "DELETED") {
      state.seen?.delete(keyOf(delivered))
      this.#delete(tenant, state, delivered)
      return
    }
    const object = this.#alike.share(trim(delivered))
    state.seen?.add(keyOf(object))
    const previous = state.objects.set(object)
    if (previous === undefined) {
      this.#change((handler) => handler.added?.(tenant, object))
    } else if (previous.metadata.uid !== object.metadata.uid) {
      // Deleted and recreated between two lists.
      this.#change((handler) => {
        handler.deleted?.(tenant, previous)
        handler.forgotten?.(previous)
        handler.added?.(tenant, object)
      })
    } else if (previous.metadata.resourceVersion !== object.metadata.resourceVersion) {
      this.#change((handler) => handler.updated?.(tenant, object, previous))
    }
  }

  #delete(tenant: string, state: TenantObjects<T>, object: T): void {
    if (state.objects.delete(object.metadata.namespace, object.metadata.name ?? "") === undefined) return
    this.#change((handler) => {
      handler.deleted?.(tenant, object)
      handler.forgotten?.(object)
    })
  }

  #synced(tenant: string): void {
    const state = this.#stateOf(tenant)
    const { seen } = state
    state.seen = undefined
    if (seen !== undefined) {
      for (const object of state.objects.list()) if (!seen.has(keyOf(object))) this.#delete(tenant, state, object)
    }
    state.synced = true
    this.#each((handler) => handler.synced?.(tenant))
  }

  #removed(tenant: string): void {
    this.#forget(tenant)
    this.#each((handler) => handler.removed?.(tenant))
  }

  /** Returns false if nothing was known of the tenant. */
  #forget(tenant: string): boolean {
    const state = this.#state.get(tenant)
    if (state === undefined) return false
    this.#state.delete(tenant)
    for (const handler of this.#followers) {
      if (handler.forgotten === undefined) continue
      for (const object of state.objects.list()) this.#notify(() => handler.forgotten?.(object))
    }
    return true
  }

  #change(call: (handler: TenantInformerHandler<T>) => void): void {
    for (const handler of this.#followers) this.#notify(() => call(handler))
  }

  #each(call: (handler: TenantInformerHandler<T>) => void): void {
    for (const handler of this.#handlers) this.#notify(() => call(handler))
  }

  #notify(call: () => void): void {
    callHandler(call, this.#resource, this.#log)
  }
}
