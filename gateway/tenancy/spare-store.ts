// The store of the tenant that is made next, opened while nothing else is to do: making a LevelDB takes longer than everything
// else a tenant needs. It lies where tenants' stores lie; a record in the gateway's store says that it is nobody's yet, until
// the tenant's record takes its place in one write (tenant-record.ts). What a stop leaves behind goes at the next start.

import { randomUUID } from "node:crypto"
import { removeDatabase, type OpenedDatabase } from "../../storage/level/database.ts"
import { openAhead } from "../../storage/level/store.ts"
import type { StoreLimits } from "../../storage/limits.ts"
import type { Store } from "../../storage/types.ts"

const prefix = "/spares/"

/** In the gateway's store while a store of that uid is kept ready. */
export const spareKey = (uid: string): string => prefix + uid

export interface SpareStoreParts {
  /** The gateway's own, not owned. */
  store: Store
  pathOf: (uid: string) => string
  limits: Partial<StoreLimits>
}

interface Spare {
  uid: string
  /** undefined: it failed, which is told to who makes the tenant: its store is opened then as any other. */
  opened: Promise<OpenedDatabase | undefined>
}

export class SpareStore implements AsyncDisposable {
  /** Milliseconds after the last tenant was made: many at once have no use for one that is ready. */
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

  /** What a process that was stopped had kept ready. */
  async clear(): Promise<void> {
    const { items } = await this.#parts.store.range(prefix)
    for (const { key } of items) await this.#remove(key.slice(prefix.length))
  }

  /** The uid of a tenant that is made now. */
  take(): string {
    const spare = this.#spare
    this.#spare = undefined
    if (spare !== undefined) this.#taken.set(spare.uid, spare.opened)
    clearTimeout(this.#resting)
    if (!this.#ended) this.#resting = setTimeout(() => this.#begin(), SpareStore.restMs).unref()
    return spare?.uid ?? randomUUID()
  }

  /** What is open of a uid that was taken, once: whoever asks owns it. */
  async opened(uid: string): Promise<OpenedDatabase | undefined> {
    const opened = this.#taken.get(uid)
    this.#taken.delete(uid)
    return opened
  }

  #begin(): void {
    if (this.#spare !== undefined || this.#making !== undefined) return
    this.#making = this.#make()
      .catch(() => undefined) // told to who makes the next tenant: its record goes to the same store
      .finally(() => (this.#making = undefined))
  }

  /** Given to nobody before its record is on disk: the tenant's comes after it. */
  async #make(): Promise<void> {
    const { store, pathOf, limits } = this.#parts
    const uid = randomUUID()
    await store.txn({ compare: [], operations: [{ type: "put", key: spareKey(uid), value: new Uint8Array() }] })
    this.#spare = { uid, opened: openAhead({ directory: pathOf(uid), limits }).catch(() => undefined) }
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
    await this.#remove(this.#spare.uid)
  }
}
