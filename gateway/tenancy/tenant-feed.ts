// The feed of one tenant's objects for all followers of all tenants: one scan and one watch of its store, regardless of the number
// of resources. It resumes from the last revision seen; after a compaction everything is delivered again. While nothing has changed
// since all followers were up to date, it is dormant: followers do not have the tenant's objects.
//
//   store ── range "/registry/" at R ──┐
//         └─ watch "/registry/" > R ───┴─▶ by prefix ─▶ subscriptions of that resource ─▶ handler

import { setImmediate as nextTurn } from "node:timers/promises"
import type { FairPlaces } from "../../apimachinery/fair-places.ts"
import { backoff } from "../../client/backoff.ts"
import { pause, systemClock } from "../../client/clock.ts"
import { failureFields, type Log } from "../../client/log.ts"
import { hasCode, type KeyValue, type Store, type StoreEvent, type Watcher } from "../../storage/types.ts"
import { everything, storagePrefixIn, storagePrefixOf } from "../registry/generic/storage/keys.ts"
import type { Registry } from "../registry/rest.ts"
import type { KubeValue } from "../registry/generic/storage/value.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import { scanStore } from "./scan-store.ts"
import { concerns, mentions, prefixesOf, type Subscription, type Subscriptions } from "./subscriptions.ts"

interface TenantFeedParts {
  tenant: string
  controlPlane: ControlPlane
  /** All followers know the state up to this revision, so they need no notification until something changes. */
  settled: number | undefined
  subscriptions: Subscriptions
  /** Aborted when the tenant falls asleep or is closed. */
  signal: AbortSignal
  /** Shared by all feeds: limits concurrent scans, of different tenants. */
  opening: FairPlaces<string>
  log: Log
}

const definitionsPrefix = storagePrefixOf("apiextensions.k8s.io", "customresourcedefinitions")

export class TenantFeed {
  readonly #parts: TenantFeedParts
  /** Everything up to this revision was delivered. Undefined: nothing yet, or the feed cannot resume. */
  #position: number | undefined
  /** Subscriptions up to this sequence have received the existing objects. */
  #listed = 0
  /** Subscriptions up to this sequence have received something and must be notified when the feed starts again. */
  #begun = 0
  /** Subscriptions whose list is newer than the position: earlier events are skipped for them. */
  readonly #from = new Map<Subscription, number>()
  /** Subscriptions whose resource the tenant does not serve (yet). */
  readonly #unserved = new Set<Subscription>()
  /** A definition may have been created for an unserved subscription. */
  #isDefined = false
  /** Set until the feed begins. */
  #sleepRevision: number | undefined
  #watcher: Watcher | undefined
  #isPassing = false
  /** Everything must be delivered again. */
  #isStale = false
  readonly #firstList = Promise.withResolvers<void>()

  constructor(parts: TenantFeedParts) {
    this.#parts = parts
    this.#sleepRevision = parts.settled
  }

  /** Resolves when everything has been delivered once, or when the feed has ended. */
  get listed(): Promise<void> {
    return this.#firstList.promise
  }

  /** Followers know the tenant's state, and have forgotten its objects. */
  get isDormant(): boolean {
    return this.#sleepRevision !== undefined
  }

  /** Call when there are new subscriptions, or when the objects are needed. */
  wake(): void {
    this.#sleepRevision = undefined
    this.#watcher?.close()
  }

  /** Delivers everything again. */
  startAgain(): void {
    this.#isStale = true
    this.#watcher?.close()
  }

  /** The revision up to which all followers have received everything; undefined if they have not. */
  get settledAt(): number | undefined {
    const { controlPlane, subscriptions } = this.#parts
    const { revision } = controlPlane.store
    if (this.#isStale) return undefined
    // In shared storage the revision advances without changes; so does that of the watch.
    if (this.#sleepRevision !== undefined)
      return (this.#watcher?.revision ?? this.#sleepRevision) === revision ? revision : undefined
    if (this.#listed !== subscriptions.last || this.#isPassing) return undefined
    return this.#watcher?.revision === revision ? revision : undefined
  }

  /** Some followers have received something. */
  get hasDelivered(): boolean {
    return this.#begun > 0
  }

  /** Tells subscribers to drop the objects. */
  notifyAsleep(): void {
    const { tenant, subscriptions } = this.#parts
    if (!this.hasDelivered) return
    for (const { sequence, handler, signal } of subscriptions.after(0)) {
      if (sequence <= this.#begun && !signal.aborted) handler.asleep?.(tenant)
    }
  }

  /** Runs until the tenant ends. */
  async run(): Promise<void> {
    try {
      await this.#run()
    } finally {
      this.#firstList.resolve()
    }
  }

  async #run(): Promise<void> {
    const { signal, log, tenant } = this.#parts
    const close = (): void => this.#watcher?.close()
    signal.addEventListener("abort", close, { once: true })
    let failures = 0
    while (!signal.aborted) {
      try {
        await this.#round()
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        if (hasCode(error, "Compacted")) this.#startAnew()
        // The reader was too slow for its buffer; the log still contains what it missed.
        else if (!hasCode(error, "SlowConsumer")) {
          failures++
          log.warn({ tenant, ...failureFields(error), failures }, "watching a tenant failed; retrying")
          await pause(systemClock, backoff(failures), signal)
        }
      }
    }
  }

  async #round(): Promise<void> {
    const { opening, signal, controlPlane, tenant } = this.#parts
    if (this.#sleepRevision !== undefined) await this.#untilChanged(controlPlane.store, this.#sleepRevision)
    if (signal.aborted) return
    this.#sleepRevision = undefined
    if (this.#isStale) this.#startAnew()
    this.#isStale = false
    await opening.run(tenant, async () => {
      await this.#list(controlPlane)
      // A new tenant has many objects at once: requests are served in between.
      await nextTurn()
    })
    if (!signal.aborted) await this.#follow(controlPlane)
  }

  async #untilChanged(store: Store, settled: number): Promise<void> {
    const watcher = (this.#watcher = store.watch(everything, { after: settled }))
    try {
      for await (const _ of watcher) return
    } finally {
      watcher.close()
      this.#watcher = undefined
    }
  }

  #startAnew(): void {
    this.#sleepRevision = undefined
    this.#position = undefined
    this.#listed = 0
    this.#from.clear()
    this.#unserved.clear()
  }

  /** Delivers the existing objects to subscriptions that do not have them yet. */
  async #list(controlPlane: ControlPlane): Promise<void> {
    const { subscriptions, tenant } = this.#parts
    const { last } = subscriptions
    const fresh = subscriptions.after(this.#listed)
    const served: Subscription[] = []
    for (const subscription of fresh) {
      const { sequence, signal, handler, resource } = subscription
      if (signal.aborted) continue
      if (sequence <= this.#begun) handler.restarted(tenant)
      if (!controlPlane.resources.serves(resource)) this.#unserved.add(subscription)
      else if (subscription.mentioning?.length !== 0) served.push(subscription)
    }
    this.#begun = Math.max(this.#begun, last)
    const revision = await this.#deliverAll(controlPlane, served)
    if (this.#stopped) return
    this.#listed = last
    if (this.#position === undefined) this.#position = revision
    else for (const subscription of served) this.#from.set(subscription, revision)
    for (const { handler, signal } of fresh) if (!signal.aborted) handler.synced(tenant)
    this.#firstList.resolve()
  }

  /** Returns the revision that was delivered. */
  async #deliverAll(controlPlane: ControlPlane, to: readonly Subscription[]): Promise<number> {
    const { store } = controlPlane
    if (to.length === 0) return store.revision
    const wanted = new Set(to)
    const deliver = (item: KeyValue): Promise<void> | undefined => this.#deliver(controlPlane, item, wanted)
    return scanStore(store, prefixesOf(to), deliver, () => this.#stopped)
  }

  #deliver(controlPlane: ControlPlane, item: KeyValue, wanted: ReadonlySet<Subscription>): Promise<void> | undefined {
    let converting: Promise<void> | undefined
    let made: { registry: Registry; values: ReturnType<Registry["values"]> } | undefined
    for (const subscription of this.#parts.subscriptions.at(storagePrefixIn(item.key))) {
      if (!wanted.has(subscription) || !mentions(subscription, item)) continue
      const registry = controlPlane.resources.registry(subscription.resource)
      if (registry === undefined) continue
      // Followers of the same version share the value and its parsed object.
      if (made?.registry !== registry) made = { registry, values: registry.values([item]) }
      const { values } = made
      const deliver = ([value]: readonly KubeValue[]): void => {
        if (value !== undefined) this.#notify(subscription, "ADDED", value)
      }
      if (values instanceof Promise)
        converting = (converting ?? Promise.resolve()).then(async () => deliver(await values))
      else deliver(values)
    }
    return converting
  }

  /** Runs until the watch is closed, also by new subscriptions. */
  async #follow(controlPlane: ControlPlane): Promise<void> {
    const { subscriptions } = this.#parts
    if (subscriptions.last > this.#listed || this.#isStale) return
    const { store } = controlPlane
    const watcher = (this.#watcher = store.watch(everything, { after: this.#position ?? store.revision }))
    try {
      for await (const events of watcher) {
        this.#isPassing = true
        for (const event of events) {
          const converting = this.#pass(controlPlane, event)
          if (converting !== undefined) await converting
          if (this.#stopped) return
          this.#position = event.current.modRevision
          if (event.current.key.startsWith(definitionsPrefix)) this.#isDefined = true
        }
        if (this.#isDefined && this.#unserved.size > 0) await this.#recheck(controlPlane)
        this.#isDefined = false
        this.#isPassing = false
      }
      this.#position = Math.max(this.#position ?? 0, watcher.revision)
      for (const [subscription, from] of this.#from) if (from <= this.#position) this.#from.delete(subscription)
    } finally {
      this.#isPassing = false
      watcher.close()
      this.#watcher = undefined
    }
  }

  #pass(controlPlane: ControlPlane, event: StoreEvent): Promise<void> | undefined {
    const { current } = event
    let converting: Promise<void> | undefined
    for (const subscription of this.#parts.subscriptions.at(storagePrefixIn(current.key))) {
      if (subscription.sequence > this.#listed || current.modRevision <= (this.#from.get(subscription) ?? 0)) continue
      if (this.#unserved.has(subscription)) {
        // The object follows its definition directly; the upcoming list contains it.
        this.#isDefined = true
        continue
      }
      if (!concerns(subscription, event)) continue
      const made = controlPlane.resources.registry(subscription.resource)?.event(event)
      if (made instanceof Promise) {
        converting = (converting ?? Promise.resolve()).then(async () => {
          const { type, value } = await made
          if (type !== "BOOKMARK") this.#notify(subscription, type, value)
        })
      } else if (made !== undefined && made.type !== "BOOKMARK") this.#notify(subscription, made.type, made.value)
    }
    return converting
  }

  #notify(subscription: Subscription, type: "ADDED" | "MODIFIED" | "DELETED", value: KubeValue): void {
    if (!this.#stopped && !subscription.signal.aborted) subscription.handler.event(this.#parts.tenant, type, value)
  }

  /** Lists for subscriptions whose resource is now served. */
  async #recheck(controlPlane: ControlPlane): Promise<void> {
    await nextTurn() // lets the control plane's own watch of definitions run first
    for (const subscription of this.#unserved) {
      if (!controlPlane.resources.serves(subscription.resource)) continue
      this.#unserved.delete(subscription)
      const revision = await this.#deliverAll(controlPlane, [subscription])
      if (this.#stopped) return
      this.#from.set(subscription, revision)
      subscription.handler.synced(this.#parts.tenant)
    }
  }

  /** After removed() no handler may be called. */
  get #stopped(): boolean {
    return this.#parts.signal.aborted
  }
}
