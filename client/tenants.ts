// All tenant control planes seen from outside: what controllers, syncer and operator work on. In one process the gateway
// implements it; in a process of its own, client/remote-tenants.ts speaks to the gateway's admin surface.

import type { KubeObject } from "../apimachinery/object.ts"
import type { KubeClient, Resource } from "./rest.ts"

/** Who a tenant is. The VirtualCluster's identity decides the names in the super cluster (apimachinery/tenancy.ts). */
export interface Tenant {
  /** Unique in the gateway; the VirtualCluster's name. */
  name: string
  /** The control plane's own uid: a tenant made anew under an old name has another one. */
  uid: string
  virtualCluster: { namespace: string; name: string; uid: string }
  /** Prefix of the tenant's namespaces in the super cluster. */
  clusterKey: string
  /** DNS domain inside the tenant, e.g. "cluster.local". */
  clusterDomain: string
  transparentMetaPrefixes: readonly string[]
  opaqueMetaPrefixes: readonly string[]
  /** false: the tenant brings a controller manager of its own. */
  controllers: boolean
  /** Instead of the gateway's limits for tenants; what is absent is as for all. */
  quota?: TenantQuota
}

export interface TenantQuota {
  /** Objects stored. */
  objects?: number
  /** Bytes of them. */
  bytes?: number
}

export interface TenantEvent<T extends KubeObject> {
  tenant: string
  type: "ADDED" | "MODIFIED" | "DELETED"
  object: T
}

/** Called synchronously in the order of each tenant's changes; must not block and must not throw. */
export interface TenantWatchHandler<T extends KubeObject> {
  event(event: TenantEvent<T>): void
  /** All objects the tenant had when it was added have been delivered. */
  synced(tenant: string): void
  /** The tenant is gone: forget all of its objects, without events. */
  removed(tenant: string): void
  /** The stream of this tenant starts anew: what is not delivered before the next synced() is gone. */
  restarted(tenant: string): void
  /** Nobody needs the tenant now: its objects may be forgotten. When it wakes they are all delivered again, then synced(). */
  asleep?(tenant: string): void
}

/** Who works on tenants' objects beyond the calls it makes: while it has something to do a tenant does not fall asleep. */
export interface TenantWorker {
  isBusy(tenant: string): boolean
}

/** What a call, or waking a tenant, is for. */
export interface TenantUse {
  /**
   * false: it is done for the sake of time that has passed, not for somebody, and the tenant may fall asleep as soon as it is
   * over. A gateway in another process takes all as use. Default: true.
   */
  isUse?: boolean
}

/** The resourceVersion of what every control plane is born with, for as long as nobody has changed it. */
export const bornVersion = "1"

/** What the handler can do without. It may be delivered all the same. */
export interface TenantWatchOptions {
  /**
   * An object is wanted when its JSON text has one of these, or had before the change, or when it is deleted. None: only
   * deletions are.
   */
  mentioning?: readonly string[]
}

export interface Tenants {
  get(name: string): Tenant | undefined
  list(): readonly Tenant[]
  /** Told of every tenant there is, then of changes. Returns how to stop. */
  subscribe(handler: { added(tenant: Tenant): void; removed(tenant: Tenant): void }): () => void
  /** As an administrator of that tenant. Calls fail with NotFound when there is no such tenant. */
  client(tenant: string, use?: TenantUse): KubeClient
  /** One list-and-watch of a kind over all tenants, present and future; resumed by itself. */
  watch<T extends KubeObject>(
    resource: Resource,
    handler: TenantWatchHandler<T>,
    signal: AbortSignal,
    options?: TenantWatchOptions,
  ): void
  /** Its objects are needed: watches deliver them, and synced(), if the tenant has slept. */
  wake(tenant: string, use?: TenantUse): void
  /** Returns how to stop. */
  register(worker: TenantWorker): () => void
}

export interface TenantAddress {
  /** https URL without a trailing slash. */
  server: string
  certificateAuthority: string
}

/** Whether a kubeconfig as {@link TenantAdmin.kubeconfig} answers it leads to that address. */
export function leadsTo(kubeconfig: string, { server, certificateAuthority }: TenantAddress): boolean {
  const lines = [`server: ${server}`, Buffer.from(certificateAuthority).toString("base64")]
  return lines.every((line) => kubeconfig.includes(`${line}\n`))
}

/** The same kubeconfig with another address, which {@link leadsTo} tells, unless somebody has written it anew by hand. */
export function redirected(kubeconfig: string, { server, certificateAuthority }: TenantAddress): string {
  const authority = Buffer.from(certificateAuthority).toString("base64")
  return kubeconfig
    .replace(/^( *server: ).*$/m, (_, begin: string) => begin + server)
    .replace(/^( *certificate-authority-data: ).*$/m, (_, begin: string) => begin + authority)
}

/** What the operator may do beyond. */
export interface TenantAdmin extends Tenants {
  /** Idempotent: the same name and VirtualCluster uid answers the tenant there is. AlreadyExists for another uid. */
  create(request: Omit<Tenant, "uid">): Promise<Tenant>
  /** Idempotent. Resolves when nothing of the tenant is left on disk. */
  delete(name: string): Promise<void>
  /** Where its API is, and the PEM of the authority that says so. Does not wake it. */
  address(name: string): Promise<TenantAddress>
  /** A kubeconfig (YAML) with a fresh client certificate of user "admin", group system:masters. */
  kubeconfig(name: string): Promise<string>
}
