// The caches of both sides: one multi-tenant watch per kind over all tenants, one informer per kind on the super cluster. Copies
// are selected there by label, so other objects in the super cluster cost nothing; nodes, volumes, classes and events have no
// such label and are cached completely.

import { isBindingDone } from "../../apimachinery/core/claim-binding.ts"
import { classOf } from "../../apimachinery/core/storage-classes.ts"
import type { KubeObject, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import {
  clusterAnnotation,
  controlledLabel,
  namespaceAnnotation,
  tokenPodNameAnnotation,
} from "../../apimachinery/tenancy.ts"
import type { Clock } from "../../client/clock.ts"
import { Informer } from "../../client/informers/informer.ts"
import { silentLog, type Log } from "../../client/log.ts"
import { events, namespaces, persistentVolumeClaims, pods, runtimeClasses, secrets } from "../../client/resources.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { TenantInformer } from "../../client/informers/tenant-informer.ts"
import type { Tenants } from "../../client/tenants.ts"
import { publications, resourceSyncs } from "../resources/index.ts"
import { isNominated } from "../resources/pod/status.ts"
import { isTokenSecret } from "../resources/pod/tokens.ts"
import type { View } from "../resources/resource-sync.ts"

const byTenant = "tenant"
const byTokenPod = "tokenPod"
const byNomination = "nomination"
const byAwaitedClass = "awaitedClass"

export class Caches {
  readonly #super = new Map<string, Informer<KubeObject>>()
  readonly #tenants = new Map<string, TenantInformer<KubeObject>>()

  constructor(options: { tenants: Tenants; superClient: KubeClient; clock: Clock; log: Log }) {
    const { tenants, superClient, clock } = options
    const log = errorsOnly(options.log)
    for (const { resource } of resourceSyncs) {
      const ofTenants = resource === pods ? { indexes: { [byNomination]: nomination } } : {}
      this.#tenants.set(resource.resource, new TenantInformer(tenants, resource, { ...ofTenants, log }))
      const indexes = {
        [byTenant]: (object: KubeObject) => present(object.metadata.annotations?.[clusterAnnotation]),
        ...(resource === secrets ? { [byTokenPod]: tokenPod } : {}),
        ...(resource === persistentVolumeClaims ? { [byAwaitedClass]: awaitedClass } : {}),
      }
      // Super's own runtime classes are needed too; they are few.
      const selected = resource === runtimeClasses ? {} : { labelSelector: `${controlledLabel}=true` }
      // At the start all tenants are asleep.
      const options = { ...selected, indexes, foldsLists: resource.namespaced, clock, log }
      this.#super.set(resource.resource, new Informer(superClient, resource, options))
    }
    for (const { resource } of publications) {
      this.#tenants.set(resource.resource, new TenantInformer(tenants, resource, { log }))
      this.#super.set(resource.resource, new Informer(superClient, resource, { clock, log }))
    }
    this.#super.set(events.resource, new Informer(superClient, events, { clock, log }))
  }

  /**
   * Resolves when super's caches have synced, or the signal ends. Tenants become ready one by one (isReady), and not before: one that
   * was delivered earlier might be asleep again, and what has changed in super since the previous process would not be seen.
   */
  async start(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#super.values()].map((informer) => informer.start(signal)))
    if (signal.aborted) return
    for (const informer of this.#tenants.values()) informer.start(signal)
  }

  get superReady(): boolean {
    for (const informer of this.#super.values()) if (!informer.synced) return false
    return true
  }

  /** No decision about a tenant is made before the caches of all its kinds, and of super, have synced. */
  isReady(tenant: string): boolean {
    if (!this.superReady) return false
    for (const informer of this.#tenants.values()) if (!informer.isSynced(tenant)) return false
    return true
  }

  superInformer(resource: Resource): Informer<KubeObject> {
    return found(this.#super.get(resource.resource), resource)
  }

  tenantInformer(resource: Resource): TenantInformer<KubeObject> {
    return found(this.#tenants.get(resource.resource), resource)
  }

  tenantInformers(): TenantInformer<KubeObject>[] {
    return [...this.#tenants.values()]
  }

  /** Super objects that are marked as the tenant's. */
  copiesOf(resource: Resource, clusterKey: string): KubeObject[] {
    return this.superInformer(resource).byIndex(byTenant, clusterKey)
  }

  /** Folds the copies of a sleeping tenant: they are not needed before it wakes or they change. */
  fold(resource: Resource, clusterKey: string): void {
    if (!resource.namespaced) return
    const copies = this.superInformer(resource)
    for (const { metadata } of this.copiesOf(namespaces, clusterKey)) copies.fold(metadata.name ?? "")
  }

  /** Token Secrets of pods with that name (keys.ts); there may be several while one pod replaces another. */
  tokenSecrets(clusterKey: string, namespace: string, pod: string): KubeObject[] {
    return this.superInformer(secrets).byIndex(byTokenPod, `${clusterKey} ${namespace} ${pod}`)
  }

  /** Copies of claims of all tenants that wait for a volume of this storage class. */
  claimsAwaiting(storageClass: string): KubeObject[] {
    return this.superInformer(persistentVolumeClaims).byIndex(byAwaitedClass, storageClass)
  }

  view(tenant: string): View {
    const tenantInformer = (resource: Resource): TenantInformer<KubeObject> => this.tenantInformer(resource)
    const superInformer = (resource: Resource): Informer<KubeObject> => this.superInformer(resource)
    return {
      tenantObject: <T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string) =>
        tenantInformer(resource).get(tenant, namespace, name) as T | undefined,
      tenantObjects: <T extends KubeObject>(resource: Resource, namespace?: string) =>
        tenantInformer(resource).list(tenant, namespace) as T[],
      superObject: <T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string) =>
        superInformer(resource).get(namespace, name) as T | undefined,
      nominatedPods: () => tenantInformer(pods).byIndex(tenant, byNomination, ""),
    }
  }
}

function found<T>(informer: T | undefined, resource: Resource): T {
  if (informer === undefined) throw new Error(`${resource.resource} are not watched`)
  return informer
}

const present = (value: string | undefined): string[] => (value === undefined ? [] : [value])

/** A single index value for all: they are few. */
const nomination = (object: KubeObject): string[] => (isNominated(object) ? [""] : [])

function awaitedClass(object: KubeObject): string[] {
  const claim = object as PersistentVolumeClaim
  return isBindingDone(claim) ? [] : [classOf(claim)]
}

function tokenPod(object: KubeObject): string[] {
  const annotations = object.metadata.annotations
  if (!isTokenSecret(object)) return []
  const pod = annotations?.[tokenPodNameAnnotation] ?? ""
  return [`${annotations?.[clusterAnnotation] ?? ""} ${annotations?.[namespaceAnnotation] ?? ""} ${pod}`]
}

/** Outages are reported once (reachability.ts), and not for each kind. */
const errorsOnly = (log: Log): Log => ({ ...silentLog, error: (fields, message) => log.error(fields, message) })
