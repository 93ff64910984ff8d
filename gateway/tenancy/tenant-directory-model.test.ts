// Tenants are created, written to and deleted at random, while whatever the directory calls fails, before or after it has had its effect,
// and while its process ends at any moment. What was acknowledged is there, and followers know the tenants that exist.

import { setImmediate as turn } from "node:timers/promises"
import { expect, onTestFailed, test } from "vitest"
import { chance, createRandom, pick, type Random, seeds } from "../../apimachinery/testing/random.ts"
import { createMemoryStore } from "../../storage/memory/store.ts"
import { fakeTenant } from "../../syncer/testing/fake-tenants.ts"
import { type Disk, Life } from "./testing/failing-life.ts"
import type { TenantDirectory } from "./tenant-directory.ts"
import { readRecords } from "./tenant-record.ts"

const names = ["a", "b", "c"]
/** The VirtualClusters that request tenants, each by every name. */
const owners = ["x", "y"].map((uid) => ({ namespace: "default", name: uid, uid }))
const steps = 60
/** What the operator knows of a name. */
interface Known {
  /** Undefined: there is none, or nothing of it was acknowledged. */
  uid: string | undefined
  written: number
  isDeleting: boolean
  /** Its deletion was acknowledged, and no other was requested since. */
  isGone: boolean
}

const nothing: Known = { uid: undefined, written: 0, isDeleting: false, isGone: true }

class World {
  readonly faults: string[] = []
  readonly all = new Map(names.map((name) => [name, { ...nothing }]))
  readonly disk: Disk = { records: createMemoryStore(), stores: new Map(), left: new Set() }
  readonly #random: Random
  #life: Life
  #starting: Promise<TenantDirectory>
  /** Names of which something is in progress in the present life. */
  #pending = new Set<string>()

  constructor(random: Random) {
    this.#random = random
    this.#life = new Life(this.disk, random, this.faults)
    this.#starting = this.#life.start()
  }

  async step(): Promise<void> {
    const idle = names.filter((name) => !this.#pending.has(name))
    if (chance(this.#random, 0.05)) await this.#restart()
    else if (idle.length > 0) await this.#begin(pick(this.#random, idle))
    for (let turns = this.#random(4); turns > 0; turns--) await turn()
    if (this.#pending.size === 0) await this.check()
  }

  async #restart(): Promise<void> {
    this.#life.end()
    this.#pending = new Set()
    this.#life = new Life(this.disk, this.#random, this.faults)
    this.#starting = this.#life.start()
    await this.#starting
  }

  async #begin(name: string): Promise<void> {
    const [directory, pending] = [await this.#starting, this.#pending]
    pending.add(name)
    this.#act(name, directory)
      .catch(() => undefined) // it is tried again
      .finally(() => pending.delete(name))
  }

  async #act(name: string, directory: TenantDirectory): Promise<void> {
    const known = this.all.get(name) as Known
    const { uid, isDeleting, isGone } = known
    const isDeletion = isDeleting || (chance(this.#random, 0.3) && !isGone)
    if (isDeletion) {
      known.isDeleting = true
      if (uid !== undefined) await directory.delete({ name, uid })
      else for (const owner of owners) await directory.delete({ name, owner })
      Object.assign(known, nothing)
    } else if (uid === undefined) {
      known.isGone = false
      const virtualCluster = pick(this.#random, owners)
      const tenant = await directory.create(fakeTenant(name, { virtualCluster }))
      if (tenant.virtualCluster.uid !== virtualCluster.uid) this.faults.push(`${name} is given to another owner`)
      Object.assign(known, { uid: tenant.uid, written: this.disk.stores.get(tenant.uid) ?? 0 })
    } else {
      await directory.byName({ name, uid })
      this.disk.stores.set(uid, ++known.written)
    }
  }

  /** When nothing is in progress. */
  async check(): Promise<void> {
    const directory = await this.#starting
    const { records } = await readRecords(this.disk.records)
    for (const [name, { uid, written, isDeleting, isGone }] of this.all) {
      const recorded = records.find(({ tenant }) => tenant.name === name)
      if (isGone && recorded !== undefined) this.faults.push(`${name} was deleted and is recorded`)
      if (uid === undefined || isDeleting) continue
      const found = [directory.get(name)?.uid, this.#life.told.get(name), recorded?.tenant.uid, recorded?.state]
      const expected = [uid, uid, uid, "active"]
      if (found.join() !== expected.join()) this.faults.push(`${name} is ${found.join()} instead of ${uid}`)
      const stored = this.disk.stores.get(uid) ?? 0
      if (stored !== written) this.faults.push(`${name} has ${stored} instead of ${written}`)
    }
  }

  /** From now on nothing fails. Resolves when there is a tenant of each name, whose deletion has not begun. */
  async calm(): Promise<void> {
    this.#life.failing = 0
    await this.#settle()
    for (const [name, known] of this.all) {
      while (known.uid === undefined || known.isDeleting) {
        await this.#begin(name)
        await this.#settle()
      }
    }
  }

  async #settle(): Promise<void> {
    while (this.#pending.size > 0) await turn()
  }
}

test.each(seeds(200))("what was acknowledged is there (seed %i)", async (seed) => {
  onTestFailed(() => console.log(`SEED=${seed}`))
  const world = new World(createRandom(seed))
  for (let step = 0; step < steps && world.faults.length === 0; step++) await world.step()
  await world.calm()
  await world.check()
  expect(world.faults).toEqual([])
  const uids = [...world.all.values()].map(({ uid }) => uid)
  expect([...world.disk.stores.keys()].filter((uid) => !uids.includes(uid))).toEqual([])
})
