// The objects of one kind in the store: keys, reads, and writes that succeed only without a conflict. A layer between the flow of
// the verbs (store.ts) and a control plane's Store, which keeps the cache and external claims consistent.

import { copyJson } from "../../../../apimachinery/copy.ts"
import { validatePathSegmentName } from "../../../../apimachinery/names.ts"
import { type KubeObject, parseGroupVersion, printGroupVersion } from "../../../../apimachinery/object.ts"
import { badRequest, noSuchPath, notFound } from "../../../../apimachinery/status.ts"
import { inSteps, type Steps } from "../../../../apimachinery/steps.ts"
import type { KeyValue, Operation, Store } from "../../../../storage/types.ts"
import type { RequestContext } from "../../../request/context.ts"
import { checkNamespaceInKey, keyPart, storageKey } from "./keys.ts"
import type { ResourceDefinition } from "../../rest.ts"
import { readError, writeError } from "./storage-errors.ts"
import type { Claim } from "../../claim.ts"
import { asParsed, copyingParsed, encodingStored, longText } from "./stored-form.ts"
import { hasUnread } from "./unread-fields.ts"
import type { KubeValue } from "./value.ts"
import type { ValueCache } from "./value-cache.ts"
import type { ValueReader } from "./value-reader.ts"

export class ObjectStorage {
  readonly #definition: ResourceDefinition
  readonly #cache: ValueCache
  readonly #reader: ValueReader

  constructor(definition: ResourceDefinition, cache: ValueCache, reader: ValueReader) {
    this.#definition = definition
    this.#cache = cache
    this.#reader = reader
  }

  key(namespace: string, name: string): string {
    const { namespaced, storagePrefix } = this.#definition
    if (name === "") throw notFound(this.#definition, name)
    if (name.startsWith(".") || name.includes("%")) checkSegment(name)
    if (!namespaced) return storageKey(storagePrefix, "", keyPart(name))
    if (namespace === "") throw badRequest("Namespace parameter required.")
    checkNamespaceInKey(this.#definition, namespace, name)
    return storageKey(storagePrefix, keyPart(namespace), keyPart(name))
  }

  async read(store: Store, key: string, verb: string): Promise<KeyValue | undefined> {
    try {
      return await store.get(key)
    } catch (error) {
      throw readError(error, this.#attempt(verb, key))
    }
  }

  /** The object in the version in which it is stored. Undefined if that has the same fields. */
  converted(object: KubeObject): Promise<KubeObject> | KubeObject | undefined {
    const { conversion, customResource } = this.#definition
    if (conversion !== undefined) return conversion.toStored(object)
    return customResource?.toStored === undefined ? undefined : this.#asStored(object)
  }

  /**
   * Returns the stored value. Undefined: the key was not at `modRevision` (0: it exists); nothing was written and the claim was
   * rolled back. `converted`: the result of {@link converted}, if it is known.
   */
  async put(
    ctx: Pick<RequestContext, "controlPlane" | "turn" | "pause">,
    key: string,
    object: KubeObject,
    modRevision: number,
    claim: Claim | undefined,
    converted?: KubeObject,
  ): Promise<KubeValue | undefined> {
    let stored: KeyValue | undefined
    try {
      const inOther = converted ?? (await this.converted(object))
      const toStore = inOther ?? this.#asStored(object)
      const isReadOtherwise = (inOther === undefined && hasUnread(object)) || this.#isReadOtherwise(toStore)
      stored = await this.#put(ctx, key, toStore, modRevision, isReadOtherwise)
      if (stored === undefined) return undefined
      claim?.commit()
      // All writes of a group complete at once.
      const waiting = ctx.turn?.()
      if (waiting !== undefined) await waiting
      return await this.#reader.whole(await this.#asServedNow(ctx, stored, toStore))
    } finally {
      if (stored === undefined) await claim?.rollback()
    }
  }

  /**
   * A definition may change while one of its objects is written. The object is then stored as it would be read now: readers do not expect
   * older objects after the change. If the definition was deleted, so is the object, which nobody could find. A process that is killed
   * before this second write leaves the first.
   */
  async #asServedNow(
    ctx: Pick<RequestContext, "controlPlane" | "turn" | "pause">,
    stored: KeyValue,
    object: KubeObject,
  ): Promise<KeyValue> {
    const { customResource, resource, group } = this.#definition
    if (customResource === undefined) return stored
    const { resources, store } = ctx.controlPlane
    const { latest } = customResource.edition
    if (latest === customResource.edition) return stored
    if (latest === undefined) {
      await this.remove(store, stored)
      throw noSuchPath()
    }
    const { version } = parseGroupVersion(object.apiVersion)
    const served = resources.registry({ group, version, resource })?.definition.customResource
    const read = served?.edition === latest ? served.aged?.read(object) : undefined
    if (read === undefined || read === object) return stored
    return (await this.#put(ctx, stored.key, read, stored.modRevision, false)) ?? stored
  }

  async #put(
    { controlPlane: { store }, pause }: Pick<RequestContext, "controlPlane" | "pause">,
    key: string,
    object: KubeObject,
    modRevision: number,
    isReadOtherwise: boolean,
  ): Promise<KeyValue | undefined> {
    const preparing = inSteps(preparingToStore(object, isReadOtherwise), pause)
    const { value, parsed } = preparing instanceof Promise ? await preparing : preparing
    const leaving = object.metadata.deletionTimestamp !== undefined
    let stored: KeyValue | undefined
    // Watches of the store get the change before the writer does; with this they need not parse the bytes.
    this.#cache.writing(value, parsed)
    try {
      const revision = await this.#write(store, key, modRevision, { type: "put", key, value, isGiven: true }, leaving)
      if (revision !== undefined) stored = { key, value, createRevision: revision, modRevision: revision }
      return stored
    } finally {
      this.#cache.written(value, stored)
    }
  }

  /** Returns the revision of the delete, or undefined if the object has changed meanwhile. */
  async remove(store: Store, { key, modRevision }: KeyValue): Promise<number | undefined> {
    const revision = await this.#write(store, key, modRevision, { type: "delete", key })
    if (revision !== undefined) this.#cache.delete(key)
    return revision
  }

  /** Returns the revision, or undefined if the key was not at `modRevision`. */
  async #write(
    store: Store,
    key: string,
    modRevision: number,
    write: Operation,
    leaving = false,
  ): Promise<number | undefined> {
    try {
      const result = await store.txn({ compare: [{ key, modRevision }], operations: [write], leaving })
      return result.succeeded ? result.revision : undefined
    } catch (error) {
      const name = key.slice(key.lastIndexOf("/") + 1)
      throw writeError(error, this.#attempt(write.type === "put" ? "write" : "delete", key), this.#definition, name)
    }
  }

  /** The result of a dry run: the object as it would be read from the store. `converted`: as of {@link put}. */
  async asRead(object: KubeObject, converted?: KubeObject): Promise<KubeObject> {
    const { conversion, customResource } = this.#definition
    const stored = converted ?? (await this.converted(object))
    const { aged } = customResource ?? {}
    if (stored === undefined) return aged?.read(object) ?? this.#shown(object)
    if (conversion === undefined)
      return { ...(aged?.read(stored) ?? stored), apiVersion: printGroupVersion(this.#definition) }
    const [read = object] = await conversion.fromStored([stored])
    const { resourceVersion } = object.metadata
    return { ...read, metadata: { ...read.metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) } }
  }

  #isReadOtherwise(stored: KubeObject): boolean {
    return this.#definition.customResource?.lacksDefaults?.(stored) ?? this.#shown(stored) !== stored
  }

  #shown(object: KubeObject): KubeObject {
    const { strategy } = this.#definition
    return strategy.shown === undefined ? object : strategy.shown(object)
  }

  #asStored(object: KubeObject): KubeObject {
    const { kind, storageVersion, customResource } = this.#definition
    const stored = { ...object, kind, apiVersion: storageVersion }
    return customResource?.toStored === undefined ? stored : customResource.toStored(copyJson(stored))
  }

  #attempt(verb: string, key: string): string {
    const { resource, storagePrefix } = this.#definition
    return `${verb} ${resource} "${key.slice(storagePrefix.length)}"`
  }
}

function* preparingToStore(
  object: KubeObject,
  isReadOtherwise: boolean,
): Steps<{ value: Uint8Array; parsed: KubeObject }> {
  const value = yield* encodingStored(object, isReadOtherwise)
  if (value.length < longText) return { value, parsed: asParsed(object) }
  yield
  return { value, parsed: yield* copyingParsed(object) }
}

/** Source: k8s.io/apiserver/pkg/registry/generic/registry/store.go (NamespaceKeyFunc). */
function checkSegment(name: string): void {
  const faults = validatePathSegmentName(name)
  if (faults.length > 0) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${faults.join(";")}`)
}
