// Records that tenants have a store. The first opening of a tenant, which its creation waits for, does not wait for this; the next one
// does. If a process ends in between, the loss of that store is not noticed before its next opening, which records it.

import { pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import type { TenantIdentity } from "../../client/tenants.ts"
import { markStored, type TenantRecord } from "./tenant-record.ts"

/** Records that a tenant has a store. Returns false if the tenant does not exist or is being deleted. */
export type RecordStored = (tenant: TenantIdentity) => Promise<boolean>

/** Who creates a tenant has its first answers by then, and those created meanwhile share a flush of the disk. */
const restMs = 50

export class StoredMarks implements AsyncDisposable {
  readonly #record: RecordStored
  readonly #log: Log
  /** By uid of the tenant. */
  readonly #underWay = new Map<string, Promise<void>>()
  #rest: Promise<void> | undefined
  readonly #ending = new AbortController()

  constructor(record: RecordStored, log: Log) {
    this.#record = record
    this.#log = log
  }

  /** Undefined: nothing is being written for this tenant. */
  settled({ tenant }: TenantRecord): Promise<void> | undefined {
    return this.#underWay.get(tenant.uid)
  }

  /** To be called when the tenant's store is open. */
  begin(record: TenantRecord): void {
    const { uid } = record.tenant
    if (record.isStored === true || this.#underWay.has(uid)) return
    const marking = this.#mark(record).finally(() => this.#underWay.delete(uid))
    this.#underWay.set(uid, marking)
  }

  async #mark(record: TenantRecord): Promise<void> {
    const { tenant } = record
    try {
      await (this.#rest ??= pause(systemClock, restMs, this.#ending.signal).finally(() => (this.#rest = undefined)))
      if (await this.#record(tenant)) markStored(record)
    } catch (error) {
      this.#log.warn(
        { err: error, tenant: tenant.name },
        "recording that a tenant has a store failed; its next opening tries again",
      )
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await Promise.all(this.#underWay.values())
  }
}
