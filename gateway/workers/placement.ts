// Which worker has which tenant, and how that changes:
//
//   a worker ends ──▶ its tenants have no owner, requests for them wait
//                 ──▶ the next in each tenant's order adopts it (its store's lock went with the process)
//                 ──▶ everybody is told; followers are told that the tenant's stream starts anew
//
// A tenant that lives elsewhere because its home had ended goes back when it sleeps.

import { notFound, serviceUnavailable } from "../../apimachinery/status.ts"
import { pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import type { TenantRecord } from "../tenancy/tenant-record.ts"
import { ChannelClosed } from "./channel.ts"
import { homeOf } from "./owners.ts"
import { ignoreClosed, type Worker, type WorkerPool } from "./pool.ts"
import type { Route, Routes } from "./routes.ts"

export interface PlacementParts {
  pool: WorkerPool
  /** The primary's own. */
  routes: Routes
  /** A worker is there: from now on tenants may be its own. */
  joined(worker: Worker): void
  /** What was told of the tenant ends here: its next owner tells it from the beginning. */
  unsettled(tenant: string): void
  /** Its end has begun: it is not moved. */
  isLeaving(tenant: string): boolean
  log: Log
}

export interface Held {
  record: TenantRecord
  /** Undefined: it is on its way to the next one. */
  owner: Worker | undefined
  /** Being made: whoever makes it finds it an owner. */
  creating: boolean
  /** Ends when it is where it was last sent. */
  moving: Promise<void>
}

const resource = { group: "", resource: "tenants" }
/** Told to a worker in one message. */
const batch = 500
/** Calls wait so long for a tenant's next owner. Beyond: ServiceUnavailable. */
const takeoverMs = 10_000
/** How often it is looked whether tenants that live away from home sleep: then they are brought back. */
const homingMs = 5_000

export class Placement implements AsyncDisposable {
  readonly #parts: PlacementParts
  readonly #held = new Map<string, Held>()
  /** Those that may live elsewhere than at home. */
  readonly #strays = new Set<Held>()
  readonly #moved = new Set<() => void>()
  readonly #ending = new AbortController()
  #homing: Promise<void> = Promise.resolve()

  constructor(parts: PlacementParts) {
    this.#parts = parts
  }

  /** Starts the workers and gives them what there is. Resolves when every tenant has an owner. */
  async start(): Promise<void> {
    let started = false
    await this.#parts.pool.start({
      ready: (worker) => {
        this.#parts.joined(worker)
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

  get all(): Iterable<Held> {
    return this.#held.values()
  }

  get(name: string): Held | undefined {
    return this.#held.get(name)
  }

  add(record: TenantRecord, creating: boolean): Held {
    const held: Held = { record, owner: undefined, creating, moving: Promise.resolve() }
    this.#held.set(record.tenant.name, held)
    return held
  }

  /** It is not answered for any more. Its owner may still have it. */
  remove(name: string): void {
    this.#held.delete(name)
  }

  /** By its home, or by the next one when that ends meanwhile. */
  async make(held: Held): Promise<void> {
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
        held.creating = false
        return await this.#tell([held])
      } catch (error) {
        if (!(error instanceof ChannelClosed)) throw error
        // What it has begun is the next one's: the store is whole at any moment.
        await ended(owner)
      }
    }
  }

  /** Resolves when no process has it open, and none passes requests to it. */
  async takeAway(held: Held): Promise<void> {
    const { pool, routes } = this.#parts
    const { name } = held.record.tenant
    await held.moving
    const { owner } = held
    if (owner !== undefined) {
      try {
        await owner.channel.call("remove", name)
      } catch (error) {
        if (!(error instanceof ChannelClosed)) throw error
        await ended(owner) // and with it the lock
      }
    }
    routes.delete(name)
    await pool.tellAll("route", { set: [], gone: [name] })
  }

  /** Waits for the next one while it moves. */
  async ownerOf(name: string): Promise<Worker> {
    const until = performance.now() + takeoverMs
    for (;;) {
      const held = this.#held.get(name)
      if (held === undefined) throw notFound(resource, name)
      if (held.owner !== undefined) return held.owner
      if (performance.now() >= until) throw serviceUnavailable(`no process serves tenant "${name}" at the moment`)
      await this.#change(until - performance.now())
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await this.#homing
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
    this.#parts.unsettled(held.record.tenant.name)
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

  /** Who sleeps at home or elsewhere is nobody's loss. */
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
        if (owner === undefined || owner === home || this.#parts.isLeaving(record.tenant.name)) continue
        if ((await ignoreClosed(owner.channel.call("release", record.tenant.name))) !== true) continue
        if (held.owner !== owner || !this.#held.has(record.tenant.name)) continue // taken over or deleted meanwhile
        this.#unsettle(held)
        await this.#place([held])
      }
    }
  }
}

export function routeOf({ record, owner }: Held): Route {
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
