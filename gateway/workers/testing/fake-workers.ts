// Workers without processes: real channels over pipes in memory, which deliver in order but late, and tenants that can fail to move.
// They end without a word, as killed processes do, and the pool replaces them.

import { EventEmitter } from "node:events"
import { setImmediate as turn } from "node:timers/promises"
import { serviceUnavailable } from "../../../apimachinery/status.ts"
import { chance, type Random } from "../../../apimachinery/testing/random.ts"
import { silentLog } from "../../../client/log.ts"
import type { TenantRecord } from "../../tenancy/tenant-record.ts"
import { Channel, type Handlers, type Peer } from "../channel.ts"
import type { PrimaryCalls, WorkerCalls } from "../messages.ts"
import { ignoreClosed, type Worker, type WorkerPool } from "../pool.ts"
import { Residents } from "../residents.ts"
import { type Route, Routes } from "../routes.ts"

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await turn()
}

/** One end of a pipe. */
class PipeEnd extends EventEmitter implements Peer {
  other: PipeEnd | undefined
  #delivered: Promise<void> = Promise.resolve()
  readonly #random: Random

  constructor(random: Random) {
    super()
    this.#random = random
  }

  send(message: object): boolean {
    const { other } = this
    const delay = this.#random(4)
    this.#delivered = this.#delivered.then(async () => {
      await turns(delay)
      if (this.other !== undefined) other?.emit("message", structuredClone(message))
    })
    return true
  }

  cut(): void {
    this.other = undefined
    this.emit("disconnect")
  }
}

export interface Troubles {
  random: Random
  /** Of every attempt to move a tenant. */
  failing: number
  /** Of every request to give a tenant away: it is in use. */
  inUse: number
}

/** What a worker's process would have. */
class FakeProcess {
  readonly worker: Worker
  readonly routes: Routes
  /** Records of the tenants that it owns, by name. */
  readonly tenants = new Map<string, TenantRecord>()
  readonly #end = new AbortController()
  readonly #ends: readonly [PipeEnd, PipeEnd]
  readonly #troubles: Troubles

  constructor(self: number, place: number, troubles: Troubles) {
    this.#troubles = troubles
    this.routes = new Routes(self)
    const [here, there] = [new PipeEnd(troubles.random), new PipeEnd(troubles.random)]
    this.#ends = [here, there]
    here.other = there
    there.other = here
    const channel = new Channel<WorkerCalls, PrimaryCalls>(here, {
      agentEndpoint: () => undefined,
      stored: () => false,
    })
    new Channel<PrimaryCalls, WorkerCalls>(there, this.#handlers())
    // Nothing asks it for its tenants.
    this.worker = { self, place, channel, tenants: undefined as never, ended: this.#end.signal }
  }

  /** It does nothing more; that it has ended is noticed later. */
  kill(): void {
    for (const end of this.#ends) end.cut()
  }

  ended(): void {
    this.#end.abort()
  }

  #handlers(): Handlers<WorkerCalls> {
    const residents = new Residents({ tenants: this.#directory(), routes: this.routes, log: silentLog })
    return {
      start: () => undefined,
      route: ({ set, gone }) => {
        this.routes.set(set)
        for (const name of gone) this.routes.delete(name)
      },
      adopt: (records) => residents.adopt(records),
      create: (record) => this.#adopt(record),
      adjust: () => undefined,
      remove: async (name) => {
        await this.#try()
        this.tenants.delete(name)
      },
      release: (name) => residents.release(name),
      beat: () => undefined,
      metrics: () => "",
      stop: () => undefined,
    }
  }

  #directory() {
    const { random, inUse } = this.#troubles
    return {
      get: (name: string) => this.tenants.get(name)?.tenant,
      adopt: (record: TenantRecord) => this.#adopt(record),
      release: async (name: string) => {
        if (chance(random, inUse)) return false
        this.tenants.delete(name)
        await this.#try()
        return true
      },
    }
  }

  async #adopt(record: TenantRecord): Promise<void> {
    await this.#try()
    this.tenants.set(record.tenant.name, record)
  }

  async #try(): Promise<void> {
    const { random, failing } = this.#troubles
    await turns(random(4))
    if (chance(random, failing)) throw serviceUnavailable("its store cannot be closed or opened")
  }
}

type Follower = Parameters<WorkerPool["start"]>[0]

/** As WorkerPool, with FakeProcesses. */
export class FakeWorkers implements Pick<WorkerPool, "workers" | "start" | "broadcast"> {
  readonly #alive = new Map<Worker, FakeProcess>()
  readonly #troubles: Troubles
  readonly #count: number
  readonly #routes: () => Route[]
  #follower: Follower | undefined
  #last = 0

  constructor(count: number, routes: () => Route[], troubles: Troubles) {
    this.#count = count
    this.#routes = routes
    this.#troubles = troubles
  }

  get workers(): Iterable<Worker> {
    return this.#alive.keys()
  }

  get processes(): FakeProcess[] {
    return [...this.#alive.values()]
  }

  start(follower: Follower): Promise<void> {
    this.#follower = follower
    for (let place = 1; place <= this.#count; place++) this.#launch(place)
    return Promise.resolve()
  }

  async broadcast<K extends keyof WorkerCalls>(name: K, value: WorkerCalls[K][0]): Promise<void> {
    await Promise.all([...this.workers].map(({ channel }) => ignoreClosed(channel.call(name, value))))
  }

  /** Resolves when it has been replaced. */
  async kill(process: FakeProcess): Promise<void> {
    const { random } = this.#troubles
    const { worker } = process
    process.kill()
    await turns(random(6))
    this.#alive.delete(worker)
    process.ended()
    this.#follower?.ended(worker)
    await turns(random(12))
    this.#launch(worker.place)
  }

  #launch(place: number): void {
    const process = new FakeProcess(++this.#last, place, this.#troubles)
    const { worker } = process
    this.#alive.set(worker, process)
    void ignoreClosed(worker.channel.call("route", { set: this.#routes(), gone: [] }))
    this.#follower?.ready(worker)
  }
}
