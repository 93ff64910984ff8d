// All tenants as seen by the primary, which has their records and assigns them to workers. Operations on a tenant are forwarded to
// its owner, and followers of all tenants get one stream, whichever worker owns a tenant.

import { randomUUID } from "node:crypto"
import type { KubeObject } from "../../apimachinery/object.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { applySettings, type TenantSettings } from "../../client/tenant-settings.ts"
import {
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
} from "../../client/tenants.ts"
import type { Store } from "../../storage/types.ts"
import type { TenantBytesHandler } from "../admin/surface.ts"
import { createLazyClient } from "../tenancy/lazy-client.ts"
import { Presence } from "../tenancy/presence.ts"
import { noSuchTenant } from "../tenancy/tenant-errors.ts"
import { completed } from "../tenancy/tenant-lives.ts"
import { TenantOperations, type TenantRequest } from "../tenancy/tenant-operations.ts"
import {
  changeRecord,
  condemnRecord,
  createRecordAnew,
  markStored,
  newRecord,
  readRecord,
  readRecords,
  recordStored,
  replaceRecord,
  type TenantRecord,
} from "../tenancy/tenant-record.ts"
import { Followers } from "./followers.ts"
import { type Held, routeOf } from "./handovers.ts"
import { Placement } from "./placement.ts"
import type { Worker, WorkerPool } from "./pool.ts"
import type { Route, Routes } from "./routes.ts"

interface SpreadTenantsParts {
  /** The gateway's own store, not owned. */
  store: Store
  pool: WorkerPool
  /** The primary's own routes. */
  routes: Routes
  /** Removes a tenant's data from disk; no process may have it open. */
  removeStore: (uid: string) => Promise<void>
  issuerOf: (name: string) => string
  addressOf: (name: string) => TenantAddress
  log: Log
}

export class SpreadTenants implements TenantAdmin, AsyncDisposable {
  readonly #parts: SpreadTenantsParts
  readonly #placement: Placement
  readonly #followers: Followers
  readonly #operations: TenantOperations
  readonly #subscribers = new Set<TenantSubscriber>()

  /** Completes interrupted deletions. Nothing is opened. */
  static async open(parts: SpreadTenantsParts): Promise<SpreadTenants> {
    const tenants = new SpreadTenants(parts)
    const { records } = await readRecords(parts.store)
    for (const record of records) {
      if (record.state === "active") tenants.#placement.add(record, false)
      else await completed(tenants.#remove(record), record, parts.log)
    }
    parts.routes.set(tenants.allRoutes())
    return tenants
  }

  private constructor(parts: SpreadTenantsParts) {
    this.#parts = parts
    const { pool, routes, log } = parts
    this.#operations = new TenantOperations({
      get: (name) => this.get(name),
      create: (request) => this.#create(request),
      change: (tenant, settings) => this.#change(tenant, settings),
      delete: (meant) => this.#delete(meant),
    })
    this.#followers = new Followers((worker, tenant) => this.#placement.isOwner(worker, tenant))
    this.#placement = new Placement({
      pool,
      routes,
      log,
      joined: (worker) => this.#followers.joined(worker),
      created: ({ tenant }) => {
        for (const subscriber of this.#subscribers) subscriber.added?.(tenant)
      },
      unsettled: (tenant) => this.#followers.restarted(tenant),
      isLeaving: (tenant) => this.#operations.isDeleting(tenant),
    })
  }

  /** Starts the workers and distributes the existing tenants. Resolves when every tenant has an owner. */
  start(): Promise<void> {
    return this.#placement.start()
  }

  get size(): number {
    return this.#placement.size
  }

  allRoutes(): Route[] {
    return Array.from(this.#placement.all, routeOf)
  }

  get(name: string): Tenant | undefined {
    return this.#placement.get(name)?.record.tenant
  }

  list(): readonly Tenant[] {
    return this.#placement.existing().map(({ record }) => record.tenant)
  }

  create(request: TenantRequest): Promise<Tenant> {
    return this.#operations.create(request)
  }

  async #create(request: TenantRequest): Promise<Tenant> {
    const { store, issuerOf } = this.#parts
    // A prepared store would be open in this process, but the tenant's owner is a worker.
    const record = newRecord(request, randomUUID(), issuerOf(request.name))
    await createRecordAnew(store, record, { isShared: false, remove: (left) => this.#forget(left) })
    const held = this.#placement.add(record, true)
    try {
      await this.#placement.make(held)
    } catch (error) {
      await this.#undo(held)
      throw error
    }
    const { tenant } = record
    this.#parts.log.info({ tenant: tenant.name, uid: tenant.uid }, "tenant created")
    return tenant
  }

  /** After a creation that has failed, for another reason. What it cannot remove is removed by the next creation or deletion. */
  async #undo(held: Held): Promise<void> {
    const { record } = held
    this.#placement.remove(held)
    try {
      await this.#forget(record)
    } catch (error) {
      this.#parts.log.error(
        { err: error, tenant: record.tenant.name },
        "what a failed creation has left was not removed",
      )
    }
  }

  async #change(tenant: Tenant, settings: TenantSettings): Promise<void> {
    const held = this.#placement.get(tenant.name)
    const change = ({ tenant: recorded }: TenantRecord): void => applySettings(recorded, settings)
    if (held === undefined || !(await changeRecord(this.#parts.store, tenant, change))) throw noSuchTenant(tenant.name)
    applySettings(held.record.tenant, settings)
    for (const subscriber of this.#subscribers) subscriber.changed?.(held.record.tenant)
    await this.#placement.changed(held)
  }

  /**
   * Its owner has opened its store for the first time. Returns false if the tenant does not exist, or its creation fails: its owner removes
   * the store then before the record says that it is being deleted.
   */
  async recordStored(tenant: TenantIdentity): Promise<boolean> {
    const record = await this.#placement.recordOf(tenant)
    if (record === undefined || !(await recordStored(this.#parts.store, tenant))) return false
    markStored(record) // which its next owners get
    return true
  }

  delete(tenant: string | MeantTenant): Promise<void> {
    return this.#operations.delete(tenant)
  }

  async #delete(meant: MeantTenant): Promise<void> {
    const { name } = meant
    // If it is not held, a creation or deletion that failed has left it.
    const record = this.#placement.get(name)?.record ?? (await readRecord(this.#parts.store, name))
    if (record === undefined || (record.state === "active" && !isMeant(record.tenant, meant))) return
    await this.#forget(record)
    this.#parts.log.info({ tenant: name }, "tenant deleted")
  }

  /** With this order, an interruption leaves either the whole tenant or a record of what remains to be removed. */
  async #forget(record: TenantRecord): Promise<void> {
    await condemnRecord(this.#parts.store, record)
    await this.#remove(record)
  }

  async #remove({ tenant }: TenantRecord): Promise<void> {
    const held = this.#placement.get(tenant.name)
    if (held?.record.tenant.uid === tenant.uid) {
      this.#placement.remove(held)
      for (const subscriber of this.#subscribers) subscriber.removed?.(tenant)
      this.#followers.removed(tenant.name)
    }
    await this.#placement.release(tenant)
    await this.#parts.removeStore(tenant.uid)
    await replaceRecord(this.#parts.store, tenant)
  }

  address(name: string): Promise<TenantAddress> {
    if (this.get(name) === undefined) return Promise.reject(noSuchTenant(name))
    return Promise.resolve(this.#parts.addressOf(name))
  }

  async kubeconfig(tenant: string | TenantIdentity): Promise<string> {
    const { owner, identity } = await this.#owned(tenant)
    return owner.tenants.kubeconfig(identity)
  }

  async faults(): Promise<readonly TenantFault[]> {
    const all = await Promise.all(
      Array.from(this.#parts.pool.workers, async (worker) => {
        const found = await worker.tenants.faults()
        return found.filter(({ tenant }) => this.#placement.get(tenant)?.owner === worker)
      }),
    )
    return all.flat()
  }

  client(tenant: string | TenantIdentity, use?: TenantUse): KubeClient {
    const presence = new Presence()
    const { name, uid } = identityOf(this, tenant)
    return createLazyClient(async () => {
      const { owner, identity } = await this.#owned(uid === undefined ? name : { name, uid })
      return { client: owner.tenants.client(identity, use), presence }
    })
  }

  /** What the owner knows of its tenants here may be behind, so it is told which one is meant, and refuses what is meant for another. */
  async #owned(tenant: string | TenantIdentity): Promise<{ owner: Worker; identity: TenantIdentity }> {
    const { name, uid } = identityOf(this, tenant)
    const owner = await this.#placement.ownerOf(name)
    const present = this.get(name)
    if (present === undefined || (uid !== undefined && present.uid !== uid)) throw noSuchTenant(name)
    return { owner, identity: present }
  }

  wake(tenant: string, use?: TenantUse): void {
    this.#placement.get(tenant)?.owner?.tenants.wake(tenant, use)
  }

  /** Owners do not know the queued work of this process: a tenant that falls asleep meanwhile is woken again. */
  register(): () => void {
    return () => undefined
  }

  /** Their work is done by their owners, whose threads this one does not hold. */
  pause(): undefined {
    return undefined
  }

  subscribe(subscriber: TenantSubscriber): () => void {
    this.#subscribers.add(subscriber)
    for (const { record } of this.#placement.existing()) subscriber.added?.(record.tenant)
    return () => this.#subscribers.delete(subscriber)
  }

  watch<T extends KubeObject>(
    of: Resource,
    handler: TenantWatchHandler<T>,
    signal: AbortSignal,
    options?: TenantWatchOptions,
  ): void {
    const watch = { resource: of, handler: handler as TenantWatchHandler<KubeObject>, signal, options }
    this.#followers.add(watch, this.#parts.pool.workers)
  }

  /** The same for callers that forward text. */
  watchValues(of: Resource, handler: TenantBytesHandler, signal: AbortSignal): void {
    this.watch(
      of,
      {
        event: ({ tenant, type, object }) =>
          handler.event(tenant, type, { bytes: () => Buffer.from(JSON.stringify(object)) }),
        synced: (tenant) => handler.synced(tenant),
        removed: (tenant) => handler.removed(tenant),
        restarted: (tenant) => handler.restarted(tenant),
        asleep: (tenant) => handler.asleep?.(tenant),
      },
      signal,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscribers.clear()
    await this.#placement[Symbol.asyncDispose]()
    await this.#operations.settled()
  }
}
