// All tenants, as the primary knows them: it has their records, and says which worker has which. What is done in a tenant is
// done by its owner; this passes it on, and lets those who follow all tenants see one stream whoever has them.
//
//   a worker ends ──▶ its tenants have no owner, requests for them wait
//                 ──▶ the next in each tenant's order adopts it (its store's lock went with the process)
//                 ──▶ everybody is told; followers are told that the tenant's stream starts anew

import { alreadyExists, notFound, serviceUnavailable } from "../../apimachinery/status.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import { pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import type {
  Tenant,
  TenantAddress,
  TenantAdmin,
  TenantWatchHandler,
  TenantWatchOptions,
} from "../../client/tenants.ts"
import type { Store } from "../../storage/types.ts"
import type { TenantBytesHandler } from "../admin/surface.ts"
import { createLazyClient } from "../tenancy/lazy-client.ts"
import { Presence } from "../tenancy/presence.ts"
import { checkTenantName, newRecord } from "../tenancy/tenant-directory.ts"
import { createRecord, readRecords, replaceRecord, type TenantRecord } from "../tenancy/tenant-record.ts"
import { ChannelClosed } from "./channel.ts"
import { homeOf } from "./owners.ts"
import { ignoreClosed, type Worker, type WorkerPool } from "./pool.ts"
import type { Route, Routes } from "./routes.ts"

export interface SpreadTenantsParts {
  /** The gateway's own, not owned. */
  store: Store
  pool: WorkerPool
  /** The primary's own. */
  routes: Routes
  /** Removes what a tenant has on disk; no process has it open. */
  removeStore: (uid: string) => Promise<void>
  issuerOf: (name: string) => string
  addressOf: (name: string) => TenantAddress
  log: Log
}

interface Held {
  record: TenantRecord
  /** Undefined: it is on its way to the next one. */
  owner: Worker | undefined
  /** Being made: whoever makes it finds it an owner. */
  creating: boolean
  /** Ends when it is where it was last sent. */
  moving: Promise<void>
}

interface Watch {
  resource: Resource
  handler: TenantWatchHandler<KubeObject>
  signal: AbortSignal
  options: TenantWatchOptions | undefined
}

interface Subscriber {
  added(tenant: Tenant): void
  removed(tenant: Tenant): void
}

const resource = { group: "", resource: "tenants" }
/** Told to a worker in one message. */
const batch = 500
/** Calls wait so long for a tenant's next owner. Beyond: ServiceUnavailable. */
const takeoverMs = 10_000
/** How often it is looked whether tenants that live away from home sleep: then they are brought back. */
const homingMs = 5_000

export class SpreadTenants implements TenantAdmin, AsyncDisposable {
  readonly #parts: SpreadTenantsParts
  readonly #held = new Map<string, Held>()
  readonly #creating = new Map<string, Promise<Tenant>>()
  readonly #deleting = new Map<string, Promise<void>>()
  readonly #subscribers = new Set<Subscriber>()
  readonly #watches = new Set<Watch>()
  /** Those that may live elsewhere than at home. */
  readonly #strays = new Set<Held>()
  readonly #moved = new Set<() => void>()
  readonly #ending = new AbortController()
  #homing: Promise<void> = Promise.resolve()

  /** Finishes the deletions a stop has interrupted. Nothing is opened. */
  static async open(parts: SpreadTenantsParts): Promise<SpreadTenants> {
    const tenants = new SpreadTenants(parts)
    const { records } = await readRecords(parts.store)
    for (const record of records) {
      if (record.state === "active") tenants.#add(record, false)
      else await tenants.#removeFromDisk(record)
    }
    parts.routes.set(tenants.allRoutes())
    return tenants
  }

  private constructor(parts: SpreadTenantsParts) {
    this.#parts = parts
  }

  /** Starts the workers and gives them what there is. Resolves when every tenant has an owner. */
  async start(): Promise<void> {
    const { pool } = this.#parts
    let started = false
    await pool.start({
      ready: (worker) => {
        for (const watch of this.#watches) this.#attach(watch, worker)
        // At the start all are waited for: nothing has to move then.
        if (!started) return
        void this.#place(this.#homeless())
        for (const held of this.#held.values()) if (this.#homeOf(held) !== held.owner) this.#strays.add(held)
      },
      ended: (worker) => this.#takeOver(worker),
    })
    started = true
    await this.#place(this.#homeless())
    this.#homing = this.#bringHome()
  }

  allRoutes(): Route[] {
    return [...this.#held.values()].map(routeOf)
  }

  get(name: string): Tenant | undefined {
    return this.#held.get(name)?.record.tenant
  }

  list(): readonly Tenant[] {
    return [...this.#held.values()].map(({ record }) => record.tenant)
  }

  async create(request: Omit<Tenant, "uid">): Promise<Tenant> {
    const { name } = request
    checkTenantName(name)
    await this.#deleting.get(name)
    await this.#creating.get(name)?.catch(() => undefined) // told to whoever began it
    const existing = this.get(name)
    if (existing !== undefined) {
      if (existing.virtualCluster.uid === request.virtualCluster.uid) return existing
      throw alreadyExists(resource, name)
    }
    const creating = this.#creating.get(name) ?? this.#create(request)
    this.#creating.set(name, creating)
    try {
      const tenant = await creating
      if (tenant.virtualCluster.uid !== request.virtualCluster.uid) throw alreadyExists(resource, name)
      return tenant
    } finally {
      if (this.#creating.get(name) === creating) this.#creating.delete(name)
    }
  }

  async #create(request: Omit<Tenant, "uid">): Promise<Tenant> {
    const { store, issuerOf } = this.#parts
    const record = newRecord(request, issuerOf(request.name))
    const present = await createRecord(store, record)
    if (present !== undefined) throw alreadyExists(resource, request.name)
    const held = this.#add(record, true)
    try {
      await this.#make(held)
    } catch (error) {
      await this.#forget(held)
      throw error
    }
    held.creating = false
    await this.#tell([held])
    for (const subscriber of this.#subscribers) subscriber.added(record.tenant)
    return record.tenant
  }

  /** By its home, or by the next one when that ends meanwhile. */
  async #make(held: Held): Promise<void> {
    for (;;) {
      const owner = this.#homeOf(held)
      held.owner = owner
      if (owner === undefined) {
        await this.#change(takeoverMs)
        if (this.#homeOf(held) === undefined) throw serviceUnavailable("there is no worker at the moment")
        continue
      }
      try {
        return await owner.channel.call("create", held.record)
      } catch (error) {
        if (!(error instanceof ChannelClosed)) throw error
        // What it has begun is the next one's: the store is whole at any moment.
        await ended(owner)
      }
    }
  }

  delete(name: string): Promise<void> {
    const running = this.#deleting.get(name)
    if (running !== undefined) return running
    const deleting = this.#delete(name).finally(() => this.#deleting.delete(name))
    this.#deleting.set(name, deleting)
    return deleting
  }

  async #delete(name: string): Promise<void> {
    await this.#creating.get(name)?.catch(() => undefined) // told to whoever began it
    const held = this.#held.get(name)
    if (held === undefined) return
    await this.#forget(held)
    this.#parts.log.info({ tenant: name }, "tenant deleted")
  }

  /** In this order a stop at any point leaves either the whole tenant or a record that says what is left to remove. */
  async #forget(held: Held): Promise<void> {
    const { pool, routes } = this.#parts
    const record: TenantRecord = { ...held.record, state: "deleting" }
    const { tenant } = record
    await replaceRecord(this.#parts.store, tenant, record)
    this.#held.delete(tenant.name)
    for (const subscriber of this.#subscribers) subscriber.removed(tenant)
    for (const { handler } of this.#watches) handler.removed(tenant.name)
    await held.moving
    const { owner } = held
    if (owner !== undefined) {
      try {
        await owner.channel.call("remove", tenant.name)
      } catch (error) {
        if (!(error instanceof ChannelClosed)) throw error
        await ended(owner) // and with it the lock
      }
    }
    routes.delete(tenant.name)
    await pool.tellAll("route", { set: [], gone: [tenant.name] })
    await this.#removeFromDisk(record)
  }

  async #removeFromDisk({ tenant }: TenantRecord): Promise<void> {
    await this.#parts.removeStore(tenant.uid)
    await replaceRecord(this.#parts.store, tenant)
  }

  address(name: string): Promise<TenantAddress> {
    if (this.get(name) === undefined) return Promise.reject(notFound(resource, name))
    return Promise.resolve(this.#parts.addressOf(name))
  }

  async kubeconfig(name: string): Promise<string> {
    return (await this.#ownerOf(name)).tenants.kubeconfig(name)
  }

  client(tenant: string): KubeClient {
    const presence = new Presence()
    return createLazyClient(async () => ({ client: (await this.#ownerOf(tenant)).tenants.client(tenant), presence }))
  }

  wake(tenant: string): void {
    this.#held.get(tenant)?.owner?.tenants.wake(tenant)
  }

  /** Owners do not know what this process still has to do: a tenant that falls asleep meanwhile is woken again. */
  register(): () => void {
    return () => undefined
  }

  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber)
    for (const { record, creating } of this.#held.values()) if (!creating) subscriber.added(record.tenant)
    return () => this.#subscribers.delete(subscriber)
  }

  watch<T extends KubeObject>(
    of: Resource,
    handler: TenantWatchHandler<T>,
    signal: AbortSignal,
    options?: TenantWatchOptions,
  ): void {
    if (signal.aborted) return
    const watch: Watch = { resource: of, handler: handler as TenantWatchHandler<KubeObject>, signal, options }
    this.#watches.add(watch)
    signal.addEventListener("abort", () => this.#watches.delete(watch), { once: true })
    for (const worker of this.#parts.pool.workers) this.#attach(watch, worker)
  }

  /** The same, for those who pass text on. */
  watchValues(of: Resource, handler: TenantBytesHandler, signal: AbortSignal): void {
    this.watch(
      of,
      {
        event: ({ tenant, type, object }) =>
          handler.event(tenant, type, { bytes: () => Buffer.from(JSON.stringify(object)) }),
        synced: (tenant) => handler.synced(tenant),
        removed: (tenant) => handler.removed(tenant),
        restarted: (tenant) => handler.restarted(tenant),
        asleep: (tenant) => handler.asleep?.(tenant),
      },
      signal,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    this.#subscribers.clear()
    await this.#homing
    await Promise.allSettled([...this.#creating.values(), ...this.#deleting.values()])
  }

  /** What a worker says of tenants counts as long as they are its own. Whether they are gone is said here. */
  #attach({ resource: of, handler, signal, options }: Watch, worker: Worker): void {
    const isIts = (tenant: string): boolean => this.#held.get(tenant)?.owner === worker
    worker.tenants.watch(
      of,
      {
        event(event) {
          if (isIts(event.tenant)) handler.event(event)
        },
        synced(tenant) {
          if (isIts(tenant)) handler.synced(tenant)
        },
        restarted(tenant) {
          if (isIts(tenant)) handler.restarted(tenant)
        },
        asleep(tenant) {
          if (isIts(tenant)) handler.asleep?.(tenant)
        },
        removed: () => undefined,
      },
      AbortSignal.any([signal, worker.ended]),
      options,
    )
  }

  #add(record: TenantRecord, creating: boolean): Held {
    const held: Held = { record, owner: undefined, creating, moving: Promise.resolve() }
    this.#held.set(record.tenant.name, held)
    return held
  }

  #homeOf({ record }: Held): Worker | undefined {
    const byPlace = new Map([...this.#parts.pool.workers].map((worker) => [worker.place, worker]))
    const place = homeOf(record.tenant.uid, byPlace.keys())
    return place === undefined ? undefined : byPlace.get(place)
  }

  #homeless(): Held[] {
    return [...this.#held.values()].filter(({ owner, creating }) => owner === undefined && !creating)
  }

  #takeOver(worker: Worker): void {
    const left = [...this.#held.values()].filter(({ owner, creating }) => owner === worker && !creating)
    for (const held of left) this.#unsettle(held)
    void this.#place(left)
    this.#changed()
  }

  #unsettle(held: Held): void {
    held.owner = undefined
    for (const { handler } of this.#watches) handler.restarted(held.record.tenant.name)
  }

  /** Gives each to its home. Those whose home ends meanwhile are taken over in turn. Never rejects. */
  async #place(all: readonly Held[]): Promise<void> {
    const byHome = new Map<Worker, Held[]>()
    for (const held of all) {
      const home = this.#homeOf(held)
      if (home === undefined) continue
      held.owner = home
      const beside = byHome.get(home)
      if (beside === undefined) byHome.set(home, [held])
      else beside.push(held)
    }
    const moving = this.#adopt(byHome, all)
    for (const held of all) held.moving = moving
    await moving
  }

  async #adopt(byHome: ReadonlyMap<Worker, Held[]>, all: readonly Held[]): Promise<void> {
    const { log } = this.#parts
    try {
      const adopting = [...byHome].flatMap(([home, theirs]) =>
        batches(theirs).map((some) =>
          ignoreClosed(
            home.channel.call(
              "adopt",
              some.map(({ record }) => record),
            ),
          ),
        ),
      )
      await Promise.all(adopting)
      await this.#tell(all)
    } catch (error) {
      log.error({ err: error }, "tenants could not be taken over")
    }
    this.#changed()
  }

  /** Everybody, of where they are. */
  async #tell(all: readonly Held[]): Promise<void> {
    const { routes, pool } = this.#parts
    for (const some of batches(all)) {
      const set = some.filter(({ record }) => this.#held.has(record.tenant.name)).map(routeOf)
      routes.set(set)
      await pool.tellAll("route", { set, gone: [] })
    }
  }

  async #ownerOf(name: string): Promise<Worker> {
    const until = performance.now() + takeoverMs
    for (;;) {
      const held = this.#held.get(name)
      if (held === undefined) throw notFound(resource, name)
      if (held.owner !== undefined) return held.owner
      if (performance.now() >= until) throw serviceUnavailable(`no process serves tenant "${name}" at the moment`)
      await this.#change(until - performance.now())
    }
  }

  /** Resolves when a tenant or a worker has come or gone, or after `ms`. */
  async #change(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const done = new AbortController()
    this.#moved.add(resolve)
    await Promise.race([promise, pause(systemClock, ms, AbortSignal.any([done.signal, this.#ending.signal]))])
    done.abort()
    this.#moved.delete(resolve)
  }

  #changed(): void {
    for (const resolve of this.#moved) resolve()
  }

  /** A tenant that lives elsewhere because its home had ended goes back when it sleeps: then it is nobody's loss. */
  async #bringHome(): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      await pause(systemClock, homingMs, signal)
      for (const held of this.#strays) {
        const home = this.#homeOf(held)
        const { owner, creating, record } = held
        if (signal.aborted) return
        if (owner === home || !this.#held.has(record.tenant.name)) this.#strays.delete(held)
        else if (creating || owner === undefined || home === undefined) continue
        if (owner === undefined || owner === home || this.#deleting.has(record.tenant.name)) continue
        if ((await ignoreClosed(owner.channel.call("release", record.tenant.name))) !== true) continue
        if (held.owner !== owner || !this.#held.has(record.tenant.name)) continue // taken over or deleted meanwhile
        this.#unsettle(held)
        await this.#place([held])
      }
    }
  }
}

function routeOf({ record, owner }: Held): Route {
  const { tenant, issuer } = record
  const { name, uid } = tenant
  return { name, uid, issuer, ...(owner === undefined ? {} : { owner: owner.self }) }
}

function batches<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / batch) }, (_, index) =>
    all.slice(index * batch, (index + 1) * batch),
  )
}

function ended({ ended: signal }: Worker): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
}
