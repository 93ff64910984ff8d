// Reconciles a VirtualCluster with its tenant. Every step is idempotent, so the next reconcile completes the work after a crash:
// finalizer → tenant → root namespace → kubeconfig → status; on deletion: tenant → namespaces → finalizer.

import { StatusError, isAlreadyExists, isConflict, isNotFound, notFound } from "../apimachinery/status.ts"
import { isNamespaceTerminating } from "../client/namespace-terminating.ts"
import { clusterVersions, virtualClusters } from "../client/resources.ts"
import { pointsTo, redirected, type Tenant, type TenantAdmin, type TenantFault } from "../client/tenants.ts"
import { claimsOf, isOf, type Claim } from "./claims.ts"
import { Obstacle, nameTaken, namespaceTaken, noSuchVersion } from "./obstacle.ts"
import { operatorLimits } from "./options.ts"
import { Reports, type ReportsParts } from "./reports.ts"
import {
  ensureRootNamespace,
  removeNamespaces,
  type StoredKubeconfig,
  storeKubeconfig,
  storedKubeconfig,
} from "./root-namespace.ts"
import { LabelledNamespaces } from "./labelled-namespaces.ts"
import type { VirtualCluster, VirtualClusterStatus } from "./types.ts"

export const finalizer = "tenancy.x-k8s.io/tenant"
const storeUnusable = "TenantStoreUnusable"
const defaultClusterDomain = "cluster.local"

interface VirtualClusterParts extends ReportsParts {
  tenants: TenantAdmin
  /** As far as is known: a ClusterVersion that has just been created may be missing. */
  hasVersion(name: string): boolean
}

type Outcome = void | { requeueAfterMs: number }

export class VirtualClusterReconciler {
  readonly #parts: VirtualClusterParts
  readonly #reports: Reports
  readonly #namespaces: LabelledNamespaces
  /** Uids of tenants whose kubeconfig this process has compared with the gateway's address, which may have changed. */
  readonly #compared = new Set<string>()
  readonly #byClusterKey = new Map<string, Tenant>()
  /** Messages about tenants that the gateway cannot serve, by name. */
  #faults: ReadonlyMap<string, string> = new Map()

  constructor(parts: VirtualClusterParts) {
    this.#parts = parts
    this.#reports = new Reports(parts)
    this.#namespaces = new LabelledNamespaces(parts.superClient)
  }

  /** Keeps track of the existing tenants. Returns a function that stops it. */
  follow(): () => void {
    return this.#parts.tenants.subscribe({
      added: (tenant) => this.#byClusterKey.set(tenant.clusterKey, tenant),
      removed: ({ clusterKey, uid }) => {
        if (this.#byClusterKey.get(clusterKey)?.uid === uid) this.#byClusterKey.delete(clusterKey)
        this.#compared.delete(uid)
      },
    })
  }

  /** Returns the owners of tenants for which this is new. */
  noteFaults(faults: readonly TenantFault[]): Tenant["virtualCluster"][] {
    const before = this.#faults
    this.#faults = new Map(faults.map(({ tenant, message }) => [tenant, message]))
    const names = new Set([...before.keys(), ...this.#faults.keys()])
    const changed = [...names].filter((name) => before.get(name) !== this.#faults.get(name))
    const owners = changed.flatMap((name) => this.#parts.tenants.get(name)?.virtualCluster ?? [])
    for (const owner of owners) this.#reports.demand(owner)
    return owners
  }

  /** Returns the owner of the tenant whose kubeconfig was there, which has to be reconciled. */
  kubeconfigRemoved(namespace: string): Tenant["virtualCluster"] | undefined {
    const owner = this.#byClusterKey.get(namespace)?.virtualCluster
    if (owner !== undefined) this.#reports.demand(owner)
    return owner
  }

  async reconcile(virtualCluster: VirtualCluster): Promise<Outcome> {
    const isLeaving = virtualCluster.metadata.deletionTimestamp !== undefined
    if (!isLeaving && this.#reports.isOwnChange(virtualCluster))
      return { requeueAfterMs: operatorLimits.kubeconfigMaxAgeMs / 2 }
    try {
      return await (isLeaving ? this.#remove(virtualCluster) : this.#make(virtualCluster))
    } catch (error) {
      if (error instanceof Obstacle) {
        const { phase, reason, message } = error
        await this.#reports.report(virtualCluster, { phase, reason, message })
        return { requeueAfterMs: operatorLimits.recheckMs }
      }
      // Conflicts, and what waits for the end of a namespace, are retried silently; other errors are reported in the status as well.
      const isRace = isConflict(error) || isNotFound(error) || isNamespaceTerminating(error)
      if (!isRace && error instanceof StatusError) {
        const reason = isLeaving ? "TenantDeletionError" : "TenantControlPlaneError"
        await this.#reports.report(virtualCluster, { phase: "Pending", reason, message: error.message })
      }
      throw error
    }
  }

  async #make(virtualCluster: VirtualCluster): Promise<Outcome> {
    const { spec, status } = virtualCluster
    const { superClient } = this.#parts
    const claim = this.#claimOf(virtualCluster)
    const { identity, clusterKey } = claim
    this.#checkNames(identity, clusterKey)
    await this.#checkVersion(spec?.clusterVersionName ?? "")
    await this.#ensureFinalizer(virtualCluster, this.#parts.tenants.get(identity.name) === undefined)
    const making = this.#createTenant(requestOf(claim, spec))
    const isNew = status?.phase === undefined
    const made = Promise.all([making, ensureRootNamespace(superClient, clusterKey, identity, isNew)])
    if (isNew) await this.#reports.reportIfSlow(virtualCluster, clusterKey, made)
    const [tenant, isOwnNamespace] = await made
    if (!isOwnNamespace) throw namespaceTaken(`namespace "${clusterKey}" of the super cluster is not this tenant's`)
    const fault = await this.#faultOf(tenant.name, status)
    if (fault !== undefined) throw new Obstacle("Error", storeUnusable, fault)
    await this.#ensureKubeconfig(tenant, isNew)
    await this.#reports.report(virtualCluster, {
      phase: "Running",
      reason: "TenantControlPlaneRunning",
      message: `tenant "${tenant.name}" is served`,
      clusterNamespace: clusterKey,
      quota: tenant.quota,
    })
    return { requeueAfterMs: operatorLimits.kubeconfigMaxAgeMs / 2 }
  }

  /** After a restart the gateway has not tried yet: a tenant that was reported runs again only once it has been opened. */
  async #faultOf(tenant: string, status: VirtualClusterStatus | undefined): Promise<string | undefined> {
    const fault = this.#faults.get(tenant)
    if (fault !== undefined || status?.reason !== storeUnusable) return fault
    try {
      await this.#parts.tenants.kubeconfig(tenant)
      return undefined
    } catch {
      return status.message // the gateway logs why, and reports it when it is asked for faults
    }
  }

  /** The claim that owns the tenant: of this VirtualCluster, or of a predecessor whose tenant it adopts. */
  #claimOf(virtualCluster: VirtualCluster): Claim {
    const [own, adopted] = claimsOf(virtualCluster)
    const tenant = this.#parts.tenants.get(own.identity.name)
    return adopted !== undefined && isOf(tenant, adopted.identity) ? adopted : own
  }

  /** Tenants that belong to none of these VirtualClusters. */
  orphans(all: readonly VirtualCluster[]): readonly Tenant[] {
    const claimed = new Set(all.flatMap(claimsOf).map(({ identity }) => identity.uid))
    return [...this.#byClusterKey.values()].filter((tenant) => !claimed.has(tenant.virtualCluster.uid))
  }

  #checkNames(identity: Tenant["virtualCluster"], clusterKey: string): void {
    const { tenants } = this.#parts
    if (clusterKey.length > operatorLimits.maxClusterKeyLength) {
      const message = `the names of the VirtualCluster and its namespace make "${clusterKey}", which is longer than ${operatorLimits.maxClusterKeyLength} bytes`
      throw new Obstacle("Error", "NameTooLong", message)
    }
    const named = tenants.get(identity.name)
    if (named !== undefined && named.virtualCluster.uid !== identity.uid) throw nameTaken(named, identity)
    const keyed = this.#byClusterKey.get(clusterKey)
    if (keyed !== undefined && keyed.virtualCluster.uid !== identity.uid) {
      throw namespaceTaken(`cluster namespace "${clusterKey}" belongs to tenant "${keyed.name}"`)
    }
  }

  async #checkVersion(name: string): Promise<void> {
    if (this.#parts.hasVersion(name)) return
    try {
      await this.#parts.superClient.get(clusterVersions, undefined, name)
    } catch (error) {
      if (!isNotFound(error)) throw error
      throw noSuchVersion(name)
    }
  }

  async #createTenant(request: Omit<Tenant, "uid">): Promise<Tenant> {
    const { tenants } = this.#parts
    try {
      return await tenants.create(request)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      const present = tenants.get(request.name)
      throw present === undefined
        ? new Obstacle("Error", "NameTaken", error.message)
        : nameTaken(present, request.virtualCluster)
    }
  }

  /**
   * `isMaking`: no tenant is known. A leader that was paused goes on with what it knew: of a VirtualCluster that is gone it would make a tenant that
   * nobody removes. Throws NotFound or Conflict then.
   */
  async #ensureFinalizer({ metadata }: VirtualCluster, isMaking: boolean): Promise<void> {
    const { finalizers = [], namespace, name = "", uid, resourceVersion } = metadata
    if (finalizers.includes(finalizer)) {
      if (!isMaking) return
      const current = await this.#parts.superClient.get(virtualClusters, namespace, name)
      if (current.metadata.uid !== uid) throw notFound(virtualClusters, name)
      return
    }
    const patch = { metadata: { uid, resourceVersion, finalizers: [...finalizers, finalizer] } }
    await this.#parts.superClient.patch(virtualClusters, namespace, name, patch, { type: "merge" })
  }

  /** `isNew`: probably no kubeconfig is stored yet. */
  async #ensureKubeconfig(tenant: Tenant, isNew: boolean): Promise<void> {
    const { superClient, tenants, clock } = this.#parts
    const stored = isNew ? undefined : await storedKubeconfig(superClient, tenant.clusterKey)
    const now = clock.now()
    const isFresh =
      stored !== undefined &&
      stored.tenantUID === tenant.uid &&
      now - stored.issuedAt < operatorLimits.kubeconfigMaxAgeMs
    if (isFresh && this.#compared.has(tenant.uid)) return
    if (!isFresh || !(await this.#pointToGateway(tenant, stored))) {
      const text = await tenants.kubeconfig(tenant)
      await storeKubeconfig(superClient, tenant, { text, issuedAt: now, isStored: stored !== undefined })
    }
    this.#compared.add(tenant.uid)
  }

  /**
   * The gateway's address may have changed. The certificate is kept then, with its age, and the tenant is not woken. Returns false if
   * somebody has rewritten the kubeconfig.
   */
  async #pointToGateway(tenant: Tenant, { text, issuedAt }: StoredKubeconfig): Promise<boolean> {
    const { superClient, tenants } = this.#parts
    const address = await tenants.address(tenant.name)
    if (pointsTo(text, address)) return true
    const moved = redirected(text, address)
    if (!pointsTo(moved, address)) return false
    await storeKubeconfig(superClient, tenant, { text: moved, issuedAt, isStored: true })
    return true
  }

  async #remove(virtualCluster: VirtualCluster): Promise<void> {
    const { namespace = "", name = "", uid = "", resourceVersion, finalizers = [] } = virtualCluster.metadata
    this.#reports.forget(virtualCluster)
    if (!finalizers.includes(finalizer)) return
    const { superClient } = this.#parts
    // Both claims, in every retry: once the tenant is deleted, its owner is no longer known.
    for (const claim of claimsOf(virtualCluster)) await this.#removeTenant(claim)
    const rest = finalizers.filter((one) => one !== finalizer)
    const patch = { metadata: { uid, resourceVersion, finalizers: rest } }
    try {
      await superClient.patch(virtualClusters, namespace, name, patch, { type: "merge" })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async #removeTenant({ identity, clusterKey }: Claim): Promise<void> {
    const { superClient, tenants } = this.#parts
    // Even if no tenant is known: the list may be behind, and one whose creation failed may have been recorded.
    await tenants.delete({ name: identity.name, owner: identity })
    await removeNamespaces(superClient, this.#namespaces, { clusterKey, uid: identity.uid })
  }
}

function requestOf({ identity, clusterKey }: Claim, spec: Partial<VirtualCluster["spec"]> = {}): Omit<Tenant, "uid"> {
  const { clusterDomain = "", transparentMetaPrefixes = [], opaqueMetaPrefixes = [], controllers = true, quota } = spec
  return {
    name: identity.name,
    virtualCluster: identity,
    clusterKey,
    clusterDomain: clusterDomain === "" ? defaultClusterDomain : clusterDomain,
    transparentMetaPrefixes,
    opaqueMetaPrefixes,
    controllers,
    ...(quota === undefined ? {} : { quota }),
  }
}
