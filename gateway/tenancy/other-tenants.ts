// Takes over what other gateways on the same storage do with tenants, so that each gateway serves all of them: follows the records
// that they create, change and delete, and learns which tenants' objects they have changed.

import { backoff } from "../../client/backoff.ts"
import { pause, systemClock } from "../../client/clock.ts"
import { failureFields, type Log } from "../../client/log.ts"
import type { Revision, Store, Watcher } from "../../storage/types.ts"
import { authorityName } from "../pki/trust-store.ts"
import type { OtherGateways } from "../stores/storage.ts"
import type { KnownTenants } from "./known-tenants.ts"
import type { TenantEntry } from "./tenant-entry.ts"
import { changedRecord, readRecord, readRecords, watchRecords, type TenantRecord } from "./tenant-record.ts"

interface OtherTenantsParts {
  store: Store
  gateways: OtherGateways
  /** The tenants served here. */
  known: KnownTenants
  /** An operation of this gateway on the tenant of that name is in progress: call reload() after it. */
  isInProgress: (name: string) => boolean
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
    const { gateways, known } = parts
    gateways.onChange((uid) => {
      const changed = uid === "" ? known.all() : [known.byAuthority(authorityName(uid))]
      for (const entry of changed) if (entry !== undefined) known.callChanged(entry)
    })
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

  /** Takes over what has changed during an operation of this gateway. */
  async reload(name: string): Promise<void> {
    this.#changed(name, await readRecord(this.#parts.store, name))
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
          for (const event of events) {
            const { name, record } = changedRecord(event)
            this.#changed(name, record)
          }
        }
      } catch (error) {
        if (signal.aborted) return
        failures++
        log.warn({ ...failureFields(error), failures }, "watching the tenants of other gateways failed; retrying")
        await pause(systemClock, backoff(failures), signal)
      }
      from = undefined
    }
  }

  async #readAgain(): Promise<Revision> {
    const { store, known } = this.#parts
    const { records, revision } = await readRecords(store)
    const names = new Set(records.map(({ tenant }) => tenant.name))
    const gone = known.all().filter(({ record }) => !names.has(record.tenant.name))
    for (const { record } of gone) this.#changed(record.tenant.name, undefined)
    for (const record of records) this.#changed(record.tenant.name, record)
    return revision
  }

  /** `record`: the current one, or undefined if it was deleted. Also called for writes of this gateway, which change nothing. */
  #changed(name: string, record: TenantRecord | undefined): void {
    const { known, isInProgress } = this.#parts
    if (isInProgress(name)) return
    const entry = known.get(name)
    const active = record?.state === "active" ? record : undefined
    const isSame = entry !== undefined && active?.tenant.uid === entry.record.tenant.uid
    if (entry !== undefined && !isSame) this.#remove(entry)
    if (active === undefined) return
    if (isSame) known.change(entry, active.tenant)
    else known.join(active)
  }

  #remove(entry: TenantEntry): void {
    const { known, log } = this.#parts
    const { name } = entry.record.tenant
    known.remove(entry).catch((error: unknown) => log.error({ err: error, tenant: name }, "closing a tenant failed"))
  }
}
