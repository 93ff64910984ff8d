// Follows the records of tenants that other gateways on the same storage create and delete, so that each gateway serves all of
// them.

import { backoff } from "../../client/backoff.ts"
import { pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import type { Revision, Store, Watcher } from "../../storage/types.ts"
import { changedRecord, readRecords, watchRecords, type TenantRecord } from "./tenant-record.ts"

export interface OtherTenantsParts {
  store: Store
  /** The tenants served here. */
  known: () => readonly TenantRecord[]
  /** The current record, or undefined if it was deleted. Also called for writes of this gateway. */
  changed: (name: string, record: TenantRecord | undefined) => void
  log: Log
}

export class OtherTenants implements AsyncDisposable {
  readonly #parts: OtherTenantsParts
  readonly #ending = new AbortController()
  readonly #running: Promise<void>
  #watcher: Watcher | undefined
  #settling: Promise<void> | undefined
  #settlingNext: Promise<void> | undefined

  /** `revision`: changes up to it are known. */
  constructor(parts: OtherTenantsParts, revision: Revision) {
    this.#parts = parts
    this.#running = this.#run(revision)
  }

  /** Resolves when all changes before this call have been processed. Concurrent callers share one request to the store. */
  settle(): Promise<void> {
    this.#settlingNext ??= (this.#settling ?? Promise.resolve())
      .catch(() => undefined) // reported to its own callers
      .then(() => {
        this.#settlingNext = undefined
        // The store notifies its watches before it responds.
        this.#settling = this.#parts.store.latest().then(() => undefined)
        return this.#settling
      })
    return this.#settlingNext
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    this.#watcher?.close()
    await this.#running
  }

  async #run(revision: Revision): Promise<void> {
    const { store, log } = this.#parts
    const { signal } = this.#ending
    let from: Revision | undefined = revision
    for (let failures = 0; !signal.aborted;) {
      try {
        from ??= await this.#readAgain()
        this.#watcher = watchRecords(store, from)
        for await (const events of this.#watcher) {
          failures = 0
          for (const event of events) this.#publish(changedRecord(event))
        }
      } catch (error) {
        if (signal.aborted) return
        failures++
        log.warn({ error: String(error), failures }, "watching the tenants of other gateways failed; retrying")
        await pause(systemClock, backoff(failures), signal)
      }
      from = undefined
    }
  }

  async #readAgain(): Promise<Revision> {
    const { store, known } = this.#parts
    const { records, revision } = await readRecords(store)
    const names = new Set(records.map(({ tenant }) => tenant.name))
    for (const { tenant } of known())
      if (!names.has(tenant.name)) this.#publish({ name: tenant.name, record: undefined })
    for (const record of records) this.#publish({ name: record.tenant.name, record })
    return revision
  }

  #publish({ name, record }: { name: string; record: TenantRecord | undefined }): void {
    this.#parts.changed(name, record)
  }
}
