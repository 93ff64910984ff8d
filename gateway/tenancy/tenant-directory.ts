// All tenants of a gateway: makes, finds, opens and deletes them. The only place that knows more than one; what a request
// gets from here is one tenant's own control plane.

import { randomUUID } from "node:crypto"
import { FieldPath, invalidValue } from "../../apimachinery/field-errors.ts"
import { validateDNS1123Label } from "../../apimachinery/names.ts"
import { timestamp, type KubeObject } from "../../apimachinery/object.ts"
import { alreadyExists, invalid, notFound } from "../../apimachinery/status.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import type {
  Tenant,
  TenantAddress,
  TenantAdmin,
  TenantWatchHandler,
  TenantWatchOptions,
  TenantWorker,
} from "../../client/tenants.ts"
import type { Store } from "../../storage/types.ts"
import type { Credentials } from "../authentication/types.ts"
import type { Admittance } from "./admittance.ts"
import type { ControlPlane } from "./control-plane.ts"
import { renderKubeconfig } from "./kubeconfig.ts"
import { createLazyClient } from "./lazy-client.ts"
import { issueClientCertificate } from "./pki.ts"
import type { Preparation } from "./prepare.ts"
import { Rest, type RestLimits } from "./rest.ts"
import { Semaphore } from "./semaphore.ts"
import { Subscriptions, type TenantValueHandler } from "./subscriptions.ts"
import { type ControlPlaneLife, TenantEntry } from "./tenant-entry.ts"
import { OtherTenants } from "./other-tenants.ts"
import type { OtherGateways } from "./storage.ts"
import { createRecord, readRecord, readRecords, replaceRecord, type TenantRecord } from "./tenant-record.ts"
import type { TenantLookup } from "./tenant-resolver.ts"
import { authorityName } from "./trust-store.ts"

export interface TenantDirectoryParts {
  /** The gateway's own, not owned. */
  store: Store
  openControlPlane: (record: TenantRecord, life: ControlPlaneLife) => Promise<ControlPlane>
  /** What is to be known of a tenant while it sleeps. Default: nothing, so every caller wakes it. */
  admittance?: (controlPlane: ControlPlane) => Promise<Admittance | undefined>
  /** Removes what a tenant has on disk; its control plane is closed. */
  removeStore: (uid: string) => Promise<void>
  /** Who else makes, changes and deletes tenants of this storage. */
  others?: OtherGateways | undefined
  preparation: Preparation
  issuerOf: (name: string) => string
  addressOf: (name: string) => TenantAddress
  log: Log
  limits: { tenantReadyMs: number; maxOpening: number } & RestLimits
}

interface Subscriber {
  added(tenant: Tenant): void
  removed(tenant: Tenant): void
}

const resource = { group: "", resource: "tenants" }

export class TenantDirectory implements TenantAdmin, TenantLookup, AsyncDisposable {
  readonly #parts: TenantDirectoryParts
  readonly #entries = new Map<string, TenantEntry>()
  readonly #byAuthority = new Map<string, TenantEntry>()
  readonly #byIssuer = new Map<string, TenantEntry>()
  readonly #creating = new Map<string, Promise<Tenant>>()
  readonly #deleting = new Map<string, Promise<void>>()
  readonly #subscribers = new Set<Subscriber>()
  readonly #subscriptions = new Subscriptions()
  readonly #workers = new Set<TenantWorker>()
  readonly #opening: Semaphore
  readonly #rest: Rest
  #others: OtherTenants | undefined

  /** Finishes the deletions a stop has interrupted; control planes stay closed until somebody asks. */
  static async open(parts: TenantDirectoryParts): Promise<TenantDirectory> {
    const directory = new TenantDirectory(parts)
    const { records, revision } = await readRecords(parts.store)
    for (const record of records) {
      if (record.state === "active") directory.#add(record, true)
      else await directory.#remove(record)
    }
    if (parts.others !== undefined) directory.#follow(parts.others, revision)
    return directory
  }

  private constructor(parts: TenantDirectoryParts) {
    this.#parts = parts
    this.#opening = new Semaphore(parts.limits.maxOpening)
    this.#rest = new Rest(parts.limits, (tenant) => {
      for (const worker of this.#workers) if (worker.isBusy(tenant)) return true
      return false
    })
  }

  #follow(others: OtherGateways, revision: number): void {
    this.#others = new OtherTenants(
      {
        store: this.#parts.store,
        known: () => [...this.#entries.values()].map(({ record }) => record),
        changed: (name, record) => this.#changedElsewhere(name, record),
        log: this.#parts.log,
      },
      revision,
    )
    others.onChange((uid) => {
      const changed = uid === "" ? this.#entries.values() : [this.#byAuthority.get(authorityName(uid))]
      for (const entry of changed) if (entry !== undefined) this.#wakeChanged(entry)
    })
  }

  /** What others made, or deleted. What is under way here is looked at when it is done. */
  #changedElsewhere(name: string, record: TenantRecord | undefined): void {
    if (this.#creating.has(name) || this.#deleting.has(name)) return
    const entry = this.#entries.get(name)
    const isActive = record?.state === "active"
    if (entry !== undefined && (!isActive || record.tenant.uid !== entry.record.tenant.uid)) this.#left(entry)
    if (isActive && !this.#entries.has(name)) this.#join(record)
  }

  /** A tenant that was made elsewhere. */
  #join(record: TenantRecord): void {
    const added = this.#add(record, true)
    for (const subscriber of this.#subscribers) subscriber.added(record.tenant)
    if (this.#subscriptions.last > 0) this.#rest.call(added)
  }

  #left(entry: TenantEntry): void {
    const { log } = this.#parts
    const { name } = entry.record.tenant
    this.#leave(entry).catch((error: unknown) => log.error({ err: error, tenant: name }, "closing a tenant failed"))
  }

  /** Its watches sleep, too, and those who follow all tenants know what it was. */
  #wakeChanged(entry: TenantEntry): void {
    if (!entry.isAwake && (entry.isWaitedFor || this.#subscriptions.last > 0)) this.#rest.call(entry)
  }

  async #lookAgain(name: string): Promise<void> {
    if (this.#others !== undefined) this.#changedElsewhere(name, await readRecord(this.#parts.store, name))
  }

  /** Tenants that others have made until now are known afterwards. */
  get settle(): (() => Promise<void>) | undefined {
    const others = this.#others
    return others && (() => others.settle())
  }

  /** How many have their store open. */
  get awake(): number {
    return this.#rest.awake
  }

  /** What those take in memory, as far as it is counted. */
  get awakeBytes(): number {
    return this.#rest.awakeBytes
  }

  get(name: string): Tenant | undefined {
    return this.#entries.get(name)?.record.tenant
  }

  list(): readonly Tenant[] {
    return [...this.#entries.values()].map(({ record }) => record.tenant)
  }

  byName(name: string): Promise<ControlPlane> | undefined {
    return this.#entries.get(name)?.controlPlane()
  }

  forCaller(name: string, caller: Credentials): Promise<ControlPlane | undefined> | undefined {
    return this.#entries.get(name)?.forCaller(caller)
  }

  byAuthority(commonName: string, caller: Credentials): Promise<ControlPlane | undefined> | undefined {
    return this.#byAuthority.get(commonName)?.forCaller(caller)
  }

  mayBeOf(name: string, authority: string): boolean {
    const entry = this.#byAuthority.get(authority)
    return entry !== undefined && entry === this.#entries.get(name)
  }

  byIssuer(issuer: string, caller: Credentials): Promise<ControlPlane | undefined> | undefined {
    return this.#byIssuer.get(issuer)?.forCaller(caller)
  }

  async create(request: Omit<Tenant, "uid">): Promise<Tenant> {
    const { name } = request
    checkTenantName(name)
    await this.#others?.settle()
    await this.#deleting.get(name)
    await this.#creating.get(name)?.catch(() => undefined) // told to whoever began it
    const existing = this.get(name)
    if (existing !== undefined) {
      if (existing.virtualCluster.uid === request.virtualCluster.uid) return existing
      throw alreadyExists(resource, name)
    }
    const creating = this.#creating.get(name) ?? this.#create(request)
    this.#creating.set(name, creating)
    try {
      const tenant = await creating
      if (tenant.virtualCluster.uid !== request.virtualCluster.uid) throw alreadyExists(resource, name)
      return tenant
    } finally {
      if (this.#creating.get(name) === creating) {
        this.#creating.delete(name)
        await this.#lookAgain(name)
      }
    }
  }

  async #create(request: Omit<Tenant, "uid">): Promise<Tenant> {
    const { store, issuerOf } = this.#parts
    const record = newRecord(request, issuerOf(request.name))
    for (
      let found = await createRecord(store, record);
      found !== undefined;
      found = await createRecord(store, record)
    ) {
      // Another gateway was faster, or has left the rest of a tenant.
      if (found.state === "active") return found.tenant
      await this.#remove(found)
    }
    return this.#make(record)
  }

  /** A tenant that the primary has recorded (workers/), and gives to this process. `isNew`: it was never opened. */
  async adopt(record: TenantRecord, isNew: boolean): Promise<void> {
    const { tenant } = record
    await this.#deleting.get(tenant.name)
    if (this.#entries.has(tenant.name)) return
    await createRecord(this.#parts.store, record)
    if (!isNew) return this.#join(record)
    const creating = this.#make(record)
    this.#creating.set(tenant.name, creating)
    await creating.finally(() => this.#creating.delete(tenant.name))
  }

  /** Another process shall have it: here it is forgotten, on disk everything stays. false: it is in use, and kept. */
  async release(name: string): Promise<boolean> {
    const entry = this.#entries.get(name)
    if (entry === undefined) return true
    if (entry.isOpen || this.#creating.has(name) || this.#deleting.has(name)) return false
    await this.#leave(entry)
    await replaceRecord(this.#parts.store, entry.record.tenant)
    return true
  }

  async #make(record: TenantRecord): Promise<Tenant> {
    const { tenant } = record
    const entry = this.#add(record, false)
    try {
      await entry.born()
    } catch (error) {
      await this.#forget(entry)
      throw error
    }
    for (const subscriber of this.#subscribers) subscriber.added(tenant)
    entry.announce()
    return tenant
  }

  delete(name: string): Promise<void> {
    const running = this.#deleting.get(name)
    if (running !== undefined) return running
    const deleting = this.#delete(name).finally(async () => {
      this.#deleting.delete(name)
      await this.#lookAgain(name)
    })
    this.#deleting.set(name, deleting)
    return deleting
  }

  async #delete(name: string): Promise<void> {
    await this.#creating.get(name)?.catch(() => undefined) // told to whoever began it
    await this.#others?.settle()
    const entry = this.#entries.get(name)
    if (entry === undefined) return
    await this.#forget(entry)
    this.#parts.log.info({ tenant: name }, "tenant deleted")
  }

  /** In this order a stop at any point leaves either the whole tenant or a record that says what is left to remove. */
  async #forget(entry: TenantEntry): Promise<void> {
    const record: TenantRecord = { ...entry.record, state: "deleting" }
    await replaceRecord(this.#parts.store, record.tenant, record)
    await this.#leave(entry)
    await this.#remove(record)
  }

  /** Nobody finds it here any more. */
  #leave(entry: TenantEntry): Promise<void> {
    const { tenant, issuer } = entry.record
    this.#entries.delete(tenant.name)
    this.#byAuthority.delete(authorityName(tenant.uid))
    this.#byIssuer.delete(issuer)
    const closing = entry.close() // ends its watches at once, so that nothing follows removed()
    this.#rest.forget(entry)
    for (const subscriber of this.#subscribers) subscriber.removed(tenant)
    for (const { handler } of this.#subscriptions.after(0)) handler.removed(tenant.name)
    return closing.finally(() => this.#parts.others?.forget(tenant.uid))
  }

  async #remove({ tenant }: TenantRecord): Promise<void> {
    await this.#parts.removeStore(tenant.uid)
    await replaceRecord(this.#parts.store, tenant)
  }

  #add(record: TenantRecord, announced: boolean): TenantEntry {
    const { openControlPlane: open, admittance, preparation, limits, log } = this.#parts
    const entry = new TenantEntry({
      record,
      announced,
      open,
      admittance: admittance ?? (() => Promise.resolve(undefined)),
      preparation,
      readyMs: limits.tenantReadyMs,
      woke: (woken) => this.#rest.woke(woken),
      slept: (asleep, revision) => {
        // Another gateway wrote to it while it was falling asleep.
        const { others } = this.#parts
        if (others !== undefined && others.lastChange(asleep.record.tenant.uid) > revision) this.#wakeChanged(asleep)
      },
      subscriptions: this.#subscriptions,
      opening: this.#opening,
      log,
    })
    this.#entries.set(record.tenant.name, entry)
    this.#byAuthority.set(authorityName(record.tenant.uid), entry)
    this.#byIssuer.set(record.issuer, entry)
    return entry
  }

  async #controlPlane(name: string): Promise<ControlPlane> {
    if (!this.#entries.has(name)) await this.#others?.settle()
    const found = this.byName(name)
    if (found === undefined) throw notFound(resource, name)
    return found
  }

  async address(name: string): Promise<TenantAddress> {
    if (this.get(name) === undefined) await this.#others?.settle()
    if (this.get(name) === undefined) throw notFound(resource, name)
    return this.#parts.addressOf(name)
  }

  async kubeconfig(name: string): Promise<string> {
    const { trust } = await this.#controlPlane(name)
    const { server, certificateAuthority } = this.#parts.addressOf(name)
    const user = { name: "admin", groups: ["system:masters"] }
    return renderKubeconfig({
      name,
      user: user.name,
      server,
      certificateAuthority,
      client: await issueClientCertificate(trust.clientCertificateAuthority, user),
    })
  }

  client(tenant: string): KubeClient {
    return createLazyClient(() => this.#controlPlane(tenant))
  }

  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber)
    for (const [name, { record }] of this.#entries) if (!this.#creating.has(name)) subscriber.added(record.tenant)
    return () => this.#subscribers.delete(subscriber)
  }

  watch<T extends KubeObject>(
    of: Resource,
    handler: TenantWatchHandler<T>,
    signal: AbortSignal,
    options?: TenantWatchOptions,
  ): void {
    this.watchValues(
      of,
      {
        event: (tenant, type, value) => handler.event({ tenant, type, object: value.object() as T }),
        synced: (tenant) => handler.synced(tenant),
        removed: (tenant) => handler.removed(tenant),
        restarted: (tenant) => handler.restarted(tenant),
        asleep: (tenant) => handler.asleep?.(tenant),
      },
      signal,
      options,
    )
  }

  /** The same, for those who pass bytes on. */
  watchValues(of: Resource, handler: TenantValueHandler, signal: AbortSignal, options?: TenantWatchOptions): void {
    if (signal.aborted) return
    const subscription = this.#subscriptions.add(of, handler, signal, options?.mentioning)
    signal.addEventListener("abort", () => this.#subscriptions.delete(subscription), { once: true })
    // The next turn, when all who come together have come.
    for (const entry of this.#entries.values()) {
      // Who only hears of deletions needs nothing of those asleep: they delete nothing.
      if (entry.isAwake || subscription.mentioning?.length !== 0) this.#rest.call(entry)
    }
  }

  wake(tenant: string): void {
    const entry = this.#entries.get(tenant)
    entry?.presence.touch()
    void entry?.introduce()
  }

  register(worker: TenantWorker): () => void {
    this.#workers.add(worker)
    return () => this.#workers.delete(worker)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#others?.[Symbol.asyncDispose]()
    this.#rest[Symbol.dispose]()
    this.#subscribers.clear()
    await Promise.allSettled([...this.#creating.values(), ...this.#deleting.values()])
    await Promise.all([...this.#entries.values()].map((entry) => entry.close()))
  }
}

/** Of a tenant that is made now. */
export function newRecord(request: Omit<Tenant, "uid">, issuer: string): TenantRecord {
  return { tenant: { ...request, uid: randomUUID() }, createdAt: timestamp(), state: "active", issuer }
}

export function checkTenantName(name: string): void {
  const faults = validateDNS1123Label(name)
  if (faults.length === 0) return
  const path = FieldPath.root("metadata", "name")
  throw invalid(
    { group: "tenancy.x-k8s.io", kind: "VirtualCluster" },
    name,
    faults.map((fault) => invalidValue(path, name, fault)),
  )
}
