// A watch: what there is (when asked for), then every change, as events of one definition. What needs no selection is made
// once for all watches of the definition: they share the store's events, so they share what was made of them.
// Source of the rules: k8s.io/apiserver/pkg/storage/cacher.

import { type Json, type KubeObject, printGroupVersion } from "../../apimachinery/object.ts"
import { writeZeros } from "../../apimachinery/schema/decode.ts"
import type { ControlPlane } from "../tenancy/control-plane.ts"
import { type KeyValue, StorageError, type Store, type StoreEvent, type Watcher } from "../../storage/types.ts"
import { checkNotFuture, checkWatchOptions, parseResourceVersion } from "./list-options.ts"
import type { RegistryEvent, ResourceDefinition, WatchRequest } from "./rest.ts"
import { type Selection, selectionOf } from "./selection.ts"
import { watchError } from "./storage-errors.ts"
import { ComputedValue, type KubeValue } from "./value.ts"
import type { ValueReader } from "./value-reader.ts"

/** How often a quiet watch that takes bookmarks learns how far it has got. */
const bookmarkIntervalMs = 60_000
/** Objects of the initial state handed over at once. */
const pieceSize = 100

const initialEventsEnd = { "k8s.io/initial-events-end": "true" }

/** Whose objects are watched, and what comes after it. */
type WatchHome = Pick<ControlPlane, "store" | "reopened">

export class WatchSource {
  readonly #definition: ResourceDefinition
  readonly #reader: ValueReader
  /** What the store's events became, for as long as the store keeps them. */
  readonly #made = new WeakMap<StoreEvent, RegistryEvent | Promise<RegistryEvent>>()

  constructor(definition: ResourceDefinition, reader: ValueReader) {
    this.#definition = definition
    this.#reader = reader
  }

  /** Throws StatusError before the first event for a request that cannot be answered. */
  async *watch(home: WatchHome, request: WatchRequest): AsyncGenerator<readonly RegistryEvent[]> {
    const { store } = home
    checkWatchOptions(request)
    const selection = selectionOf(this.#definition, request)
    const asked = parseResourceVersion(request.resourceVersion)
    await checkNotFuture(request.sendInitialEvents ? asked : undefined, store)
    const withInitialEvents = request.sendInitialEvents ?? asked === undefined
    let from = asked ?? store.revision
    try {
      if (withInitialEvents) {
        from = await store.latest()
        yield* this.#initialEvents(store, selection, from, request)
        if (request.sendInitialEvents && request.allowBookmarks) yield [this.#bookmark(from, initialEventsEnd)]
      }
      yield* this.#follow(home, selection, from, request)
    } catch (error) {
      // The consumer took too long, or the store closes for good: the stream ends, and the client resumes where it was.
      if (error instanceof StorageError && (error.code === "SlowConsumer" || error.code === "Closed")) return
      throw watchError(error, `watch ${this.#definition.resource}`, `${from} (${store.compactedRevision})`)
    }
  }

  /** From one store to the next of the same tenant, when it has slept: while it does nothing is written. */
  async *#follow(
    home: WatchHome,
    selection: Selection,
    from: number,
    request: WatchRequest,
  ): AsyncGenerator<readonly RegistryEvent[]> {
    let at = from
    for (let current: WatchHome | undefined = home; current !== undefined;) {
      let watcher: Watcher | undefined
      try {
        watcher = current.store.watch(selection.prefix, { after: at })
        return yield* this.#changes(watcher, selection, request)
      } catch (error) {
        if (!(error instanceof StorageError && error.code === "Closed") || request.signal.aborted) throw error
        at = Math.max(at, watcher?.revision ?? 0)
        current = await current.reopened(request.signal)
      }
    }
  }

  async *#initialEvents(
    store: Store,
    selection: Selection,
    revision: number,
    { turn }: WatchRequest,
  ): AsyncGenerator<readonly RegistryEvent[]> {
    for (let after: string | undefined; ;) {
      const place = after === undefined ? {} : { after }
      const piece = await store.range(selection.prefix, { revision, limit: pieceSize, ...place })
      const wanted = piece.items.filter(({ key }) => selection.key === undefined || key === selection.key)
      const values = await this.#reader.many(wanted)
      const events = values
        .filter((value) => selection.matches?.(value) ?? true)
        .map((value): RegistryEvent => ({ type: "ADDED", value }))
      if (events.length > 0) yield events
      if (!piece.more) return
      await turn?.()
      after = piece.items.at(-1)?.key
    }
  }

  async *#changes(
    watcher: Watcher,
    selection: Selection,
    { signal, allowBookmarks = false, turn }: WatchRequest,
  ): AsyncGenerator<readonly RegistryEvent[]> {
    const close = (): void => watcher.close()
    if (signal.aborted) close()
    signal.addEventListener("abort", close, { once: true })
    const iterator = watcher[Symbol.asyncIterator]()
    const bookmarks = allowBookmarks ? new Ticks(bookmarkIntervalMs) : undefined
    try {
      for (let next = iterator.next(); ;) {
        const result = bookmarks ? await bookmarks.orTick(next) : await next
        if (result === tick) {
          yield [this.#bookmark(watcher.revision)]
          continue
        }
        if (result.done) return
        // A thousand watches of one change must not hold up who has one.
        const waiting = turn?.()
        if (waiting !== undefined) await waiting
        const events = await this.#events(result.value, selection)
        if (events.length > 0) yield events
        next = iterator.next()
      }
    } finally {
      bookmarks?.stop()
      signal.removeEventListener("abort", close)
      watcher.close()
    }
  }

  async #events(changes: readonly StoreEvent[], selection: Selection): Promise<readonly RegistryEvent[]> {
    const events: RegistryEvent[] = []
    for (const change of changes) {
      if (selection.key !== undefined && change.current.key !== selection.key) continue
      const made = this.event(change)
      const event = made instanceof Promise ? await made : made
      const selected = selection.matches ? await this.#select(event, change, selection.matches) : event
      if (selected !== undefined) events.push(selected)
    }
    return events
  }

  /** Made once for all who watch. */
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
    const value = this.#value(change.current)
    const made: RegistryEvent | Promise<RegistryEvent> =
      value instanceof Promise ? value.then((value): RegistryEvent => ({ type, value })) : { type, value }
    this.#made.set(change, made)
    return made
  }

  /** An object comes into the selection with ADDED and leaves it with DELETED, whatever it was to the store. */
  async #select(
    event: RegistryEvent,
    change: StoreEvent,
    matches: (value: KubeValue) => boolean,
  ): Promise<RegistryEvent | undefined> {
    const is = event.type !== "DELETED" && matches(event.value)
    const before = change.previous ?? (event.type === "DELETED" ? change.current : undefined)
    // Without the value before, it may have been selected: a DELETED for what a client does not know does no harm.
    const was = event.type === "ADDED" ? false : before ? matches(await this.#value(before)) : true
    if (is)
      return was === (event.type === "MODIFIED") ? event : { type: was ? "MODIFIED" : "ADDED", value: event.value }
    if (!was) return undefined
    if (event.type === "DELETED") return event
    const last = change.previous ?? change.current
    return { type: "DELETED", value: await this.#reader.past(last, change.current.modRevision) }
  }

  #value(stored: KeyValue): KubeValue | Promise<KubeValue> {
    const only = ([value]: readonly KubeValue[]): KubeValue => {
      if (value === undefined) throw new Error(`nothing was read of ${stored.key}`)
      return value
    }
    const many = this.#reader.many([stored])
    return many instanceof Promise ? many.then(only) : only(many)
  }

  #bookmark(revision: number, annotations?: Record<string, string>): RegistryEvent {
    const { kind, schema, customResource } = this.#definition
    const metadata = { resourceVersion: String(revision), ...(annotations ? { annotations } : {}) }
    const object: KubeObject = { kind, apiVersion: printGroupVersion(this.#definition), metadata }
    // An object of its kind like any other, with what Go prints of one that has nothing.
    if (customResource === undefined) writeZeros(schema, object as unknown as Json)
    return {
      type: "BOOKMARK",
      value: new ComputedValue(object),
    }
  }
}

const tick = Symbol("tick")

/** Interrupts waiting once per interval; never keeps the process alive. */
class Ticks {
  readonly #timer: NodeJS.Timeout
  #interrupt: (() => void) | undefined

  constructor(intervalMs: number) {
    this.#timer = setInterval(() => this.#interrupt?.(), intervalMs)
    this.#timer.unref()
  }

  /** Not Promise.race with a promise of the next tick: that would gather what every wait has added to it, until the tick. */
  orTick<T>(next: Promise<T>): Promise<T | typeof tick> {
    return new Promise((resolve, reject) => {
      this.#interrupt = () => resolve(tick)
      next.then(resolve, reject)
    })
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
