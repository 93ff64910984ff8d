// The objects of one kind in the store: keys, reads, and writes that succeed only without a conflict. A layer between the flow of
// the verbs (store.ts) and a control plane's Store, which keeps the cache and external claims consistent.

import { copyJson } from "../../../../apimachinery/copy.ts"
import { validatePathSegmentName } from "../../../../apimachinery/names.ts"
import { type KubeObject, parseGroupVersion, printGroupVersion } from "../../../../apimachinery/object.ts"
import { badRequest, conflict, noSuchPath, notFound } from "../../../../apimachinery/status.ts"
import { inSteps, type Steps } from "../../../../apimachinery/steps.ts"
import { pause, systemClock } from "../../../../client/clock.ts"
import type { Comparison, KeyValue, Operation, Store } from "../../../../storage/types.ts"
import type { RequestContext } from "../../../request/context.ts"
import { checkNamespaceInKey, keyPart, nameInKey, storageKey } from "./keys.ts"
import { createWhileTerminating } from "../checks.ts"
import type { Edition } from "../../edition.ts"
import type { ResourceDefinition } from "../../rest.ts"
import { readError, writeError } from "./storage-errors.ts"
import type { Claim } from "../../claim.ts"
import { asParsed, copyingParsed, encodingStored, longText } from "./stored-form.ts"
import { withEmptyBytes, withoutEmptyBytes } from "../empty-bytes.ts"
import { hasUnread } from "./unread-fields.ts"
import type { KubeValue } from "./value.ts"
import type { ValueCache } from "./value-cache.ts"
import type { ValueReader } from "./value-reader.ts"

type WriteContext = Pick<RequestContext, "controlPlane" | "turn" | "pause" | "signal">

/** An object in the version in which it is stored. */
interface Written {
  object: KubeObject
  isReadOtherwise: boolean
  /** Then it is, by whatever definition (unread-fields.ts). */
  hasUnread: boolean
}

/** A write of a custom resource whose definition changes again and again; each wait is a millisecond longer. Beyond five seconds: Conflict. */
const maxDefinitionChanges = 100

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

  /** Whether something is stored with the object that nobody reads: not if it is converted first. `converted`: the result of {@link converted}. */
  storesUnread(object: KubeObject, converted: KubeObject | undefined): boolean {
    return converted === undefined && hasUnread(object)
  }

  /**
   * Returns the stored value. Undefined: the key was not at `modRevision` (0: it exists); nothing was written and the claim was
   * rolled back. `converted`: the result of {@link converted}, if it is known.
   */
  async put(
    ctx: WriteContext,
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
      const unread = this.storesUnread(object, inOther)
      const isReadOtherwise = unread || this.#isReadOtherwise(toStore)
      stored = await this.#put(ctx, key, { object: toStore, isReadOtherwise, hasUnread: unread }, modRevision)
      if (stored === undefined) return undefined
      claim?.commit()
      // All writes of a group complete at once.
      const waiting = ctx.turn?.()
      if (waiting !== undefined) await waiting
      return await this.#reader.whole(stored)
    } finally {
      if (stored === undefined) await claim?.rollback()
    }
  }

  /**
   * A definition may change while one of its objects is written. Therefore the transaction compares the definition as well, and what is
   * stored is as it would be read then: readers do not expect older objects after the change. If the definition was deleted, nothing is
   * stored, which nobody could find; and nothing is created while its objects are deleted, so that none is left.
   */
  async #put(ctx: WriteContext, key: string, toStore: Written, modRevision: number): Promise<KeyValue | undefined> {
    const edition = this.#definition.customResource?.edition
    const compare: [Comparison] = [{ key, modRevision }]
    let written = toStore
    let writtenBy = edition
    for (let attempt = 0; attempt < maxDefinitionChanges; attempt++) {
      const latest = edition?.latest
      if (latest === undefined && edition !== undefined) throw noSuchPath()
      if (latest !== writtenBy) {
        written = this.#adapted(latest, written, ctx.controlPlane)
        writtenBy = latest
      }
      const definition = latest?.definition
      if (modRevision === 0 && definition?.isTerminating === true)
        throw createWhileTerminating(this.#definition, nameInKey(key))
      const outcome = await this.#putOnce(ctx, written, definition ? [...compare, definition] : compare)
      if (outcome !== "redefined") return outcome
      // Changes of definitions are followed: this process learns of this one at once, unless it reads all of them again.
      await pause(systemClock, attempt, ctx.signal)
      if (ctx.signal.aborted) break
    }
    throw conflict(this.#definition, nameInKey(key), "its definition is being changed")
  }

  /** As an object is read by the definition of today, if that has changed. */
  #adapted(latest: Edition | undefined, written: Written, { resources }: RequestContext["controlPlane"]): Written {
    const { group, resource } = this.#definition
    const { version } = parseGroupVersion(written.object.apiVersion)
    const served = resources.registry({ group, version, resource })?.definition.customResource
    const read = served?.edition === latest ? served?.aged?.read(written.object) : undefined
    if (read === undefined || read === written.object) return written
    const { hasUnread } = written
    return { object: read, isReadOtherwise: hasUnread, hasUnread }
  }

  /** Undefined: the object is not at the revision of the first comparison. "redefined": the definition not at that of the second. */
  async #putOnce(
    { controlPlane: { store }, pause: paused }: WriteContext,
    { object, isReadOtherwise }: Written,
    compare: readonly [Comparison, ...Comparison[]],
  ): Promise<KeyValue | "redefined" | undefined> {
    const preparing = inSteps(preparingToStore(object, isReadOtherwise), paused)
    const { value, parsed } = preparing instanceof Promise ? await preparing : preparing
    const leaving = object.metadata.deletionTimestamp !== undefined
    const [{ key }] = compare
    let stored: KeyValue | undefined
    // Watches of the store get the change before the writer does; with this they need not parse the bytes.
    this.#cache.writing(value, parsed)
    try {
      const result = await this.#write(store, compare, { type: "put", key, value, isGiven: true }, leaving)
      if (typeof result === "number") stored = { key, value, createRevision: result, modRevision: result }
      return typeof result === "number" ? stored : result
    } finally {
      this.#cache.written(value, stored)
    }
  }

  /** Returns the revision of the delete, or undefined if the object has changed meanwhile. */
  async remove(store: Store, { key, modRevision }: KeyValue): Promise<number | undefined> {
    const revision = await this.#write(store, [{ key, modRevision }], { type: "delete", key })
    if (typeof revision !== "number") return undefined
    this.#cache.delete(key)
    return revision
  }

  /** Returns the revision, or as {@link #putOnce}. */
  async #write(
    store: Store,
    compare: readonly [Comparison, ...Comparison[]],
    write: Operation,
    leaving = false,
  ): Promise<number | "redefined" | undefined> {
    const [{ key, modRevision }] = compare
    try {
      const result = await store.txn({ compare, operations: [write], leaving })
      if (result.succeeded) return result.revision
      return (result.current[0]?.modRevision ?? 0) === modRevision ? "redefined" : undefined
    } catch (error) {
      throw writeError(
        error,
        this.#attempt(write.type === "put" ? "write" : "delete", key),
        this.#definition,
        nameInKey(key),
      )
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
    const { customResource } = this.#definition
    if (customResource?.lacksDefaults !== undefined) return customResource.lacksDefaults(stored)
    return withoutEmptyBytes(this.#definition, stored) !== stored || this.#shown(stored) !== stored
  }

  #shown(object: KubeObject): KubeObject {
    const { strategy } = this.#definition
    return strategy.shown === undefined ? object : strategy.shown(object)
  }

  #asStored(object: KubeObject): KubeObject {
    const { kind, storageVersion, customResource } = this.#definition
    const stored = { ...object, kind, apiVersion: storageVersion }
    return customResource?.toStored === undefined
      ? withEmptyBytes(this.#definition, stored)
      : customResource.toStored(copyJson(stored))
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
