// Prepares the store of the next new tenant in idle time: creating a LevelDB takes longer than everything else a new tenant needs.
// It is in the directory of tenants' stores; a record in the gateway's store marks it as unused until one write replaces that by
// the tenant's record (tenant-record.ts). The next start removes what a stopped process has left, if it can.

import { randomUUID } from "node:crypto"
import type { Log } from "../../client/log.ts"
import { removeDatabase } from "../../storage/level/open-database.ts"
import type { OpenedDatabase } from "../../storage/level/state.ts"
import { openAhead } from "../../storage/level/store.ts"
import type { StoreLimits } from "../../storage/limits.ts"
import type { Store } from "../../storage/types.ts"

const prefix = "/spares/"

/** The key in the gateway's store that marks a prepared store of that uid. */
export const spareKey = (uid: string): string => prefix + uid

/** The uids of the stores that are marked as unused. */
export async function readSpares(store: Store): Promise<string[]> {
  const { items } = await store.range(prefix)
  return items.map(({ key }) => key.slice(prefix.length))
}

interface SpareStoreParts {
  /** The gateway's own store, not owned. */
  store: Store
  pathOf: (uid: string) => string
  limits: Partial<StoreLimits>
  log: Log
}

interface Spare {
  uid: string
  /**
   * Resolves with undefined on failure; the store is then opened like any other, and the error goes to the creator of the tenant.
   */
  opened: Promise<OpenedDatabase | undefined>
}

export class SpareStore implements AsyncDisposable {
  /** Milliseconds after the last creation: creating many tenants at once would not benefit from a prepared store. */
  static readonly restMs = 10
  readonly #parts: SpareStoreParts
  readonly #taken = new Map<string, Spare["opened"]>()
  #spare: Spare | undefined
  #making: Promise<void> | undefined
  #resting: NodeJS.Timeout | undefined
  #ended = false

  constructor(parts: SpareStoreParts) {
    this.#parts = parts
  }

  /** Removes the prepared stores of a stopped process, except those that cannot be removed. */
  async clear(): Promise<void> {
    for (const uid of await readSpares(this.#parts.store)) await this.#tryToRemove(uid)
  }

  /** Returns the uid for a new tenant. */
  take(): string {
    const spare = this.#spare
    this.#spare = undefined
    if (spare !== undefined) this.#taken.set(spare.uid, spare.opened)
    clearTimeout(this.#resting)
    if (!this.#ended) this.#resting = setTimeout(() => this.#begin(), SpareStore.restMs).unref()
    return spare?.uid ?? randomUUID()
  }

  /** The open database of a taken uid; the first caller owns it. */
  async opened(uid: string): Promise<OpenedDatabase | undefined> {
    const opened = this.#taken.get(uid)
    this.#taken.delete(uid)
    return opened
  }

  /** Closes and removes the store of a taken uid that nobody has opened. */
  async discard(uid: string): Promise<void> {
    if (!this.#taken.has(uid)) return
    await (await this.opened(uid))?.database.close()
    await this.#remove(uid)
  }

  #begin(): void {
    if (this.#spare !== undefined || this.#making !== undefined) return
    this.#making = this.#make()
      .catch(() => undefined) // the next creation of a tenant reports it, since it writes to the same store
      .finally(() => (this.#making = undefined))
  }

  /** The store becomes available only after its record is on disk, so that the tenant's record follows it. */
  async #make(): Promise<void> {
    const { store, pathOf, limits } = this.#parts
    const uid = randomUUID()
    await store.txn({ compare: [], operations: [{ type: "put", key: spareKey(uid), value: new Uint8Array() }] })
    this.#spare = { uid, opened: openAhead({ directory: pathOf(uid), limits }).catch(() => undefined) }
  }

  /** Nobody uses it, so nobody has to wait until it can be removed: its record stays, and the next start tries again. */
  async #tryToRemove(uid: string): Promise<void> {
    try {
      await this.#remove(uid)
    } catch (error) {
      this.#parts.log.error({ err: error, uid }, "an unused store that was prepared for a tenant was not removed")
    }
  }

  async #remove(uid: string): Promise<void> {
    const { store, pathOf } = this.#parts
    await removeDatabase(pathOf(uid))
    await store.txn({ compare: [], operations: [{ type: "delete", key: spareKey(uid) }] })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true
    clearTimeout(this.#resting)
    await this.#making
    for (const opened of this.#taken.values()) await (await opened)?.database.close()
    if (this.#spare === undefined) return
    await (await this.#spare.opened)?.database.close()
    await this.#tryToRemove(this.#spare.uid)
  }
}
