// Watches: the initial objects (if requested), then every change, as events of one definition. Events that need no selection are
// created once for all watches of the definition: they share the store's events and their conversions. Source of the rules:
// k8s.io/apiserver/pkg/storage/cacher.

import { Recent } from "../../../../apimachinery/recent.ts"
import { storedLength } from "../../../../storage/base-layer.ts"
import {
  type KeyValue,
  StorageError,
  type Store,
  type StoreEvent,
  type WatchOptions as StoreWatchOptions,
} from "../../../../storage/types.ts"
import { checkNotFuture, checkWatchOptions, parseResourceVersion } from "./list-options.ts"
import { readOne } from "./list.ts"
import { streamAt } from "./read-pieces.ts"
import type { RegistryEvent, ResourceDefinition, WatchRequest } from "../../rest.ts"
import { blankObject } from "../blank.ts"
import { type Selection, selectionOf } from "./selection.ts"
import { watchError } from "../storage/storage-errors.ts"
import { type KubeValue, ComputedValue } from "../storage/value.ts"
import type { ValueReader } from "../storage/value-reader.ts"
import { tick, WatchChanges, type WatchHome, type WatchOptions } from "./watch-changes.ts"

/**
 * After a change its event may be sent to many watches; those that come later create it again. The weight is in bytes of objects, which
 * are a small part of the events' memory.
 */
const madeFresh = { keptMs: 5_000, maxFresh: 128 * 1024 }

/** The labels of an object are found, and it is frozen, when it is first looked at: a longer one is left to the watches' own turns. */
const briefBytes = 16 * 1024

/** Undefined: the event is not part of the selection. */
type Selected = RegistryEvent | undefined

export class WatchSource {
  readonly #definition: ResourceDefinition
  readonly #reader: ValueReader
  /** The converted events of the store, which also hold their encoded form. */
  readonly #made = new Recent<StoreEvent, RegistryEvent | Promise<RegistryEvent>>(madeFresh)

  constructor(definition: ResourceDefinition, reader: ValueReader) {
    this.#definition = definition
    this.#reader = reader
  }

  /**
   * Throws StatusError before the first event for a request that cannot be served. After the initial events it is a single loop
   * without nested generators, because it runs for every event of every watch.
   */
  async *watch(home: WatchHome, request: WatchRequest): AsyncGenerator<readonly RegistryEvent[]> {
    const { store } = home
    const { allowBookmarks = false, signal, turn } = request
    checkWatchOptions(request)
    const selection = selectionOf(this.#definition, request)
    const asked = parseResourceVersion(request.resourceVersion)
    await checkNotFuture(request.sendInitialEvents ? asked : undefined, store, request.resourceVersion)
    const withInitialEvents = request.sendInitialEvents ?? asked === undefined
    let from = asked ?? store.revision
    try {
      if (withInitialEvents) {
        from = await store.latest()
        yield* this.#initialEvents(store, selection, from, request)
        request.reading?.reduce?.()
        if (request.sendInitialEvents && allowBookmarks) yield [bookmark(this.#definition, from, "initial events end")]
      }
      const { prefix } = selection
      // Watches that take turns may fall behind: a tenant may have any number of them.
      const patient = turn !== undefined
      const edition = request.endsWithEdition === true ? this.#edition() : undefined
      using changes = new WatchChanges({
        home,
        prefix,
        after: from,
        withTicks: allowBookmarks,
        excludes: this.#excludes(home, selection),
        patient,
        reading: request.reading,
        edition,
        signal,
      })
      for (;;) {
        const next = await changes.next()
        if (next === undefined) return
        if (next === tick) {
          yield [bookmark(this.#definition, changes.revision)]
          continue
        }
        // A thousand watches of one change must not delay others.
        const waiting = turn?.()
        if (waiting !== undefined) await waiting
        const made = this.#events(next, selection)
        const events = made instanceof Promise ? await made : made
        if (events.length > 0) yield events
      }
    } catch (error) {
      // The consumer was too slow, or the store has been closed for good: the stream ends, and the client resumes.
      if (error instanceof StorageError && (error.code === "SlowConsumer" || error.code === "Closed")) return
      throw watchError(error, `watch ${this.#definition.resource}`, `${from} (${store.compactedRevision})`)
    }
  }

  #edition(): WatchOptions["edition"] {
    const first = this.#definition.customResource?.edition
    if (first === undefined) return undefined
    return { first, of: ({ resources }) => resources.registry(this.#definition)?.definition.customResource?.edition }
  }

  async *#initialEvents(
    store: Store,
    selection: Selection,
    revision: number,
    { reading = {} }: WatchRequest,
  ): AsyncGenerator<readonly RegistryEvent[]> {
    const source = { store, reader: this.#reader, ctx: reading }
    const place = { revision, after: undefined }
    const { key } = selection
    if (key !== undefined) await reading.enlarge?.() // the object may be large
    const pieces =
      key === undefined
        ? (await streamAt(source, selection, place)).pieces
        : [(await readOne(source, selection, key, place)).items]
    for await (const values of pieces)
      if (values.length > 0) yield values.map((value): RegistryEvent => ({ type: "ADDED", value }))
  }

  /**
   * What does not wake a watch: the pods of other nodes, say, if there is a watch for each of a thousand. Nothing is parsed for that, and
   * what cannot be told, the watch finds out in its own turn.
   */
  #excludes({ turns }: WatchHome, { key, mayMatch, isBrief }: Selection): StoreWatchOptions["excludes"] {
    if (mayMatch === undefined || !isBrief) return undefined
    const isExcluded = (stored: KeyValue): boolean => {
      try {
        if (storedLength(stored) > briefBytes) return false
        const text = this.#reader.ownText(stored)
        return text !== undefined && !mayMatch(text, true)
      } catch {
        return false // whoever reads it for the watch is told
      }
    }
    return ({ type, current, previous }) => {
      if (key !== undefined && current.key !== key) return true
      if (!turns.trifle()) return false
      if (type === "delete") return isExcluded(previous ?? current)
      // The previous one first: the current one takes its place in the cache.
      const isNew = current.createRevision === current.modRevision
      return (isNew || (previous !== undefined && isExcluded(previous))) && isExcluded(current)
    }
  }

  /** Returns a promise only if an event must be converted or read. */
  #events(
    changes: readonly StoreEvent[],
    { key, matches }: Selection,
  ): readonly RegistryEvent[] | Promise<readonly RegistryEvent[]> {
    const events: (Selected | Promise<Selected>)[] = []
    let areThere = true
    for (const change of changes) {
      if (key !== undefined && change.current.key !== key) continue
      const made = this.event(change)
      const event = matches === undefined ? made : this.#select(made, change, matches)
      if (event === undefined) continue
      if (event instanceof Promise) areThere = false
      events.push(event)
    }
    if (areThere) return events as RegistryEvent[]
    return Promise.all(events.map((event) => Promise.resolve(event))).then((all) =>
      all.filter((event) => event !== undefined),
    )
  }

  /** Created once for all watches. */
  event(change: StoreEvent): RegistryEvent | Promise<RegistryEvent> {
    return this.#made.get(change) ?? this.#make(change)
  }

  #make(change: StoreEvent): RegistryEvent | Promise<RegistryEvent> {
    const type =
      change.type === "delete"
        ? "DELETED"
        : change.current.createRevision === change.current.modRevision
          ? "ADDED"
          : "MODIFIED"
    const value = this.#last(change)
    const made: RegistryEvent | Promise<RegistryEvent> =
      value instanceof Promise ? value.then((value): RegistryEvent => ({ type, value })) : { type, value }
    this.#made.set(change, made, change.current.value.length)
    return made
  }

  /** The last value of a deleted object is as old as its write. */
  #last({ type, current, previous }: StoreEvent): KubeValue | Promise<KubeValue> {
    const isOld = type === "delete" && previous !== undefined && this.#reader.isAged(previous)
    return isOld ? this.#reader.past(previous, current.modRevision) : this.#value(current)
  }

  /** An object enters the selection with ADDED and leaves it with DELETED, regardless of the store's event type. */
  #select(
    made: RegistryEvent | Promise<RegistryEvent>,
    change: StoreEvent,
    matches: (value: KubeValue) => boolean,
  ): Selected | Promise<Selected> {
    const before = change.previous ?? (change.type === "delete" ? change.current : undefined)
    const was = before === undefined ? undefined : this.#value(before)
    if (made instanceof Promise || was instanceof Promise)
      return Promise.all([made, was]).then(([event, value]) => this.#selected(event, value, change, matches))
    return this.#selected(made, was, change, matches)
  }

  #selected(
    event: RegistryEvent,
    before: KubeValue | undefined,
    change: StoreEvent,
    matches: (value: KubeValue) => boolean,
  ): Selected | Promise<Selected> {
    const is = event.type !== "DELETED" && matches(event.value)
    // If the previous value is unknown, it may have matched: a DELETED event for an object that a client does not know is harmless.
    const was = event.type === "ADDED" ? false : before === undefined || matches(before)
    if (is)
      return was === (event.type === "MODIFIED") ? event : { type: was ? "MODIFIED" : "ADDED", value: event.value }
    if (!was) return undefined
    if (event.type === "DELETED") return event
    const last = change.previous ?? change.current
    return this.#reader.past(last, change.current.modRevision).then((value): Selected => ({ type: "DELETED", value }))
  }

  #value(stored: KeyValue): KubeValue | Promise<KubeValue> {
    const only = ([value]: readonly KubeValue[]): KubeValue => {
      if (value === undefined) throw new Error(`nothing was read of ${stored.key}`)
      return value
    }
    const many = this.#reader.many([stored])
    return many instanceof Promise ? many.then(only) : only(many)
  }
}

const initialEventsEnd = { "k8s.io/initial-events-end": "true" }

/** An object of its kind with nothing but a resource version. */
function bookmark(
  definition: ResourceDefinition,
  revision: number,
  says: "initial events end" | "revision" = "revision",
): RegistryEvent {
  const annotations = says === "initial events end" ? { annotations: initialEventsEnd } : {}
  const object = blankObject(definition, { resourceVersion: String(revision), ...annotations })
  return { type: "BOOKMARK", value: new ComputedValue(object) }
}
