// Tenants are created and deleted at random while workers end and what moves them fails. When nothing fails any more, each tenant has
// one owner, which every process knows.

import { setImmediate as turn } from "node:timers/promises"
import { expect, onTestFailed, test } from "vitest"
import { chance, createRandom, pick, seeds, type Random } from "../../apimachinery/testing/random.ts"
import { silentLog } from "../../client/log.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import type { TenantRecord } from "../tenancy/tenant-record.ts"
import { homeOf } from "./owners.ts"
import { type Held, routeOf } from "./handovers.ts"
import { Placement } from "./placement.ts"
import { primary, Routes } from "./routes.ts"
import { FakeWorkers, type Troubles } from "./testing/fake-workers.ts"

const names = ["a", "b", "c", "d", "e", "f", "g", "h"]
const places = [1, 2, 3]
const steps = 300
/** More than what a patrol or a call waits for. */
const roundMs = 11_000

let made = 0
function recordOf(name: string): TenantRecord {
  const uid = `${name}-${++made}`
  const tenant = { name, uid } as TenantRecord["tenant"]
  return { tenant, createdAt: "2026-01-01T00:00:00Z", state: "active", issuer: `issuer-of-${uid}` }
}

class World implements AsyncDisposable {
  readonly random: Random
  readonly troubles: Troubles
  readonly clock = new FakeClock()
  readonly routes = new Routes(primary)
  readonly pool: FakeWorkers
  readonly placement: Placement
  readonly #pending = new Set<Promise<void>>()
  readonly #busy = new Set<string>()
  /** Removed, and not released for certain. */
  readonly #left = new Map<string, Held>()
  readonly faults: string[] = []

  constructor(random: Random) {
    this.random = random
    this.troubles = { random, failing: 0.4, inUse: 0.3 }
    this.pool = new FakeWorkers(places.length, () => Array.from(this.placement.all, routeOf), this.troubles)
    this.placement = new Placement({
      pool: this.pool,
      routes: this.routes,
      joined: () => undefined,
      created: () => undefined,
      unsettled: () => undefined,
      isLeaving: (name) => this.#busy.has(name),
      log: silentLog,
      clock: this.clock,
    })
  }

  /** One operation at a time for each name, as in TenantOperations. */
  #run(name: string, work: () => Promise<void>): void {
    this.#busy.add(name)
    this.#track(work().finally(() => this.#busy.delete(name)))
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#pending.delete(tracked))
    this.#pending.add(tracked)
  }

  step(): void {
    const name = pick(this.random, names)
    const { processes } = this.pool
    if (chance(this.random, 0.05) && processes.length > 0) this.#track(this.pool.kill(pick(this.random, processes)))
    else if (chance(this.random, 0.1)) this.clock.advance(roundMs)
    else if (!this.#busy.has(name)) this.#run(name, () => this.#change(name))
  }

  async #change(name: string): Promise<void> {
    const { placement } = this
    const held = placement.get(name)
    // One operation at a time: what is left of the name is removed before it is used again.
    const left = this.#left.get(name)
    if (left !== undefined) await this.#release(left)
    if (this.#left.has(name)) return
    if (held !== undefined) {
      if (chance(this.random, 0.5)) return
      placement.remove(held)
      return this.#release(held)
    }
    const created = placement.add(recordOf(name), true)
    try {
      await placement.make(created)
    } catch {
      placement.remove(created)
      await this.#release(created)
    }
  }

  /** If it fails, it is tried again before the name is used. */
  async #release(held: Held): Promise<void> {
    const { tenant } = held.record
    this.#left.set(tenant.name, held)
    try {
      await this.placement.release(tenant)
      this.#left.delete(tenant.name)
    } catch {
      // It must not be forwarded to any more.
      if (this.routes.get(tenant.name) !== undefined) this.faults.push(`${tenant.name} still has a route`)
    }
  }

  /** From now on nothing fails. Resolves when everything in progress has ended, and all names are used. */
  async calm(): Promise<void> {
    Object.assign(this.troubles, { failing: 0, inUse: 0 })
    await this.#rounds()
    await Promise.all(this.#pending)
    for (const name of names) if (this.placement.get(name) === undefined) await this.#change(name)
    await this.#rounds()
  }

  async #rounds(): Promise<void> {
    for (let round = 0; round < 50; round++) {
      this.clock.advance(roundMs)
      for (let turns = 0; turns < 50; turns++) await turn()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.placement[Symbol.asyncDispose]()
  }
}

test.each(seeds(40))("every tenant finds its way home (seed %i)", async (seed) => {
  onTestFailed(() => console.log(`SEED=${seed}`))
  await using world = new World(createRandom(seed))
  await world.placement.start()
  for (let step = 0; step < steps; step++) {
    world.step()
    await turn()
  }
  await world.calm()
  const { placement, pool, routes } = world
  const held = [...placement.all]
  const shown = (of: Routes) => names.map((name) => of.get(name)).filter((route) => route !== undefined)
  expect(world.faults).toEqual([])
  expect(held).toHaveLength(names.length)
  for (const { record, owner } of held) {
    const { name, uid } = record.tenant
    expect(owner?.place, name).toBe(homeOf(uid, places))
    const owners = pool.processes.filter(({ tenants }) => tenants.get(name)?.tenant.uid === uid)
    expect(
      owners.map(({ worker }) => worker.self),
      name,
    ).toEqual([owner?.self])
  }
  const expected = names.flatMap((name) => held.filter(({ record }) => record.tenant.name === name).map(routeOf))
  for (const of of [routes, ...pool.processes.map((process) => process.routes)]) expect(shown(of)).toEqual(expected)
})
