// The generic registry: the flow of every verb on every stored kind, from a decoded object to the store and back. The steps of
// a write are in write-attempts.ts and delete-attempts.ts. The kind's strategy has everything specific to the kind. Source of the flow:
// k8s.io/apiserver/pkg/registry/generic/registry/store.go.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { conflict, isAlreadyExists, notFound, objectModified } from "../../../apimachinery/status.ts"
import type { KeyValue, StoreEvent } from "../../../storage/types.ts"
import type { RequestContext } from "../../request/context.ts"
import { DeleteAttempts } from "./delete-attempts.ts"
import { checkNotFuture, parseListResourceVersion, parseResourceVersion } from "./list-watch/list-options.ts"
import { listObjects, streamObjects } from "./list-watch/list.ts"
import { nameFor, placeInNamespace, wipeSystemFields } from "./metadata.ts"
import { ObjectStorage } from "./storage/object-storage.ts"
import type {
  AdmitFunctions,
  DeleteRequest,
  Deletion,
  GetOptions,
  ListOptions,
  ListResult,
  ListStream,
  Registry,
  RegistryEvent,
  ResourceDefinition,
  WatchRequest,
  WriteOptions,
} from "../rest.ts"
import { readError } from "./storage/storage-errors.ts"
import type { KubeValue } from "./storage/value.ts"
import type { ValueCache } from "./storage/value-cache.ts"
import { ValueReader } from "./storage/value-reader.ts"
import { UntilAborted } from "./list-watch/until-aborted.ts"
import { WatchSource } from "./list-watch/watch.ts"
import { type Change, WriteAttempts } from "./write-attempts.ts"
import { WriteTurns } from "./write-turns.ts"

/** Number of attempts to find a generated name that is not taken. */
const maxNameAttempts = 8
/** Number of attempts of an update or delete after conflicts. Upstream makes them until the request's time is over. */
const maxWriteAttempts = 256
/** After so many of them, those of one object take turns. */
const freeAttempts = 4

/** This warning is written once per collection, even if the collection is empty. */
export function warnOfPropagation(
  ctx: RequestContext,
  { strategy: { propagationWarning } }: ResourceDefinition,
  { propagationPolicy, orphanDependents }: DeleteRequest,
): void {
  const isUnspecified = propagationPolicy === undefined && orphanDependents === undefined
  if (propagationWarning !== undefined && isUnspecified) ctx.warn(propagationWarning)
}

export class GenericRegistry implements Registry {
  readonly definition: ResourceDefinition
  readonly #reader: ValueReader
  readonly #storage: ObjectStorage
  readonly #watches: WatchSource
  readonly #writes: WriteAttempts
  readonly #deletes: DeleteAttempts
  readonly #turns = new WriteTurns()

  constructor(definition: ResourceDefinition, cache: ValueCache) {
    this.definition = definition
    this.#reader = new ValueReader(definition, cache)
    this.#storage = new ObjectStorage(definition, cache, this.#reader)
    this.#watches = new WatchSource(definition, this.#reader)
    this.#deletes = new DeleteAttempts(definition, this.#reader, this.#storage)
    this.#writes = new WriteAttempts(definition, this.#reader, this.#storage, this.#deletes)
  }

  async get(ctx: RequestContext, namespace: string, name: string, options: GetOptions = {}): Promise<KubeValue> {
    const { store } = ctx.controlPlane
    // As upstream, the resourceVersion of a get of an event is parsed like that of a list.
    const { kind, customResource } = this.definition
    const parse = kind === "Event" && customResource === undefined ? parseListResourceVersion : parseResourceVersion
    const waiting = checkNotFuture(parse(options.resourceVersion), store, options.resourceVersion)
    if (waiting !== undefined) await waiting
    const stored = await this.#storage.read(store, this.#storage.key(namespace, name), "get")
    if (stored === undefined) throw notFound(this.definition, name)
    return this.#reader.one(stored)
  }

  async list(ctx: RequestContext, options: ListOptions): Promise<ListResult> {
    try {
      return await listObjects(this.#source(ctx), options)
    } catch (error) {
      throw readError(error, `list ${this.definition.resource}`)
    }
  }

  async stream(ctx: RequestContext, options: Omit<ListOptions, "limit">): Promise<ListStream> {
    try {
      return await streamObjects(this.#source(ctx), options)
    } catch (error) {
      throw readError(error, `list ${this.definition.resource}`)
    }
  }

  watch(ctx: RequestContext, request: WatchRequest): AsyncIterable<readonly RegistryEvent[]> {
    return new UntilAborted(this.#watches.watch(ctx.controlPlane, request), request.signal)
  }

  values(stored: readonly KeyValue[]): readonly KubeValue[] | Promise<readonly KubeValue[]> {
    return this.#reader.many(stored)
  }

  event(change: StoreEvent): RegistryEvent | Promise<RegistryEvent> {
    return this.#watches.event(change)
  }

  /** Takes ownership of the object, which is decoded and defaulted. */
  async create(
    ctx: RequestContext,
    object: KubeObject,
    options: WriteOptions,
    admit: AdmitFunctions,
  ): Promise<KubeValue> {
    wipeSystemFields(object)
    placeInNamespace(this.definition, ctx.info.namespace || (object.metadata.namespace ?? ""), object)
    await this.#writes.admitNew(ctx, object, options, admit)
    const { metadata } = object
    const prefix = metadata.name ? "" : (metadata.generateName ?? "")
    if (prefix !== "") metadata.name = nameFor(this.definition, prefix)
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#writes.create(ctx, object, options, admit)
      } catch (error) {
        if (prefix === "" || attempt === maxNameAttempts || !isAlreadyExists(error)) throw error
        metadata.name = nameFor(this.definition, prefix)
      }
    }
  }

  async update(
    ctx: RequestContext,
    namespace: string,
    name: string,
    change: Change,
    options: WriteOptions,
    admit: AdmitFunctions,
  ): Promise<{ value: KubeValue; created: boolean }> {
    const { store } = ctx.controlPlane
    const key = this.#storage.key(namespace, name)
    return this.#attempted(ctx, key, name, async () => {
      const stored = await this.#storage.read(store, key, "update")
      const created = stored === undefined
      const value = created
        ? await this.#writes.createOnUpdate(ctx, namespace, name, change, options, admit)
        : await this.#writes.update(ctx, stored, change, options, admit)
      return value && { value, created }
    })
  }

  /** Repeats a write that another one has come before: until `write` returns something. */
  async #attempted<T>(ctx: RequestContext, key: string, name: string, write: () => Promise<T | undefined>): Promise<T> {
    let endTurn: (() => void) | undefined
    try {
      for (let attempt = 1; attempt <= maxWriteAttempts; attempt++) {
        const done = await write()
        if (done !== undefined) return done
        if (attempt === freeAttempts) endTurn = await this.#turns.take(ctx.controlPlane.store, key)
        if (ctx.isOver === true) break
      }
    } finally {
      endTurn?.()
    }
    throw conflict(this.definition, name, objectModified)
  }

  async delete(
    ctx: RequestContext,
    namespace: string,
    name: string,
    request: DeleteRequest,
    admit: AdmitFunctions,
  ): Promise<Deletion> {
    warnOfPropagation(ctx, this.definition, request)
    const { store } = ctx.controlPlane
    const key = this.#storage.key(namespace, name)
    return this.#attempted(ctx, key, name, async () => {
      const stored = await this.#storage.read(store, key, "delete")
      if (stored === undefined) throw notFound(this.definition, name)
      return this.#deletes.delete(ctx, stored, request, admit)
    })
  }

  #source(ctx: RequestContext) {
    return { store: ctx.controlPlane.store, definition: this.definition, reader: this.#reader, ctx }
  }
}
