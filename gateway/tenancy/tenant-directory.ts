// The directory of a gateway's tenants: creates, finds, opens and deletes them. A request receives the control plane of one tenant
// from here. known-tenants.ts contains the current tenants and their followers; this file their creation and deletion.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { applySettings, type TenantSettings } from "../../client/tenant-settings.ts"
import {
  asGiven,
  identityOf,
  isMeant,
  type MeantTenant,
  type Tenant,
  type TenantAddress,
  type TenantAdmin,
  type TenantFault,
  type TenantIdentity,
  type TenantSubscriber,
  type TenantUse,
  type TenantWatchHandler,
  type TenantWatchOptions,
  type TenantWorker,
} from "../../client/tenants.ts"
import type { Revision, Store } from "../../storage/types.ts"
import type { ControlPlane, ControlPlaneLife } from "../control-plane/control-plane.ts"
import { KnownTenants, objectHandler, type KnownTenantsParts } from "./known-tenants.ts"
import { lookupIn } from "./lookup.ts"
import { issueKubeconfig } from "../pki/kubeconfig.ts"
import { createLazyClient } from "./lazy-client.ts"
import { OtherTenants } from "./other-tenants.ts"
import type { OtherGateways } from "../stores/storage.ts"
import { StoredMarks } from "./stored-marks.ts"
import type { TenantValueHandler } from "./subscriptions.ts"
import type { TenantEntry } from "./tenant-entry.ts"
import { noSuchTenant } from "./tenant-errors.ts"
import { TenantOperations, type TenantRequest } from "./tenant-operations.ts"
import {
  changeRecord,
  createRecord,
  condemnRecord,
  createRecordAnew,
  newRecord,
  readRecord,
  readRecords,
  replaceRecord,
  type TenantRecord,
} from "./tenant-record.ts"
import type { TenantLookup } from "./tenant-resolver.ts"

export interface TenantDirectoryParts extends KnownTenantsParts {
  /** The gateway's own store, not owned. */
  store: Store
  /** The uid for a new tenant. */
  newUid: () => string
  /** After a creation whose record was not written, or not for certain. */
  unused?: (uid: string) => Promise<void> | undefined
  /** Removes a tenant's data from disk; its control plane must be closed. */
  removeStore: (uid: string) => Promise<void>
  issuerOf: (name: string) => string
  addressOf: (name: string) => TenantAddress
}

export class TenantDirectory implements TenantAdmin, AsyncDisposable {
  readonly #parts: TenantDirectoryParts
  readonly #known: KnownTenants
  readonly #operations: TenantOperations
  readonly #marks: StoredMarks
  #others: OtherTenants | undefined

  /** Completes interrupted deletions; control planes stay closed until they are requested. */
  static async open(parts: TenantDirectoryParts): Promise<TenantDirectory> {
    const directory = new TenantDirectory(parts)
    const { records, revision } = await readRecords(parts.store)
    for (const record of records) {
      if (record.state === "active") directory.#known.join(record)
      else await directory.#remove(record)
    }
    if (parts.others !== undefined) directory.#follow(parts.others, revision)
    return directory
  }

  private constructor(parts: TenantDirectoryParts) {
    this.#parts = parts
    this.#marks = new StoredMarks(parts.store, parts.log)
    this.#known = new KnownTenants({ ...parts, openControlPlane: (record, life) => this.#open(record, life) })
    this.#operations = new TenantOperations({
      get: (name) => this.get(name),
      create: (request) => this.#create(request),
      change: (tenant, settings) => this.#change(tenant, settings),
      delete: (meant) => this.#delete(meant),
      settle: () => this.#others?.settle(),
      ended: (name) => this.#others?.ended(name),
    })
  }

  #follow(gateways: OtherGateways, revision: Revision): void {
    const { store, removeStore, log } = this.#parts
    const [known, operations] = [this.#known, this.#operations]
    this.#others = new OtherTenants({ store, gateways, known, operations, removeStore, log }, revision)
  }

  /** Finds tenants for requests. */
  get lookup(): TenantLookup {
    const others = this.#others
    return lookupIn(this.#known, others && (() => others.settle()))
  }

  get size(): number {
    return this.#known.size
  }

  /** The number of tenants with an open store. */
  get awake(): number {
    return this.#known.awake
  }

  /** The estimated memory of those tenants. */
  get awakeBytes(): number {
    return this.#known.awakeBytes
  }

  get(name: string): Tenant | undefined {
    return this.#known.get(name)?.record.tenant
  }

  list(): readonly Tenant[] {
    return this.#known.all().map(({ record }) => record.tenant)
  }

  byName(tenant: string | TenantIdentity): Promise<ControlPlane> | undefined {
    const { name, uid } = asGiven(tenant)
    return this.#known.get(name, uid)?.controlPlane()
  }

  create(request: TenantRequest): Promise<Tenant> {
    return this.#operations.create(request)
  }

  async #create(request: TenantRequest): Promise<Tenant> {
    const { newUid, issuerOf } = this.#parts
    const record = newRecord(request, newUid(), issuerOf(request.name))
    const { present, revision } = await this.#record(record)
    if (present !== undefined) {
      // Another gateway was faster. Whoever gets the tenant here finds it here.
      await this.#others?.settle()
      return present.tenant
    }
    this.#others?.wrote(request.name, revision)
    const tenant = await this.#make(record)
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

  async #change(tenant: Tenant, settings: TenantSettings): Promise<void> {
    const change = ({ tenant: recorded }: TenantRecord): void => applySettings(recorded, settings)
    if (!(await changeRecord(this.#parts.store, tenant, change))) throw noSuchTenant(tenant.name)
    this.adjust(tenant, settings)
  }

  /** Gives the tenant the settings that have been recorded for it. Does nothing if it is not known here. */
  adjust({ name, uid }: Pick<Tenant, "name" | "uid">, settings: TenantSettings): void {
    const entry = this.#known.get(name)
    if (entry?.record.tenant.uid === uid) this.#known.change(entry, settings)
  }

  /** Takes over a tenant that the primary has recorded (workers/) and assigned to this process. `isNew`: it was never opened. */
  async adopt(record: TenantRecord, isNew: boolean): Promise<void> {
    const { tenant } = record
    await this.#operations.deletion(tenant.name)
    if (this.#known.get(tenant.name) !== undefined || this.#operations.isInProgress(tenant.name)) return
    await createRecord(this.#parts.store, record)
    if (!isNew) return this.#known.join(record)
    await this.#operations.track(tenant.name, this.#make(record))
  }

  /**
   * Gives the tenant to another process: it is removed here, but not from disk. Returns false if it is in use, or not yet closed, and
   * therefore stays: its requests would wait for the end.
   */
  async release(name: string): Promise<boolean> {
    if (this.#operations.isInProgress(name)) return false
    const entry = this.#known.get(name)
    if (entry === undefined) return true
    if (entry.isOpen) return false
    await this.#known.remove(entry)
    await replaceRecord(this.#parts.store, entry.record.tenant)
    return true
  }

  async #make(record: TenantRecord): Promise<Tenant> {
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

  async #open(record: TenantRecord, life: ControlPlaneLife): Promise<ControlPlane> {
    await this.#marks.settled(record)
    const controlPlane = await this.#parts.openControlPlane(record, life)
    this.#marks.begin(record)
    return controlPlane
  }

  delete(tenant: string | MeantTenant): Promise<void> {
    return this.#operations.delete(tenant)
  }

  async #delete(meant: MeantTenant): Promise<void> {
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

  async #remove({ tenant }: TenantRecord): Promise<void> {
    const entry = this.#known.get(tenant.name, tenant.uid)
    if (entry !== undefined) await this.#known.remove(entry)
    await this.#parts.removeStore(tenant.uid)
    const revision = await replaceRecord(this.#parts.store, tenant)
    this.#others?.wrote(tenant.name, revision)
  }

  async #controlPlane(name: string, uid: string | undefined, isUse = true): Promise<ControlPlane> {
    if (this.#known.get(name, uid) === undefined) await this.#others?.settle()
    const found = this.#known.get(name, uid)
    if (found === undefined) throw noSuchTenant(name)
    return found.controlPlane(isUse)
  }

  async address(name: string): Promise<TenantAddress> {
    if (this.get(name) === undefined) await this.#others?.settle()
    if (this.get(name) === undefined) throw noSuchTenant(name)
    return this.#parts.addressOf(name)
  }

  async kubeconfig(tenant: string | TenantIdentity): Promise<string> {
    const { name, uid } = identityOf(this, tenant)
    const { trust } = await this.#controlPlane(name, uid)
    return issueKubeconfig(name, this.#parts.addressOf(name), trust.clientCertificateAuthority)
  }

  /** Tries to open those that could not be opened, so that one whose store was put back is noticed. */
  faults(): Promise<readonly TenantFault[]> {
    return Promise.resolve(this.#known.faults())
  }

  client(tenant: string | TenantIdentity, { isUse = true }: TenantUse = {}): KubeClient {
    const { name, uid } = identityOf(this, tenant)
    return createLazyClient(() => this.#controlPlane(name, uid, isUse), isUse)
  }

  subscribe(subscriber: TenantSubscriber): () => void {
    return this.#known.subscribe(subscriber)
  }

  watch<T extends KubeObject>(
    of: Resource,
    handler: TenantWatchHandler<T>,
    signal: AbortSignal,
    options?: TenantWatchOptions,
  ): void {
    this.watchValues(of, objectHandler(handler), signal, options)
  }

  /** The same for callers that forward bytes. */
  watchValues(of: Resource, handler: TenantValueHandler, signal: AbortSignal, options?: TenantWatchOptions): void {
    this.#known.watch(of, handler, signal, options)
  }

  wake(tenant: string, use?: TenantUse): void {
    this.#known.wake(tenant, use)
  }

  register(worker: TenantWorker): () => void {
    return this.#known.register(worker)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#others?.[Symbol.asyncDispose]()
    this.#known[Symbol.dispose]()
    await this.#operations.settled()
    await Promise.all(this.#known.all().map((entry) => entry.close()))
    await this.#marks[Symbol.asyncDispose]()
  }
}
