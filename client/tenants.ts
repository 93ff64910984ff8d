// The interface to all tenant control planes, for controllers, syncer and operator. The gateway implements it within its
// process; in other processes client/remote-tenants.ts implements it with the gateway's admin surface.

import type { KubeObject } from "../apimachinery/object.ts"
import type { KubeClient, Resource } from "./rest.ts"

/** The identity of a tenant. The VirtualCluster determines the names in the super cluster (apimachinery/tenancy.ts). */
export interface Tenant {
  /** The name of the VirtualCluster, unique in the gateway. */
  name: string
  /** The uid of the control plane: a tenant recreated under an old name has a different one. */
  uid: string
  virtualCluster: { namespace: string; name: string; uid: string }
  /** Prefix of the tenant's namespaces in the super cluster. */
  clusterKey: string
  /** DNS domain inside the tenant, e.g. "cluster.local". */
  clusterDomain: string
  transparentMetaPrefixes: readonly string[]
  opaqueMetaPrefixes: readonly string[]
  /** false: the tenant runs its own controller manager. May change (tenant-settings.ts). */
  controllers: boolean
  /** Overrides the gateway's default limits for tenants. May change. */
  quota?: TenantQuota
}

/**
 * Limits of a tenant: stored objects and their bytes; and what it takes of the super cluster over all its namespaces: pods that have
 * not ended, services with an address, node ports, namespaces, claims.
 */
export const quotaNames = [
  "objects",
  "bytes",
  "pods",
  "services",
  "nodePorts",
  "namespaces",
  "persistentVolumeClaims",
] as const

export type TenantQuota = Partial<Record<(typeof quotaNames)[number], number>>

/** One tenant, and not the next one of its name. */
export type TenantIdentity = Pick<Tenant, "name" | "uid">

/** A tenant as a caller names it: without a uid, if only the name is given. */
export interface GivenTenant {
  name: string
  uid: string | undefined
}

export const asGiven = (tenant: string | TenantIdentity): GivenTenant =>
  typeof tenant === "string" ? { name: tenant, uid: undefined } : tenant

/** The tenant of that name, if it has that uid, and belongs to that VirtualCluster. Undefined: whatever it has. */
export interface MeantTenant {
  name: string
  uid?: string | undefined
  owner?: Pick<Tenant["virtualCluster"], "namespace" | "uid"> | undefined
}

export function isMeant({ uid, virtualCluster }: Tenant, meant: MeantTenant): boolean {
  const { owner } = meant
  if (meant.uid !== undefined && meant.uid !== uid) return false
  return owner === undefined || (owner.uid === virtualCluster.uid && owner.namespace === virtualCluster.namespace)
}

/** The given tenant, or the one that has that name now; without a uid if there is none. */
export function identityOf(tenants: Pick<Tenants, "get">, tenant: string | TenantIdentity): GivenTenant {
  const { name, uid = tenants.get(name)?.uid } = asGiven(tenant)
  return { name, uid }
}

/** Of requests to a gateway: the uid of the tenant that they are meant for. To the next one of its name they are not found. */
export const tenantUIDHeader = "x-polyplane-tenant-uid"

/** Of requests to a gateway: "none" is a call that is no use of the tenant (see {@link TenantUse}). Believed of its administrators. */
export const tenantUseHeader = "x-polyplane-tenant-use"

/** The headers of requests with that purpose. */
export const useHeaders = ({ isUse = true }: TenantUse): Record<string, string> =>
  isUse ? {} : { [tenantUseHeader]: "none" }

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
  /** The tenant has been deleted: forget all its objects, without events. */
  removed(tenant: string): void
  /** The stream of this tenant starts again: objects that are not delivered before the next synced() no longer exist. */
  restarted(tenant: string): void
  /** The tenant sleeps: its objects may be forgotten. When it wakes, all of them are delivered again, then synced(). */
  asleep?(tenant: string): void
}

/** A component with queued work for tenants. A tenant does not fall asleep while the component has work for it. */
export interface TenantWorker {
  isBusy(tenant: string): boolean
  /**
   * Resolves when the component has begun to follow all tenants. At a start sleeping tenants wait for that, so that each is woken once for
   * all who follow; in the gateway's process only.
   */
  readonly following?: Promise<unknown>
}

/** The purpose of a call, or of waking a tenant. */
export interface TenantUse {
  /**
   * false: the call is caused by a timer, not by a user, and the tenant may fall asleep as soon as the call has
   * ended. Default: true.
   */
  isUse?: boolean
}

/** The resourceVersion of bootstrap objects that have not been changed; no write produces it. */
export const bornVersion = "1"

/** Restricts the objects that the handler needs. Others may still be delivered. */
export interface TenantWatchOptions {
  /**
   * An object is needed if its JSON text contains one of these strings, or contained one before the change, or if it is deleted. With
   * an empty list only deletions are needed.
   */
  mentioning?: readonly string[]
}

export interface TenantSubscriber {
  /** Without it, subscribing costs nothing per tenant. */
  added?(tenant: Tenant): void
  removed?(tenant: Tenant): void
  /**
   * The tenant's controllers were switched on or off. After they were switched on, all its objects are delivered to watches again.
   * Only in processes of the gateway, where controllers run.
   */
  switched?(tenant: Tenant): void
  /** Its settings have changed (tenant-settings.ts). Likewise; in others they are taken over. */
  changed?(tenant: Tenant): void
}

export interface Tenants {
  get(name: string): Tenant | undefined
  list(): readonly Tenant[]
  /** Notifies the handler of every existing tenant, then of changes. Returns a function that stops it. */
  subscribe(handler: TenantSubscriber): () => void
  /**
   * A client with administrator rights in the tenant, which is the one that has the name now if only that is given. Calls fail with NotFound
   * if the tenant does not exist, also when there is another one of its name: what is still done for a tenant that is gone is not done to
   * that one, even if the list of tenants is behind.
   */
  client(tenant: string | TenantIdentity, use?: TenantUse): KubeClient
  /** One list and watch of a kind over all current and future tenants, which resumes automatically. */
  watch<T extends KubeObject>(
    resource: Resource,
    handler: TenantWatchHandler<T>,
    signal: AbortSignal,
    options?: TenantWatchOptions,
  ): void
  /** Wakes the tenant: if it slept, watches deliver its objects and synced(). */
  wake(tenant: string, use?: TenantUse): void
  /** Returns a function that stops it. */
  register(worker: TenantWorker): () => void
  /**
   * Called before a piece of work for a tenant that may follow others without a wait between them. Returns undefined if it may begin at once;
   * otherwise the promise resolves when others have had their turn. Never waits where the thread serves nobody else.
   */
  pause(tenant: string): Promise<void> | undefined
}

export interface TenantAddress {
  /** https URL without a trailing slash. */
  server: string
  certificateAuthority: string
}

/** Whether a kubeconfig from {@link TenantAdmin.kubeconfig} contains that address. */
export function pointsTo(kubeconfig: string, { server, certificateAuthority }: TenantAddress): boolean {
  const lines = [`server: ${server}`, Buffer.from(certificateAuthority).toString("base64")]
  return lines.every((line) => kubeconfig.includes(`${line}\n`))
}

/** The same kubeconfig with another address, which {@link pointsTo} verifies, unless the file was rewritten by hand. */
export function redirected(kubeconfig: string, { server, certificateAuthority }: TenantAddress): string {
  const authority = Buffer.from(certificateAuthority).toString("base64")
  return kubeconfig
    .replace(/^( *server: ).*$/m, (_, begin: string) => begin + server)
    .replace(/^( *certificate-authority-data: ).*$/m, (_, begin: string) => begin + authority)
}

/** A tenant that the gateway cannot serve, because its data is damaged or cannot be read. */
export interface TenantFault {
  tenant: string
  message: string
}

/** The additional functions that the operator needs. */
export interface TenantAdmin extends Tenants {
  /**
   * Idempotent: returns the existing tenant for the same name and VirtualCluster uid, which has the requested settings
   * (tenant-settings.ts) from then on. AlreadyExists for another uid.
   */
  create(request: Omit<Tenant, "uid">): Promise<Tenant>
  /**
   * Idempotent. Resolves when all data of the tenant has been deleted from disk. By name: of the one that has it. Also of one that is not
   * known, because its creation has failed, or the list of tenants is behind.
   */
  delete(tenant: string | MeantTenant): Promise<void>
  /** The URL of the tenant's API and the PEM of its certificate authority. Does not wake the tenant. */
  address(name: string): Promise<TenantAddress>
  /** The tenants that cannot be served as far as it is known: a damaged tenant is noticed when it is opened or written to. */
  faults(): Promise<readonly TenantFault[]>
  /** A kubeconfig (YAML) with a fresh client certificate of user "admin", group system:masters. */
  kubeconfig(tenant: string | TenantIdentity): Promise<string>
}
