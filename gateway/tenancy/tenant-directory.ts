// The directory of a gateway's tenants: creates, finds, opens and deletes them. A request receives the control plane of one tenant
// from here. known-tenants.ts contains the current tenants and their followers, tenant-lives.ts their creation and deletion.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import type { TenantSettings } from "../../client/tenant-settings.ts"
import {
  asGiven,
  identityOf,
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
import type { Revision } from "../../storage/types.ts"
import type { ControlPlane, ControlPlaneLife } from "../control-plane/control-plane.ts"
import { KnownTenants, objectHandler, type KnownTenantsParts } from "./known-tenants.ts"
import { lookupIn } from "./lookup.ts"
import { issueKubeconfig } from "../pki/kubeconfig.ts"
import { createLazyClient } from "./lazy-client.ts"
import { OtherTenants } from "./other-tenants.ts"
import type { OtherGateways } from "../stores/storage.ts"
import { type RecordStored, StoredMarks } from "./stored-marks.ts"
import type { TenantValueHandler } from "./subscriptions.ts"
import { noSuchTenant } from "./tenant-errors.ts"
import { TenantLives, type TenantLivesParts } from "./tenant-lives.ts"
import { TenantOperations, type TenantRequest } from "./tenant-operations.ts"
import { createRecord, readRecords, recordStored, replaceRecord, type TenantRecord } from "./tenant-record.ts"
import type { TenantLookup } from "./tenant-resolver.ts"

export interface TenantDirectoryParts extends KnownTenantsParts, TenantLivesParts {
  addressOf: (name: string) => TenantAddress
  /** Default: in `store`. */
  recordStored?: RecordStored | undefined
}

export class TenantDirectory implements TenantAdmin, AsyncDisposable {
  readonly #parts: TenantDirectoryParts
  readonly #known: KnownTenants
  readonly #lives: TenantLives
  readonly #operations: TenantOperations
  readonly #marks: StoredMarks
  #others: OtherTenants | undefined

  /** Completes interrupted deletions; control planes stay closed until they are requested. */
  static async open(parts: TenantDirectoryParts): Promise<TenantDirectory> {
    const directory = new TenantDirectory(parts)
    const { records, revision } = await readRecords(parts.store)
    for (const record of records) {
      if (record.state === "active") directory.#known.join(record)
      else await directory.#lives.complete(record)
    }
    if (parts.others !== undefined) directory.#follow(parts.others, revision)
    return directory
  }

  private constructor(parts: TenantDirectoryParts) {
    this.#parts = parts
    this.#marks = new StoredMarks(parts.recordStored ?? ((tenant) => recordStored(parts.store, tenant)), parts.log)
    this.#known = new KnownTenants({ ...parts, openControlPlane: (record, life) => this.#open(record, life) })
    this.#lives = new TenantLives(parts, this.#known)
    this.#operations = new TenantOperations({
      get: (name) => this.get(name),
      create: (request) => this.#lives.create(request),
      change: (tenant, settings) => this.#lives.change(tenant, settings),
      delete: (meant) => this.#lives.delete(meant),
      settle: () => this.#others?.settle(),
      ended: (name) => this.#others?.ended(name),
    })
  }

  #follow(gateways: OtherGateways, revision: Revision): void {
    const { store, removeStore, log } = this.#parts
    const [known, operations] = [this.#known, this.#operations]
    this.#others = new OtherTenants({ store, gateways, known, operations, removeStore, log }, revision)
    this.#lives.share(this.#others)
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

  /** Gives the tenant the settings that have been recorded for it. Does nothing if it is not known here. */
  adjust(tenant: Pick<Tenant, "name" | "uid">, settings: TenantSettings): void {
    this.#known.adjust(tenant, settings)
  }

  /** Takes over a tenant that the primary has recorded (workers/) and assigned to this process. `isNew`: it was never opened. */
  async adopt(record: TenantRecord, isNew: boolean): Promise<void> {
    const { tenant } = record
    await this.#operations.deletion(tenant.name)
    if (this.#known.get(tenant.name) !== undefined || this.#operations.isInProgress(tenant.name)) return
    await createRecord(this.#parts.store, record)
    if (!isNew) return this.#known.join(record)
    await this.#operations.track(tenant.name, this.#lives.make(record))
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

  async #open(record: TenantRecord, life: ControlPlaneLife): Promise<ControlPlane> {
    await this.#marks.settled(record)
    const controlPlane = await this.#parts.openControlPlane(record, life)
    this.#marks.begin(record)
    return controlPlane
  }

  delete(tenant: string | MeantTenant): Promise<void> {
    return this.#operations.delete(tenant)
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

  pause(tenant: string): Promise<void> | undefined {
    return this.#known.get(tenant)?.pause()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#others?.[Symbol.asyncDispose]()
    this.#known[Symbol.dispose]()
    await this.#operations.settled()
    await Promise.all(this.#known.all().map((entry) => entry.close()))
    await this.#marks[Symbol.asyncDispose]()
  }
}
