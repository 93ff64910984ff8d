// The tenants of this process, indexed by every name by which they are found, and the followers of all tenants: it notifies
// followers and wakes tenants for them. A tenant exists, and is found, from when followers are told of it. It does not know the records on
// disk (tenant-directory.ts).

import { FairPlaces } from "../../apimachinery/fair-places.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import type { Log } from "../../client/log.ts"
import type { Resource } from "../../client/rest.ts"
import { applySettings, hasSettings, type TenantSettings } from "../../client/tenant-settings.ts"
import type {
  Tenant,
  TenantFault,
  TenantSubscriber,
  TenantUse,
  TenantWatchHandler,
  TenantWatchOptions,
  TenantWorker,
} from "../../client/tenants.ts"
import type { Admittance } from "./admittance.ts"
import type { ControlPlane, ControlPlaneLife } from "../control-plane/control-plane.ts"
import type { Preparation } from "../control-plane/prepare.ts"
import { faultOf } from "./faults.ts"
import { Sleep, type SleepLimits } from "./sleep.ts"
import type { OtherGateways } from "../stores/storage.ts"
import { type Subscription, Subscriptions, type TenantValueHandler } from "./subscriptions.ts"
import { TenantEntry, type TenantEntryParts } from "./tenant-entry.ts"
import type { TenantRecord } from "./tenant-record.ts"
import { authorityName } from "../pki/trust-store.ts"

export interface KnownTenantsParts {
  openControlPlane: (record: TenantRecord, life: ControlPlaneLife) => Promise<ControlPlane>
  /** The admittance data of a tenant for the time it sleeps. Default: none, so every caller wakes it. */
  admittance?: (controlPlane: ControlPlane) => Promise<Admittance | undefined>
  /** Other gateways that create, change and delete tenants in this storage. */
  others?: OtherGateways | undefined
  preparation: Preparation
  log: Log
  limits: { tenantReadyMs: number; maxOpening: number } & SleepLimits
}

export class KnownTenants implements Disposable {
  readonly #parts: KnownTenantsParts
  readonly #byName = new Map<string, TenantEntry>()
  readonly #byAuthority = new Map<string, TenantEntry>()
  readonly #byIssuer = new Map<string, TenantEntry>()
  readonly #subscribers = new Set<TenantSubscriber>()
  readonly #subscriptions = new Subscriptions()
  /** Subscriptions for which no tenant has been woken yet. */
  #newSubscriptions: Subscription[] = []
  readonly #workers = new Set<TenantWorker>()
  readonly #ofEntries: TenantEntryParts
  readonly #sleep: Sleep

  constructor(parts: KnownTenantsParts) {
    this.#parts = parts
    const { openControlPlane: open, admittance, preparation, limits, log } = parts
    this.#ofEntries = {
      open,
      admittance: admittance ?? (() => Promise.resolve(undefined)),
      preparation,
      readyMs: limits.tenantReadyMs,
      woke: (woken) => this.#sleep.woke(woken),
      isExpected: (entry) => isHeld(entry) || this.#mayBeWatchedElsewhere(entry),
      slept: (asleep, revision) => this.#slept(asleep, revision),
      subscriptions: this.#subscriptions,
      opening: new FairPlaces({ all: limits.maxOpening }),
      log,
    }
    this.#sleep = new Sleep(parts.limits, {
      isBusy: (tenant) => {
        for (const worker of this.#workers) if (worker.isBusy(tenant)) return true
        return false
      },
      isHeld,
      isExpected: (entry) => this.#mayBeWatchedElsewhere(entry),
    })
  }

  /** Who watches its leases at another gateway is not known, and those who renew them follow tenants here. */
  #mayBeWatchedElsewhere({ record: { tenant } }: TenantEntry): boolean {
    return this.#parts.others !== undefined && !tenant.controllers && !this.#subscriptions.isEmpty
  }

  #slept(entry: TenantEntry, revision: number): void {
    const { name, uid } = entry.record.tenant
    const { at } = entry.events
    if (at !== Infinity && this.#byName.get(name) === entry) this.#sleep.callAt(entry, at)
    // Another gateway wrote to the store while the tenant was falling asleep.
    const { others } = this.#parts
    if (others !== undefined && others.lastChange(uid) > revision) this.callChanged(entry)
  }

  get size(): number {
    return this.#byName.size
  }

  get awake(): number {
    return this.#sleep.awake
  }

  get awakeBytes(): number {
    return this.#sleep.awakeBytes
  }

  /** `uid`: that tenant only, and not the next one of its name. */
  get(name: string, uid?: string): TenantEntry | undefined {
    const entry = this.#byName.get(name)
    return uid === undefined || entry?.record.tenant.uid === uid ? entry : undefined
  }

  byAuthority(commonName: string): TenantEntry | undefined {
    return this.#byAuthority.get(commonName)
  }

  byIssuer(issuer: string): TenantEntry | undefined {
    return this.#byIssuer.get(issuer)
  }

  all(): TenantEntry[] {
    return [...this.#byName.values()]
  }

  /** A tenant that is being created: call announce() or abandon() when that has ended. */
  conceive(record: TenantRecord): TenantEntry {
    return new TenantEntry(record, this.#ofEntries)
  }

  /** Adds a tenant that exists already. */
  join(record: TenantRecord): void {
    this.announce(this.conceive(record))
  }

  /** From now on the tenant has these settings. Its quota is read at each write. */
  change(entry: TenantEntry, settings: TenantSettings): void {
    const { tenant } = entry.record
    if (hasSettings(tenant, settings)) return
    const isSwitched = tenant.controllers !== settings.controllers
    applySettings(tenant, settings)
    this.#parts.log.info({ tenant: tenant.name, settings }, "a tenant's settings were changed")
    for (const subscriber of this.#subscribers) subscriber.changed?.(tenant)
    if (!isSwitched) return
    for (const subscriber of this.#subscribers) subscriber.switched?.(tenant)
    // The controllers have forgotten its objects, or never had them.
    if (tenant.controllers && !this.#subscriptions.isEmpty) entry.deliverAgain()
    // Those who renew its leases have to know its nodes.
    if (isHeld(entry)) this.#sleep.call(entry)
  }

  /** The same, if that tenant is known. */
  adjust({ name, uid }: Pick<Tenant, "name" | "uid">, settings: TenantSettings): void {
    const entry = this.get(name, uid)
    if (entry !== undefined) this.change(entry, settings)
  }

  /** Tenants that cannot be served. Those that could not be opened are tried again, one after the other. */
  faults(): TenantFault[] {
    const { others } = this.#parts
    return this.all().flatMap((entry) => {
      const message = faultOf(entry.failure, others !== undefined)
      if (message === undefined) return []
      if (!entry.isAwake) this.#sleep.call(entry)
      return [{ tenant: entry.record.tenant.name, message }]
    })
  }

  /** From now on the tenant exists. */
  announce(entry: TenantEntry): void {
    const { tenant, issuer } = entry.record
    this.#byName.set(tenant.name, entry)
    this.#byAuthority.set(authorityName(tenant.uid), entry)
    this.#byIssuer.set(issuer, entry)
    for (const subscriber of this.#subscribers) subscriber.added?.(tenant)
    entry.announce()
    if (!entry.isAwake && !this.#subscriptions.isEmpty) this.#sleep.call(entry)
  }

  /** Closes a tenant that nobody was told of. */
  abandon(entry: TenantEntry): Promise<void> {
    const closing = entry.close()
    this.#sleep.forget(entry)
    return closing.finally(() => this.#parts.others?.forget(entry.record.tenant.uid))
  }

  /** From now on the tenant cannot be found here. */
  remove(entry: TenantEntry): Promise<void> {
    const { tenant, issuer } = entry.record
    this.#byName.delete(tenant.name)
    this.#byAuthority.delete(authorityName(tenant.uid))
    this.#byIssuer.delete(issuer)
    const closing = this.abandon(entry) // ends its watches at once, so that nothing follows removed()
    for (const subscriber of this.#subscribers) subscriber.removed?.(tenant)
    for (const { handler } of this.#subscriptions.after(0)) handler.removed(tenant.name)
    return closing
  }

  /**
   * Another gateway has changed the tenant. Its own watches are suspended, and followers of all tenants have its previous state.
   */
  callChanged(entry: TenantEntry): void {
    if (!entry.isAwake && (entry.isWaitedFor || !this.#subscriptions.isEmpty)) this.#sleep.call(entry)
  }

  /** Notifies the subscriber at once of existing tenants. Returns a function that unsubscribes. */
  subscribe(subscriber: TenantSubscriber): () => void {
    this.#subscribers.add(subscriber)
    if (subscriber.added !== undefined) {
      for (const { record } of this.#byName.values()) subscriber.added(record.tenant)
    }
    return () => this.#subscribers.delete(subscriber)
  }

  watch(of: Resource, handler: TenantValueHandler, signal: AbortSignal, options?: TenantWatchOptions): void {
    if (signal.aborted) return
    const subscription = this.#subscriptions.add(of, handler, signal, options?.mentioning)
    signal.addEventListener("abort", () => this.#subscriptions.delete(subscription), { once: true })
    // Delayed to the next turn, so that subscriptions made together are handled together: there may be thousands of tenants.
    if (this.#newSubscriptions.push(subscription) === 1) setImmediate(() => this.#wakeForNewSubscriptions())
  }

  #wakeForNewSubscriptions(): void {
    // Subscriptions that need only deletions need no sleeping tenants, which delete nothing.
    const wakesAll = this.#newSubscriptions.some(({ mentioning }) => mentioning?.length !== 0)
    this.#newSubscriptions = []
    for (const entry of this.#byName.values()) if (entry.isAwake || wakesAll) this.#sleep.call(entry)
  }

  wake(tenant: string, { isUse = true }: TenantUse = {}): void {
    const entry = this.#byName.get(tenant)
    if (isUse) entry?.presence.touch()
    void entry?.introduce(isUse)
  }

  register(worker: TenantWorker): () => void {
    this.#workers.add(worker)
    if (worker.following !== undefined) this.#sleep.awaitFollowers(worker.following)
    return () => this.#workers.delete(worker)
  }

  [Symbol.dispose](): void {
    this.#sleep[Symbol.dispose]()
    this.#subscribers.clear()
  }
}

/**
 * A controller manager of its own takes a node for dead whose lease is not renewed, and the syncer renews those of awake tenants. No other
 * watch keeps a tenant awake (docs/decisions/0007-tenants-sleep.md).
 */
function isHeld({ presence, record: { tenant } }: TenantEntry): boolean {
  return presence.hasLeaseWatches && !tenant.controllers
}

/** Adapts a handler that needs objects instead of stored values. */
export function objectHandler<T extends KubeObject>(handler: TenantWatchHandler<T>): TenantValueHandler {
  return {
    event: (tenant, type, value) => handler.event({ tenant, type, object: value.held() as T }),
    synced: (tenant) => handler.synced(tenant),
    removed: (tenant) => handler.removed(tenant),
    restarted: (tenant) => handler.restarted(tenant),
    asleep: (tenant) => handler.asleep?.(tenant),
  }
}
