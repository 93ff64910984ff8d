// Tenants that other gateways on the same storage make and delete: their records followed, so that each gateway serves all.

import { pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import { backoff } from "../../client/reflector.ts"
import type { Revision, Store, Watcher } from "../../storage/types.ts"
import { changedRecord, readRecords, watchRecords, type TenantRecord } from "./tenant-record.ts"

export interface OtherTenantsParts {
  store: Store
  /** Of the tenants served here. */
  known: () => readonly TenantRecord[]
  /** A record as it is now, undefined when there is none any more. Told of what this gateway has written as well. */
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

  /** `revision`: what was up to there is known. */
  constructor(parts: OtherTenantsParts, revision: Revision) {
    this.#parts = parts
    this.#running = this.#run(revision)
  }

  /** What was written before this call has been told. Many who ask at once cost one question to the store. */
  settle(): Promise<void> {
    this.#settlingNext ??= (this.#settling ?? Promise.resolve())
      .catch(() => undefined) // told to those who asked then
      .then(() => {
        this.#settlingNext = undefined
        // The store tells its watches before it answers.
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
          for (const event of events) this.#tell(changedRecord(event))
        }
      } catch (error) {
        if (signal.aborted) return
        failures++
        log.warn({ error: String(error), failures }, "following the tenants of other gateways failed, trying again")
        await pause(systemClock, backoff(failures), signal)
      }
      from = undefined
    }
  }

  async #readAgain(): Promise<Revision> {
    const { store, known } = this.#parts
    const { records, revision } = await readRecords(store)
    const names = new Set(records.map(({ tenant }) => tenant.name))
    for (const { tenant } of known()) if (!names.has(tenant.name)) this.#tell({ name: tenant.name, record: undefined })
    for (const record of records) this.#tell({ name: record.tenant.name, record })
    return revision
  }

  #tell({ name, record }: { name: string; record: TenantRecord | undefined }): void {
    this.#parts.changed(name, record)
  }
}
