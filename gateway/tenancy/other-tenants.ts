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
import type { TenantOperations } from "./tenant-operations.ts"
import { changedRecord, markStored, readRecords, watchRecords, type TenantRecord } from "./tenant-record.ts"

interface OtherTenantsParts {
  store: Store
  gateways: OtherGateways
  /** The tenants served here. */
  known: KnownTenants
  removeStore: (uid: string) => Promise<void>
  /** Those of this gateway: call ended() after each. */
  operations: Pick<TenantOperations, "isInProgress" | "inProgress">
  log: Log
}

export class OtherTenants implements AsyncDisposable {
  readonly #parts: OtherTenantsParts
  readonly #ending = new AbortController()
  readonly #running: Promise<void>
  #watcher: Watcher | undefined
  #settling: Promise<void> | undefined
  #settlingNext: Promise<void> | undefined
  /** What has changed during operations of this gateway, by name: the latest record, or undefined if it was deleted. */
  readonly #deferred = new Map<string, TenantRecord | undefined>()

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

  /** Takes over what has changed during an operation of this gateway. What the watch has not delivered yet, it delivers later. */
  ended(name: string): void {
    if (!this.#deferred.has(name) || this.#parts.operations.isInProgress(name)) return
    const record = this.#deferred.get(name)
    this.#deferred.delete(name)
    this.#changed(name, record)
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
    const { store, known, operations } = this.#parts
    const { records, revision } = await readRecords(store)
    // Also of tenants that are being created here, which are not known yet.
    const gone = new Set([...known.all().map(({ record }) => record.tenant.name), ...operations.inProgress()])
    for (const { tenant } of records) gone.delete(tenant.name)
    for (const name of gone) this.#changed(name, undefined)
    for (const record of records) this.#changed(record.tenant.name, record)
    return revision
  }

  /** `record`: the current one, or undefined if it was deleted. Also called for writes of this gateway, which change nothing. */
  #changed(name: string, record: TenantRecord | undefined): void {
    const { known, operations } = this.#parts
    if (operations.isInProgress(name)) {
      this.#deferred.set(name, record)
      return
    }
    const entry = known.get(name)
    const active = record?.state === "active" ? record : undefined
    const isSame = entry !== undefined && active?.tenant.uid === entry.record.tenant.uid
    if (entry !== undefined && !isSame) this.#remove(entry)
    if (active === undefined) return
    if (!isSame) return known.join(active)
    if (active.isStored === true) markStored(entry.record)
    known.change(entry, active.tenant)
  }

  #remove(entry: TenantEntry): void {
    const { log } = this.#parts
    const { name } = entry.record.tenant
    this.#removeAll(entry).catch((error: unknown) => log.error({ err: error, tenant: name }, "closing a tenant failed"))
  }

  async #removeAll(entry: TenantEntry): Promise<void> {
    const { known, removeStore } = this.#parts
    const { record } = entry
    try {
      await known.remove(entry)
    } finally {
      // Opening it for the first time may have made its store anew after another gateway had removed that.
      if (record.isStored !== true) await removeStore(record.tenant.uid)
    }
  }
}
