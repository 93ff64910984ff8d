// The assignment of tenants to workers, and its changes:
//
//   a worker ends ──▶ its tenants have no owner, requests for them wait
//                 ──▶ the next in each tenant's order adopts it (its store's lock went with the process)
//                 ──▶ all processes are notified; followers see the tenant's stream start again
//
// A tenant that is not at home because its home had ended returns there when it sleeps.

import { serviceUnavailable } from "../../apimachinery/status.ts"
import { aborted, pause, systemClock, type Clock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import type { Tenant, TenantIdentity } from "../../client/tenants.ts"
import { noSuchTenant } from "../tenancy/tenant-errors.ts"
import type { TenantRecord } from "../tenancy/tenant-record.ts"
import { ChannelClosed } from "./channel.ts"
import { homeOf } from "./owners.ts"
import { Handovers, type Held } from "./handovers.ts"
import { ignoreClosed, type Worker, type WorkerPool } from "./pool.ts"
import type { Routes } from "./routes.ts"

interface PlacementParts {
  pool: Pick<WorkerPool, "workers" | "start" | "broadcast">
  /** The primary's own routes. */
  routes: Routes
  /** A worker is ready: from now on it may own tenants. */
  joined(worker: Worker): void
  /** A new tenant exists. Called synchronously with that. */
  created(record: TenantRecord): void
  /** Events of the tenant end here; its next owner delivers its state from the beginning. */
  unsettled(tenant: string): void
  /** The tenant is being deleted and must not be moved. */
  isLeaving(tenant: string): boolean
  log: Log
  clock?: Clock
}

/** How long calls wait for the next owner of a tenant. Beyond: ServiceUnavailable. */
const takeoverMs = 10_000
/** How often tenants that are not at home move there if they sleep, and tenants that could not be taken over are tried again. */
const patrolMs = 5_000

export class Placement implements AsyncDisposable {
  readonly #parts: PlacementParts
  readonly #clock: Clock
  readonly #handovers: Handovers
  readonly #held = new Map<string, Held>()
  /** Tenants that are served no longer, and that an owner may still have open, by uid. */
  readonly #leaving = new Map<string, Held>()
  /** Tenants that may not be at home, or could not be taken over. */
  readonly #misplaced = new Set<Held>()
  readonly #moved = new Set<() => void>()
  readonly #ending = new AbortController()
  #patrolling: Promise<void> = Promise.resolve()

  constructor(parts: PlacementParts) {
    this.#parts = parts
    this.#clock = parts.clock ?? systemClock
    const { pool, routes, log } = parts
    const isHeld = (held: Held): boolean => this.#isHeld(held)
    this.#handovers = new Handovers({ pool, routes, isHeld, failed: (held) => this.#failed(held), log })
  }

  /** Starts the workers and distributes the existing tenants. Resolves when every tenant has an owner. */
  async start(): Promise<void> {
    let started = false
    await this.#parts.pool.start({
      ready: (worker) => {
        this.#parts.joined(worker)
        // During the start all workers are awaited, so that no tenant has to move then.
        if (!started) return
        void this.#place(this.#unplaced())
        for (const held of this.#held.values()) if (this.#homeOf(held) !== held.owner) this.#misplaced.add(held)
      },
      ended: (worker) => this.#takeOver(worker),
    })
    started = true
    await this.#place(this.#unplaced())
    this.#patrolling = this.#patrol()
  }

  /** Including those that are being created. */
  get all(): Iterable<Held> {
    return this.#held.values()
  }

  /** The tenants that exist. */
  existing(): Held[] {
    return [...this.#held.values()].filter(({ creating }) => !creating)
  }

  get size(): number {
    return this.#held.size
  }

  /** Only of a tenant that exists. */
  get(name: string): Held | undefined {
    const held = this.#held.get(name)
    return held?.creating === false ? held : undefined
  }

  /** Waits for its creation if it is being created. Undefined: it does not exist. */
  async recordOf({ name, uid }: TenantIdentity): Promise<TenantRecord | undefined> {
    const held = this.#held.get(name)
    if (held?.creating === true) await held.moving
    return held?.creating === false && held.record.tenant.uid === uid ? held.record : undefined
  }

  isOwner(worker: Worker, name: string): boolean {
    return this.#held.get(name)?.owner === worker
  }

  add(record: TenantRecord, creating: boolean): Held {
    const held: Held = { record, owner: undefined, creating, moving: Promise.resolve() }
    this.#held.set(record.tenant.name, held)
    return held
  }

  /** Requests for it are no longer served. Its owner may still have it open until release(). */
  remove(held: Held): void {
    const { name, uid } = held.record.tenant
    this.#held.delete(name)
    this.#leaving.set(uid, held)
  }

  /** Creates it at its home, or at the next one if that ends meanwhile. From then on it exists. */
  make(held: Held): Promise<void> {
    const making = this.#make(held)
    held.moving = making.catch(() => undefined) // reported to who creates it
    return making
  }

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
        await owner.channel.call("create", held.record)
        await this.#handovers.publish([held])
      } catch (error) {
        if (!(error instanceof ChannelClosed)) throw error
        await aborted(owner.ended)
      }
      // Otherwise the next owner continues the creation: the store is consistent at any moment.
      if (!owner.ended.aborted) break
    }
    held.creating = false
    this.#parts.created(held.record)
  }

  /** Its record has changed: tells the owner, if it is not just being given the new record. */
  async changed(held: Held): Promise<void> {
    await held.moving
    const { owner, record } = held
    // The next owner adopts it with its current record.
    if (owner !== undefined) await ignoreClosed(owner.channel.call("adjust", record.tenant))
  }

  /** Resolves when no process has the removed tenant open or forwards requests to it. After a failure its owner is asked again. */
  async release({ name, uid }: Pick<Tenant, "name" | "uid">): Promise<void> {
    const { pool, routes } = this.#parts
    const held = this.#leaving.get(uid)
    if (held === undefined) return
    await held.moving
    try {
      await this.#close(held)
      this.#leaving.delete(uid)
    } finally {
      routes.delete(name)
      await pool.broadcast("route", { set: [], gone: [name] })
    }
  }

  /** Resolves when its owner has it open no longer. */
  async #close({ owner, record }: Held): Promise<void> {
    if (owner === undefined) return
    try {
      await owner.channel.call("remove", record.tenant.name)
    } catch (error) {
      if (!(error instanceof ChannelClosed)) throw error
      await aborted(owner.ended) // which releases the lock
    }
  }

  /** Waits for the next owner while the tenant moves. */
  async ownerOf(name: string): Promise<Worker> {
    const until = this.#clock.elapsed() + takeoverMs
    for (;;) {
      const held = this.get(name)
      if (held === undefined) throw noSuchTenant(name)
      if (held.owner !== undefined) return held.owner
      if (this.#clock.elapsed() >= until) throw serviceUnavailable(`no process serves tenant "${name}" at the moment`)
      await this.#change(until - this.#clock.elapsed())
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await this.#patrolling
  }

  /** There may be another tenant of its name by now. */
  #isHeld(held: Held): boolean {
    return this.#held.get(held.record.tenant.name) === held
  }

  /** The next patrol tries it again. */
  #failed(held: Held): void {
    held.owner = undefined
    this.#misplaced.add(held)
  }

  #homeOf({ record }: Held): Worker | undefined {
    const byPlace = new Map([...this.#parts.pool.workers].map((worker) => [worker.place, worker]))
    const place = homeOf(record.tenant.uid, byPlace.keys())
    return place === undefined ? undefined : byPlace.get(place)
  }

  #unplaced(): Held[] {
    return this.existing().filter(({ owner }) => owner === undefined)
  }

  #takeOver(worker: Worker): void {
    const left = this.existing().filter(({ owner }) => owner === worker)
    for (const held of left) this.#unsettle(held)
    void this.#place(left)
    this.#changed()
  }

  #unsettle(held: Held): void {
    held.owner = undefined
    this.#parts.unsettled(held.record.tenant.name)
  }

  /** Assigns each tenant to its home. If a home ends meanwhile, its tenants are taken over again. Never rejects. */
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
    const moving = this.#handovers.adopt(byHome).then(() => this.#changed())
    for (const held of all) held.moving = moving
    await moving
  }

  /** Resolves when a tenant or a worker was added or removed, or after `ms`. */
  async #change(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const done = new AbortController()
    this.#moved.add(resolve)
    await Promise.race([promise, pause(this.#clock, ms, AbortSignal.any([done.signal, this.#ending.signal]))])
    done.abort()
    this.#moved.delete(resolve)
  }

  #changed(): void {
    for (const resolve of this.#moved) resolve()
  }

  /** Moves tenants home, and places those that could not be taken over. */
  async #patrol(): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      await pause(this.#clock, patrolMs, signal)
      for (const held of this.#misplaced) {
        const { owner, creating } = held
        const home = this.#homeOf(held)
        if (signal.aborted) return
        if (owner === home || !this.#isHeld(held)) this.#misplaced.delete(held)
        else if (creating || home === undefined) continue
        else if (owner === undefined) await this.#place([held])
        else await this.#return(held, owner)
      }
    }
  }

  /** Moving a sleeping tenant affects nobody. */
  async #return(held: Held, owner: Worker): Promise<void> {
    const { name } = held.record.tenant
    await held.moving // its owner would not know it yet
    if (held.owner !== owner || this.#parts.isLeaving(name)) return
    try {
      if ((await ignoreClosed(owner.channel.call("release", name))) !== true) return
    } catch (error) {
      return this.#parts.log.error({ err: error, tenant: name }, "a tenant could not be moved; retrying")
    }
    if (held.owner !== owner || !this.#isHeld(held)) return // taken over or deleted meanwhile
    this.#unsettle(held)
    await this.#place([held])
  }
}
