// Several gateways share a storage. Their tenants are created, written to and deleted at random, by an operator who asks another gateway
// when one does not answer, while whatever they call fails and they end at any moment. What one of them has acknowledged is there for all.

import { setImmediate as turn } from "node:timers/promises"
import { expect, onTestFailed, test } from "vitest"
import { chance, createRandom, pick, type Random, seeds } from "../../apimachinery/testing/random.ts"
import { createMemoryStore } from "../../storage/memory/store.ts"
import { fakeTenant } from "../../syncer/testing/fake-tenants.ts"
import { type Disk, Life } from "./testing/failing-life.ts"
import type { TenantDirectory } from "./tenant-directory.ts"
import { readRecords } from "./tenant-record.ts"

const names = ["a", "b", "c"]
const gateways = 3
const steps = 60

interface Gateway {
  life: Life
  directory: TenantDirectory
}

/** What the operator knows of a name. */
interface Known {
  /** Undefined: there is none, or nothing of it was acknowledged. */
  uid: string | undefined
  written: number
  isDeleting: boolean
}

class World {
  readonly faults: string[] = []
  readonly all = new Map(
    names.map((name): [string, Known] => [name, { uid: undefined, written: 0, isDeleting: false }]),
  )
  readonly disk: Disk = { records: createMemoryStore(), stores: new Map(), left: new Set() }
  readonly #random: Random
  readonly #gateways: Gateway[] = []
  /** Names of which something is in progress. */
  readonly #pending = new Set<string>()
  #isCalm = false

  constructor(random: Random) {
    this.#random = random
  }

  async start(): Promise<void> {
    for (let at = 0; at < gateways; at++) this.#gateways.push(await this.#launch())
  }

  async #launch(): Promise<Gateway> {
    const life = new Life(this.disk, this.#random, this.faults, true)
    return { life, directory: await life.start() }
  }

  async step(): Promise<void> {
    const idle = names.filter((name) => !this.#pending.has(name))
    const trouble = this.#random(20)
    if (trouble === 0) await this.#restart(this.#random(gateways))
    else if (trouble === 1) pick(this.#random, this.#gateways).life.cutWatches()
    else if (idle.length > 0) this.#begin(pick(this.#random, idle))
    await this.#turns(this.#random(4))
    if (this.#pending.size === 0) await this.check()
  }

  /** Whoever has asked it gets no answer. */
  async #restart(at: number): Promise<void> {
    const before = this.#gateways[at] as Gateway
    before.life.end()
    this.#gateways[at] = await this.#launch()
  }

  #begin(name: string): void {
    this.#pending.add(name)
    this.#act(name)
      .catch(() => undefined) // it is tried again
      .finally(() => this.#pending.delete(name))
  }

  async #act(name: string): Promise<void> {
    const known = this.all.get(name) as Known
    const { uid, isDeleting } = known
    if (isDeleting || (uid !== undefined && chance(this.#random, 0.3))) await this.#delete(name, known)
    else if (uid === undefined && !this.#isCalm && chance(this.#random, 0.2)) await this.#race(name, known)
    else if (uid === undefined) await this.#create(name, known)
    else if (chance(this.#random, 0.4)) await this.#adjust(name, uid)
    else {
      await this.#ask(async (directory) => {
        await directory.lookup.settle?.()
        await directory.byName({ name, uid })
      })
      this.disk.stores.set(uid, ++known.written)
    }
  }

  async #delete(name: string, known: Known): Promise<void> {
    const { uid } = known
    known.isDeleting = true
    await this.#ask((directory) => directory.delete(uid === undefined ? name : { name, uid }))
    Object.assign(known, { uid: undefined, written: 0, isDeleting: false })
  }

  /** At one gateway, or at several that do not answer soon: all of them may have done it, or are at it. */
  async #create(name: string, known: Known): Promise<void> {
    const isImpatient = chance(this.#random, 0.5)
    const asked = isImpatient ? this.#gateways : [pick(this.#random, this.#gateways)]
    const answers = await Promise.all(
      asked.map(async ({ life, directory }) => {
        await this.#turns(this.#random(8))
        const creating = directory.create(fakeTenant(name)).then(
          ({ uid }) => uid,
          () => undefined,
        )
        return Promise.race([creating, life.ended])
      }),
    )
    const acknowledged = new Set(answers.filter((uid) => uid !== undefined))
    if (acknowledged.size > 1) this.faults.push(`${name} is created ${acknowledged.size} times`)
    const [uid] = acknowledged
    if (uid !== undefined) Object.assign(known, { uid, written: this.disk.stores.get(uid) ?? 0 })
  }

  /** At several gateways: which settings are the last ones, the storage decides. */
  async #adjust(name: string, uid: string): Promise<void> {
    const adjust = async (directory: TenantDirectory): Promise<void> => {
      await this.#turns(this.#random(8))
      const quota = { pods: this.#random(1000) }
      const found = await directory.create({ ...fakeTenant(name), quota })
      if (found.uid !== uid) this.faults.push(`${name} is made anew as ${found.uid}`)
    }
    await Promise.allSettled(this.#gateways.map(() => this.#ask(adjust)))
  }

  /** It is deleted at one gateway while another one still creates it: it may be there, or not. */
  async #race(name: string, known: Known): Promise<void> {
    known.isDeleting = true
    const create = async (directory: TenantDirectory): Promise<void> => void (await directory.create(fakeTenant(name)))
    const remove = async (directory: TenantDirectory): Promise<void> => {
      await this.#turns(this.#random(16))
      await directory.delete({ name, owner: fakeTenant(name).virtualCluster })
    }
    await Promise.allSettled([this.#ask(create), this.#ask(remove)])
  }

  async #ask(ask: (directory: TenantDirectory) => Promise<void>): Promise<void> {
    const { life, directory } = pick(this.#random, this.#gateways)
    const isAnswered = await Promise.race([ask(directory).then(() => true), life.ended])
    if (isAnswered === undefined) throw new Error("no answer")
  }

  async #settled({ lookup }: TenantDirectory): Promise<void> {
    for (let isSettled = false; !isSettled;)
      isSettled = await (lookup.settle?.() ?? Promise.resolve()).then(
        () => true,
        () => false,
      )
  }

  /** When nothing is in progress. */
  async check(): Promise<void> {
    const { records } = await readRecords(this.disk.records)
    for (const { life, directory } of this.#gateways) {
      await this.#settled(directory)
      await this.#turns(8)
      for (const [name, { uid, isDeleting }] of this.all) {
        if (uid === undefined || isDeleting) continue
        const recorded = records.find(({ tenant }) => tenant.name === name)
        const present = directory.get(name)
        const found = [present?.uid, life.told.get(name), recorded?.tenant.uid, recorded?.state].join()
        if (found !== [uid, uid, uid, "active"].join()) this.faults.push(`${name} is ${found} instead of ${uid}`)
        const [pods, expectedPods] = [present, recorded?.tenant].map((tenant) => tenant?.quota?.pods)
        if (pods !== expectedPods) this.faults.push(`${name} may have ${pods} pods instead of ${expectedPods}`)
      }
      const active = records.flatMap(({ tenant, state }) => (state === "active" ? tenant : []))
      const [listed, expected] = [directory.list(), active].map((all) =>
        all
          .map(({ uid }) => uid)
          .sort()
          .join(),
      )
      if (listed !== expected) this.faults.push(`${listed} are known instead of ${expected}`)
    }
    for (const [name, { uid, written, isDeleting }] of this.all) {
      const stored = uid === undefined ? 0 : (this.disk.stores.get(uid) ?? 0)
      if (!isDeleting && stored !== written) this.faults.push(`${name} has ${stored} instead of ${written}`)
    }
  }

  /** From now on nothing fails, and nobody interferes. Resolves when there is a tenant of each name, whose deletion has not begun. */
  async calm(): Promise<void> {
    this.#isCalm = true
    for (const { life } of this.#gateways) life.failing = 0
    await this.#settle()
    for (const [name, known] of this.all) {
      for (let attempt = 0; attempt < 10 && (known.uid === undefined || known.isDeleting); attempt++) {
        this.#begin(name)
        await this.#settle()
      }
      if (known.uid === undefined || known.isDeleting) this.faults.push(`${name} cannot be created`)
    }
  }

  async #settle(): Promise<void> {
    while (this.#pending.size > 0) await turn()
  }

  async #turns(count: number): Promise<void> {
    for (let left = count; left > 0; left--) await turn()
  }
}

test.each(seeds(200))("what one gateway has acknowledged is there for all (seed %i)", async (seed) => {
  onTestFailed(() => console.log(`SEED=${seed}`))
  const world = new World(createRandom(seed))
  await world.start()
  for (let step = 0; step < steps && world.faults.length === 0; step++) await world.step()
  await world.calm()
  await world.check()
  expect(world.faults).toEqual([])
  const { stores, left } = world.disk
  const uids = [...world.all.values()].map(({ uid }) => uid)
  expect([...stores.keys()].filter((uid) => !uids.includes(uid) && !left.has(uid))).toEqual([])
})
