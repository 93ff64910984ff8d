// A process whose tenant directory calls what fails at random, before or after it has had its effect, and which ends at any moment.

import { randomUUID } from "node:crypto"
import { setImmediate as turn } from "node:timers/promises"
import { chance, pick, type Random } from "../../../apimachinery/testing/random.ts"
import { silentLog } from "../../../client/log.ts"
import type { Store, Watcher } from "../../../storage/types.ts"
import type { ControlPlane } from "../../control-plane/control-plane.ts"
import { TenantDirectory } from "../tenant-directory.ts"
import { readRecords } from "../tenant-record.ts"
import { limits, silentWatch, unkept } from "./directory-parts.ts"

/** What the disk has, or the storage that several processes share. */
export interface Disk {
  records: Store
  /** Of each store, by uid, what was written to it. */
  stores: Map<string, number>
  /** Stores that may stay although their tenants are gone: they could not be removed, or who has made them has ended. */
  left: Set<string>
}

/** One life of the process. */
export class Life {
  readonly told = new Map<string, string>()
  readonly #made: string[] = []
  readonly #disk: Disk
  readonly #random: Random
  readonly #faults: string[]
  readonly #isShared: boolean
  readonly #watchers = new Set<Watcher>()
  /** Of each call. */
  failing = 0.2
  #isStarting = false
  readonly #end = Promise.withResolvers<undefined>()
  #hasEnded = false

  /** `isShared`: other processes use the disk, too. */
  constructor(disk: Disk, random: Random, faults: string[], isShared = false) {
    this.#disk = disk
    this.#random = random
    this.#faults = faults
    this.#isShared = isShared
  }

  /** Only reading all records does not fail here: the start would have to be repeated. */
  async start(): Promise<TenantDirectory> {
    this.#isStarting = true
    const { records } = this.#disk
    const store = this.#failingStore(records)
    const directory = await TenantDirectory.open({
      store,
      newUid: randomUUID,
      openControlPlane: ({ tenant, isStored }, life) =>
        this.#call("open a store", () => {
          const { stores } = this.#disk
          if (isStored === true && !stores.has(tenant.uid)) throw new Error(`the store of ${tenant.uid} is missing`)
          if (!stores.has(tenant.uid)) {
            stores.set(tenant.uid, 0)
            this.#made.push(tenant.uid)
          }
          life.events.at = Infinity // or it would be woken for its Events again and again
          return {
            name: tenant.name,
            presence: life.presence,
            begin: () => life.begin(),
            store: { revision: 1, watch: silentWatch },
            [Symbol.asyncDispose]: () => this.#call("close a store", () => undefined),
          } as unknown as ControlPlane
        }),
      removeStore: (uid) => this.#removeStore(uid),
      preparation: { ...unkept, isBegun: () => Promise.resolve(false), prepare: () => Promise.resolve() },
      addressOf: () => ({ server: "", certificateAuthority: "" }),
      issuerOf: (name) => name,
      others: this.#isShared ? { onChange: () => undefined, lastChange: () => 0, forget: () => undefined } : undefined,
      log: silentLog,
      limits,
    })
    const gone = new Set<string>()
    directory.subscribe({
      added: ({ name, uid }) => {
        if (gone.has(uid)) this.#faults.push(`followers are told that ${uid} is gone, and that it is not`)
        if (this.told.has(name)) this.#faults.push(`followers are told of ${name} twice`)
        this.told.set(name, uid)
      },
      removed: ({ name, uid }) => {
        gone.add(uid)
        if (this.told.get(name) === uid) this.told.delete(name)
      },
    })
    this.#isStarting = false
    return directory
  }

  /** Nothing that it does has an effect any more, and nothing that it waits for ends. */
  end(): void {
    this.#hasEnded = true
    for (const uid of this.#made) this.#disk.left.add(uid)
    this.#end.resolve(undefined)
  }

  get ended(): Promise<undefined> {
    return this.#end.promise
  }

  /** Its watches of records end, and it has to read all of them again. */
  cutWatches(): void {
    for (const watcher of this.#watchers) watcher.close()
    this.#watchers.clear()
  }

  async #removeStore(uid: string): Promise<void> {
    const { records, stores, left } = this.#disk
    left.add(uid)
    await this.#call("remove a store", async () => {
      const present = (await readRecords(records)).records.find(({ tenant }) => tenant.uid === uid)
      if (present?.state === "active") this.#faults.push(`the data of ${uid} are removed, which exists`)
      stores.delete(uid)
    })
    left.delete(uid)
  }

  #failingStore(store: Store): Store {
    return {
      get: (...given: Parameters<Store["get"]>) => this.#call("read a record", () => store.get(...given)),
      range: (...given: Parameters<Store["range"]>) => this.#readAll(() => store.range(...given)),
      txn: (transaction: Parameters<Store["txn"]>[0]) => this.#call("write a record", () => store.txn(transaction)),
      latest: () => store.latest(),
      watch: (...given: Parameters<Store["watch"]>) => {
        const watcher = store.watch(...given)
        this.#watchers.add(watcher)
        return watcher
      },
    } as unknown as Store
  }

  /** On the way there, or back: what has been read may be outdated when it arrives. */
  async #time(longest: number): Promise<void> {
    for (let turns = this.#random(longest + 1); turns > 0; turns--) await turn()
    if (this.#hasEnded) await new Promise(() => undefined)
  }

  /** It takes so long that whole operations happen meanwhile. */
  #readAll<T>(work: () => Promise<T>): Promise<T> {
    return this.#call("read all records", work, { longest: 30, failing: this.#isStarting ? 0 : this.failing })
  }

  async #call<T>(what: string, work: () => T | Promise<T>, { longest = 3, failing = this.failing } = {}): Promise<T> {
    const failure = chance(this.#random, failing) ? pick(this.#random, ["before", "after"]) : undefined
    await this.#time(longest)
    if (failure === "before") throw new Error(`cannot ${what}`)
    const result = await work()
    await this.#time(longest)
    if (failure === "after") throw new Error(`cannot tell whether it did ${what}`)
    return result
  }
}
