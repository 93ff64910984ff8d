// What the creation, change and deletion of a tenant do, step by step: its record, its control plane and its store. One operation at a time
// for each name (tenant-operations.ts), of which each step may fail, or be the last one of the process.

import { applySettings, type TenantSettings } from "../../client/tenant-settings.ts"
import { isMeant, type MeantTenant, type Tenant } from "../../client/tenants.ts"
import type { Log } from "../../client/log.ts"
import type { Store } from "../../storage/types.ts"
import type { KnownTenants } from "./known-tenants.ts"
import type { OtherTenants } from "./other-tenants.ts"
import type { TenantEntry } from "./tenant-entry.ts"
import { noSuchTenant } from "./tenant-errors.ts"
import type { TenantRequest } from "./tenant-operations.ts"
import {
  changeRecord,
  condemnRecord,
  createRecordAnew,
  newRecord,
  readRecord,
  replaceRecord,
  type TenantRecord,
} from "./tenant-record.ts"

export interface TenantLivesParts {
  /** The gateway's own store, not owned. */
  store: Store
  /** The uid for a new tenant. */
  newUid: () => string
  /** After a creation whose record was not written, or not for certain. */
  unused?: (uid: string) => Promise<void> | undefined
  /** Removes a tenant's data from disk; its control plane must be closed. */
  removeStore: (uid: string) => Promise<void>
  issuerOf: (name: string) => string
  log: Log
}

export class TenantLives {
  readonly #parts: TenantLivesParts
  readonly #known: KnownTenants
  /** Other gateways that do the same in this storage. */
  #others: OtherTenants | undefined

  constructor(parts: TenantLivesParts, known: KnownTenants) {
    this.#parts = parts
    this.#known = known
  }

  /** To be called before the first operation. */
  share(others: OtherTenants): void {
    this.#others = others
  }

  async create(request: TenantRequest): Promise<Tenant> {
    const { newUid, issuerOf } = this.#parts
    const record = newRecord(request, newUid(), issuerOf(request.name))
    const { present, revision } = await this.#record(record)
    if (present !== undefined) {
      // Another gateway was faster. Whoever gets the tenant here finds it here.
      await this.#others?.settle()
      return present.tenant
    }
    this.#others?.wrote(request.name, revision)
    const tenant = await this.make(record)
    this.#parts.log.info({ tenant: tenant.name, uid: tenant.uid }, "tenant created")
    return tenant
  }

  async #record(record: TenantRecord): ReturnType<typeof createRecordAnew> {
    const { store, unused, log } = this.#parts
    const { name, uid } = record.tenant
    const isShared = this.#others !== undefined
    try {
      return await createRecordAnew(store, record, { isShared, remove: (left) => this.#forget(left) })
    } catch (error) {
      await unused?.(uid)?.catch((failure: unknown) =>
        log.error({ err: failure, tenant: name }, "what was prepared for a tenant was not removed"),
      )
      throw error
    }
  }

  async change(tenant: Tenant, settings: TenantSettings): Promise<void> {
    const change = ({ tenant: recorded }: TenantRecord): void => applySettings(recorded, settings)
    if (!(await changeRecord(this.#parts.store, tenant, change))) throw noSuchTenant(tenant.name)
    // Another gateway may have changed them since: the last change counts, and every gateway takes all of them over in the same order.
    if (this.#others === undefined) this.#known.adjust(tenant, settings)
    else await this.#others.settle()
  }

  /** Opens a recorded tenant for the first time. */
  async make(record: TenantRecord): Promise<Tenant> {
    const { tenant } = record
    const entry = this.#known.conceive(record)
    try {
      await entry.born()
    } catch (error) {
      // Other gateways have seen its record, and may have answered for it since: there it exists, and is opened when it is used.
      if (this.#others === undefined) await this.#undo(entry)
      else this.#known.announce(entry)
      throw error
    }
    this.#known.announce(entry)
    return tenant
  }

  /** After a creation that has failed, for another reason. What it cannot remove is removed by the next creation or deletion. */
  async #undo(entry: TenantEntry): Promise<void> {
    const { record } = entry
    try {
      await condemnRecord(this.#parts.store, record)
      await this.#known.abandon(entry)
      await this.#remove(record)
    } catch (error) {
      this.#parts.log.error(
        { err: error, tenant: record.tenant.name },
        "what a failed creation has left was not removed",
      )
    }
  }

  async delete(meant: MeantTenant): Promise<void> {
    await this.#others?.settle()
    const { store, log } = this.#parts
    const { name } = meant
    // Not what is known here: a failed operation may have left more, and what others do meanwhile is taken over at the end.
    const record = await readRecord(store, name)
    if (record === undefined || (record.state === "active" && !isMeant(record.tenant, meant))) return
    await this.#forget(record)
    log.info({ tenant: name }, "tenant deleted")
  }

  /** With this order, an interruption leaves either the whole tenant or a record of what remains to be removed. */
  async #forget(record: TenantRecord): Promise<void> {
    const revision = await condemnRecord(this.#parts.store, record)
    this.#others?.wrote(record.tenant.name, revision)
    await this.#remove(record)
  }

  /** Completes an interrupted deletion. Never fails. */
  complete(record: TenantRecord): Promise<void> {
    return completed(this.#remove(record), record, this.#parts.log)
  }

  async #remove({ tenant }: TenantRecord): Promise<void> {
    const entry = this.#known.get(tenant.name, tenant.uid)
    if (entry !== undefined) await this.#known.remove(entry)
    await this.#parts.removeStore(tenant.uid)
    const revision = await replaceRecord(this.#parts.store, tenant)
    this.#others?.wrote(tenant.name, revision)
  }
}

/** At the start. If it fails it holds up nobody else: the next start tries again, or whoever takes the name or deletes it again. */
export async function completed(deletion: Promise<void>, { tenant }: TenantRecord, log: Log): Promise<void> {
  try {
    await deletion
  } catch (error) {
    log.error({ err: error, tenant: tenant.name }, "what a deleted tenant has left was not removed")
  }
}
