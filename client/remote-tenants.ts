// TenantAdmin for all tenants of a gateway in another process, implemented with the gateway's admin surface
// (gateway/admin/surface.ts). A permanent watch provides the list of tenants; a broken stream is reopened, and its content
// replaces the previous state.

import type { KubeObject } from "../apimachinery/object.ts"
import { isNotFound, serviceUnavailable } from "../apimachinery/status.ts"
import { backoff } from "./backoff.ts"
import { pause, systemClock } from "./clock.ts"
import { lines } from "./http/client.ts"
import { HttpTransport, type HttpClientConfig, type TlsIdentity, type TransportRequest } from "./http/transport.ts"
import { failureFields, silentLog, type Log } from "./log.ts"
import { type ObjectsLine, RemoteObjects } from "./remote-objects.ts"
import { closeTenant, meantFor, openTenant, type RemoteTenant } from "./remote-tenant.ts"
import type { KubeClient, Resource } from "./rest.ts"
import { applySettings } from "./tenant-settings.ts"
import {
  asGiven,
  type GivenTenant,
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
  useHeaders,
} from "./tenants.ts"

/** The gateway's address and an administrator's certificate. */
interface RemoteTenantsConfig extends HttpClientConfig {
  log?: Log
}

/** The surface sends something at least this often; a stream that is silent for longer is dead. */
const idleMs = 45_000

/** ADDED also for a known tenant whose settings have changed. */
type TenantLine = { type: "PING" | "SYNCED" } | { type: "ADDED" | "REMOVED"; tenant: Tenant }

export interface TenantsConnection extends TenantAdmin, AsyncDisposable {
  /** Sets the authority and client identity for new connections. */
  renew(identity: TlsIdentity): void
}

/** Resolves when the existing tenants are known; fails if the gateway does not respond the first time. */
export async function connectTenants(config: RemoteTenantsConfig): Promise<TenantsConnection> {
  const tenants = new RemoteTenants(config)
  try {
    await tenants.connected
    return tenants
  } catch (error) {
    await tenants[Symbol.asyncDispose]()
    throw error
  }
}

class RemoteTenants implements TenantsConnection {
  #config: RemoteTenantsConfig
  readonly #transport: HttpTransport
  readonly #log: Log
  readonly #ended = new AbortController()
  readonly #tenants = new Map<string, Tenant>()
  readonly #subscribers = new Set<TenantSubscriber>()
  readonly #open = new Map<string, RemoteTenant>()
  readonly #closing = new Set<Promise<void>>()
  /** Calls in progress, by name: whether they are use of the tenant. */
  readonly #waking = new Map<string, boolean>()
  readonly #running: Promise<void>
  readonly connected: Promise<void>

  constructor(config: RemoteTenantsConfig) {
    this.#config = config
    this.#transport = new HttpTransport(config)
    this.#log = config.log ?? silentLog
    const first = Promise.withResolvers<void>()
    this.connected = first.promise
    this.#running = this.#followTenants(first)
  }

  get(name: string): Tenant | undefined {
    return this.#tenants.get(name)
  }

  list(): readonly Tenant[] {
    return [...this.#tenants.values()]
  }

  subscribe(subscriber: TenantSubscriber): () => void {
    this.#subscribers.add(subscriber)
    for (const tenant of this.#tenants.values()) subscriber.added?.(tenant)
    return () => this.#subscribers.delete(subscriber)
  }

  client(tenant: string | TenantIdentity, { isUse = true }: TenantUse = {}): KubeClient {
    const { client, unused } = this.#tenantOf(identityOf(this, tenant))
    return isUse ? client : unused
  }

  #tenantOf({ name, uid }: GivenTenant): RemoteTenant {
    const isListed = uid !== undefined && this.#tenants.get(name)?.uid === uid
    const present = isListed ? this.#open.get(name) : undefined
    if (present !== undefined) return present
    const made = openTenant(this.#config, { name, uid })
    // Nothing is kept for a tenant that was deleted meanwhile, or is not known yet.
    if (isListed) this.#open.set(name, made)
    return made
  }

  async create(request: Omit<Tenant, "uid">): Promise<Tenant> {
    const body = JSON.stringify(request)
    const tenant = JSON.parse(await this.#call("POST", "/polyplane/v1/tenants", { body })) as Tenant
    this.#add(tenant) // the stream may report it later
    return tenant
  }

  async delete(tenant: string | MeantTenant): Promise<void> {
    const meant: MeantTenant = typeof tenant === "string" ? { name: tenant } : tenant
    const { name, uid, owner } = meant
    const { path } = resourceOf(name)
    // A path of its own: a gateway that does not know it yet must not delete the tenant of another owner.
    const query = owner && new URLSearchParams({ namespace: owner.namespace, uid: owner.uid }).toString()
    await this.#call("DELETE", query === undefined ? path : `${path}/owned?${query}`, { uid }).catch(
      (error: unknown) => {
        // What is gone already is no error.
        if (!isNotFound(error) || query === undefined) throw error
        throw serviceUnavailable("the gateway is older than this program, and does not delete tenants by their owner")
      },
    )
    const listed = this.#tenants.get(name)
    if (listed !== undefined && isMeant(listed, meant)) this.#remove(name)
  }

  async address(name: string): Promise<TenantAddress> {
    const text = await this.#call("GET", `${resourceOf(name).path}/address`)
    return JSON.parse(text) as TenantAddress
  }

  kubeconfig(tenant: string | TenantIdentity): Promise<string> {
    const { path, uid } = resourceOf(tenant)
    return this.#call("GET", `${path}/kubeconfig`, { uid })
  }

  async faults(): Promise<readonly TenantFault[]> {
    const { items } = JSON.parse(await this.#call("GET", "/polyplane/v1/faults")) as { items: TenantFault[] }
    return items
  }

  wake(name: string, use: TenantUse = {}): void {
    const { isUse = true } = use
    const inProgress = this.#waking.get(name)
    if (inProgress === true || inProgress === isUse) return
    this.#waking.set(name, isUse)
    this.#call("POST", `${resourceOf(name).path}/wake`, { headers: useHeaders(use) })
      .catch((error: unknown) => {
        if (!this.#ended.signal.aborted)
          this.#log.warn({ tenant: name, ...failureFields(error) }, "waking a tenant failed")
      })
      .finally(() => {
        if (this.#waking.get(name) === isUse) this.#waking.delete(name)
      })
  }

  /** The gateway does not know about work in this process: a tenant that falls asleep meanwhile is woken again. */
  register(): () => void {
    return () => undefined
  }

  pause(): undefined {
    return undefined
  }

  watch<T extends KubeObject>(resource: Resource, handler: TenantWatchHandler<T>, signal: AbortSignal): void {
    const query = new URLSearchParams({
      group: resource.group,
      version: resource.version,
      resource: resource.resource,
      namespaced: String(resource.namespaced),
    })
    const path = `/polyplane/v1/watch?${query.toString()}`
    const objects = new RemoteObjects(handler, this.#tenants)
    const until = AbortSignal.any([signal, this.#ended.signal])
    const unsubscribe = this.subscribe({
      added: (tenant) => objects.listed(tenant),
      removed: (tenant) => objects.unlisted(tenant),
    })
    until.addEventListener("abort", unsubscribe, { once: true })
    this.#keepReading<ObjectsLine<T>>(
      path,
      until,
      () => objects.opened(),
      (line) => objects.read(line),
    ).catch((error: unknown) => this.#log.error({ err: error, path }, "watch over all tenants stopped"))
  }

  renew(identity: TlsIdentity): void {
    this.#config = { ...this.#config, ...identity }
    this.#transport.renew(identity)
    for (const { transport } of this.#open.values()) transport.renew(identity)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort()
    this.#subscribers.clear()
    await this.#running
    for (const { transport } of this.#open.values()) await transport[Symbol.asyncDispose]()
    await Promise.all(this.#closing)
    await this.#transport[Symbol.asyncDispose]()
  }

  async #followTenants(first: PromiseWithResolvers<void>): Promise<void> {
    let seen: Set<string> | undefined
    await this.#keepReading<TenantLine>(
      "/polyplane/v1/tenants?watch=true",
      this.#ended.signal,
      () => {
        seen = new Set()
      },
      (line) => {
        if (line.type === "ADDED") {
          seen?.add(line.tenant.name)
          this.#add(line.tenant)
        } else if (line.type === "REMOVED") {
          // Another one of its name may have been made here meanwhile.
          if (this.#tenants.get(line.tenant.name)?.uid === line.tenant.uid) this.#remove(line.tenant.name)
        } else if (line.type === "SYNCED") {
          for (const name of this.#tenants.keys()) if (seen?.has(name) === false) this.#remove(name)
          seen = undefined
          first.resolve()
        }
      },
      (error) => first.reject(error),
    )
    first.reject(new Error("closed before the gateway answered"))
  }

  /** Reopens the stream until the signal ends. */
  async #keepReading<L>(
    path: string,
    signal: AbortSignal,
    opened: () => void,
    deliverLine: (line: L) => void,
    failed: (error: unknown) => void = () => undefined,
  ): Promise<void> {
    const request: TransportRequest = { method: "GET", path, signal, stream: { idleMs } }
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        const response = await this.#transport.open(request)
        opened()
        for await (const line of lines(response, this.#transport.limits.watchLineBytes)) {
          if (signal.aborted) return
          failures = 0
          deliverLine(JSON.parse(line) as L)
        }
      } catch (error) {
        if (signal.aborted) return
        failed(error)
        this.#log.warn({ ...failureFields(error), path, failures }, "stream of the gateway failed; reopening it")
      }
      await pause(systemClock, backoff(Math.max(1, failures)), signal)
    }
  }

  #add(tenant: Tenant): void {
    const existing = this.#tenants.get(tenant.name)
    if (existing?.uid === tenant.uid) return applySettings(existing, tenant)
    if (existing !== undefined) this.#remove(tenant.name)
    this.#tenants.set(tenant.name, tenant)
    for (const subscriber of this.#subscribers) subscriber.added?.(tenant)
  }

  #remove(name: string): void {
    const tenant = this.#tenants.get(name)
    if (tenant === undefined) return
    this.#tenants.delete(name)
    const open = this.#open.get(name)
    this.#open.delete(name)
    for (const subscriber of this.#subscribers) subscriber.removed?.(tenant)
    if (open === undefined) return
    const closing = closeTenant(open, this.#log).finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }

  async #call(
    method: string,
    path: string,
    { body, uid, headers: more }: { body?: string; uid?: string | undefined; headers?: Record<string, string> } = {},
  ): Promise<string> {
    const headers = { ...meantFor(uid), ...more }
    const request: TransportRequest =
      body === undefined
        ? { method, path, headers }
        : { method, path, body, headers: { ...headers, "content-type": "application/json" } }
    const response = await this.#transport.open(request)
    return (await this.#transport.readBody(request, response)).toString("utf8")
  }
}

function resourceOf(tenant: string | TenantIdentity): GivenTenant & { path: string } {
  const { name, uid } = asGiven(tenant)
  return { name, uid, path: `/polyplane/v1/tenants/${encodeURIComponent(name)}` }
}
