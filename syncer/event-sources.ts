// Maps changes on either side to keys. Handlers run during the informers' event delivery, so they only enqueue keys.

import { isFinished } from "../apimachinery/core/pod-phase.ts"
import type { KubeObject, Node, PersistentVolume, PersistentVolumeClaim, Pod } from "../apimachinery/object.ts"
import type { InformerHandler } from "../client/informers/informer.ts"
import {
  endpoints,
  events,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  services,
  storageClasses,
} from "../client/resources.ts"
import type { Resource } from "../client/rest.ts"
import type { TenantInformerHandler } from "../client/informers/tenant-informer.ts"
import type { Tenant } from "../client/tenants.ts"
import type { Caches } from "./clusters/caches.ts"
import { recordedOwner } from "./conversion/ownership.ts"
import { isMirrored, type EventObject } from "./event-mirror.ts"
import { superKey } from "./key-of-super.ts"
import { keyOf, podTokens, superEvents, type SyncKey } from "./keys.ts"
import { publications, resourceSyncs, syncOf } from "./resources/index.ts"
import { isOnlyHeartbeat, tenantsOfChangedResources } from "./resources/node.ts"
import { isNominated } from "./resources/pod/status.ts"
import type { ResourceSync } from "./resources/resource-sync.ts"
import { samePlacement } from "./resources/virtual-node.ts"

interface EventSourceParts {
  caches: Caches
  /** Keys of a tenant that is not ready are not enqueued: it is compared completely when it becomes ready. */
  isReady(tenant: string): boolean
  readyTenants(): Tenant[]
  /** One of the tenant's super objects has changed; the tenant may be asleep. false: the super cluster is still being listed. */
  wake(tenant: string): boolean
  tenantOf(clusterKey: string): Tenant | undefined
  enqueue(key: SyncKey): void
  synced(tenant: string): void
  /** Called once for each kind of which objects were known. */
  asleep(tenant: string, resource: Resource): void
}

/** Subscribes to all informers. Returns a function that unsubscribes. */
export function connectEventSources(parts: EventSourceParts): () => void {
  const stops: (() => void)[] = []
  const { caches } = parts
  for (const informer of caches.tenantInformers()) {
    stops.push(informer.subscribe(tenantHandler(informer.resource, parts)))
  }
  for (const sync of resourceSyncs) {
    const enqueue = (superObject: KubeObject): void => enqueueOwner(sync, superObject, parts)
    const updated = (superObject: KubeObject, previous: KubeObject): void => {
      enqueue(superObject)
      if (!isOfSameOwner(superObject, previous)) enqueue(previous)
    }
    stops.push(caches.superInformer(sync.resource).subscribe({ added: enqueue, updated, deleted: enqueue }))
  }
  for (const { resource } of publications) {
    stops.push(caches.superInformer(resource).subscribe(publicationHandler(resource, parts)))
  }
  stops.push(caches.superInformer(events).subscribe(eventHandler(parts)))
  return () => {
    for (const stop of stops) stop()
  }
}

/** Somebody in super may have given it to another tenant. */
function isOfSameOwner(superObject: KubeObject, previous: KubeObject): boolean {
  const [is, was] = [recordedOwner(superObject), recordedOwner(previous)]
  return is?.clusterKey === was?.clusterKey && is?.namespace === was?.namespace
}

function enqueueOwner(sync: ResourceSync, superObject: KubeObject, parts: EventSourceParts): void {
  const tenant = parts.tenantOf(recordedOwner(superObject)?.clusterKey ?? "")
  if (tenant === undefined) return
  if (!parts.isReady(tenant.name)) {
    parts.wake(tenant.name)
    return
  }
  const key = superKey(sync, tenant.name, superObject)
  if (key !== undefined) parts.enqueue(key)
  if (sync.resource === persistentVolumeClaims) enqueueVolumeOf(superObject, tenant.name, parts)
}

function tenantHandler(resource: Resource, parts: EventSourceParts): TenantInformerHandler<KubeObject> {
  const enqueueObject = (tenant: string, object: KubeObject): void => {
    if (!parts.isReady(tenant)) return
    const { namespace, name = "" } = object.metadata
    parts.enqueue(keyOf(tenant, resource, namespace, name))
    // The Service determines whether its Endpoints are copied.
    if (resource === services) parts.enqueue(keyOf(tenant, endpoints, namespace, name))
    if (resource === persistentVolumeClaims) enqueueVolumeOf(object, tenant, parts)
  }
  return {
    added: (tenant, object) => {
      enqueueObject(tenant, object)
      if (resource === pods) enqueueNodeOf(tenant, object, parts)
      if (resource === nodes) enqueueUnscheduledPods(tenant, parts)
    },
    updated: (tenant, object, previous) => {
      enqueueObject(tenant, object)
      if (resource === nodes && !samePlacement(object, previous)) enqueueUnscheduledPods(tenant, parts)
      if (resource !== pods) return
      if (isNominated(previous) && !isNominated(object)) enqueueUnscheduledPods(tenant, parts)
      enqueueNodeOf(tenant, object, parts)
      if (isFinished(object as Pod)) enqueueTokens(tenant, object, parts)
    },
    deleted: (tenant, object) => {
      enqueueObject(tenant, object)
      if (resource === nodes) enqueueUnscheduledPods(tenant, parts)
      if (resource !== pods) return
      if (isNominated(object)) enqueueUnscheduledPods(tenant, parts)
      enqueueNodeOf(tenant, object, parts)
      enqueueTokens(tenant, object, parts)
    },
    synced: (tenant) => parts.synced(tenant),
    asleep: (tenant) => parts.asleep(tenant, resource),
  }
}

function enqueueTokens(tenant: string, { metadata }: KubeObject, parts: EventSourceParts): void {
  if (parts.isReady(tenant)) parts.enqueue(keyOf(tenant, podTokens, metadata.namespace, metadata.name ?? ""))
}

/** Enqueues pods without a node: their placement depends on the tenant's nodes and on preemption. */
function enqueueUnscheduledPods(tenant: string, parts: EventSourceParts): void {
  if (!parts.isReady(tenant)) return
  for (const { metadata, spec } of parts.caches.tenantInformer(pods).list(tenant) as Pod[]) {
    if ((spec?.nodeName ?? "") === "") parts.enqueue(keyOf(tenant, pods, metadata.namespace, metadata.name ?? ""))
  }
}

/** If only used nodes are published, pods determine which. If all are, the key causes little work. */
function enqueueNodeOf(tenant: string, pod: Pod, parts: EventSourceParts): void {
  const name = pod.spec?.nodeName ?? ""
  const published = parts.caches.tenantInformer(nodes).get(tenant, undefined, name)
  const isNew = published === undefined
  const isLast = pod.metadata.deletionTimestamp !== undefined
  if (name !== "" && (isNew || isLast) && parts.isReady(tenant)) parts.enqueue(keyOf(tenant, nodes, undefined, name))
}

/** A volume is published only when the claims on both sides are known. */
function enqueueVolumeOf(claim: KubeObject, tenant: string, parts: EventSourceParts): void {
  const volume = (claim as PersistentVolumeClaim).spec?.volumeName
  if (volume !== undefined && volume !== "") parts.enqueue(keyOf(tenant, persistentVolumes, undefined, volume))
}

function publicationHandler(resource: Resource, parts: EventSourceParts): InformerHandler<KubeObject> {
  const enqueuePublication = (object: KubeObject): void => {
    const { name = "" } = object.metadata
    for (const tenant of audience(resource, object, parts)) parts.enqueue(keyOf(tenant.name, resource, undefined, name))
    if (resource === storageClasses) enqueueClaimsAwaiting(name, parts)
  }
  return {
    added: enqueuePublication,
    updated: (object, previous) => {
      if (resource === nodes && isOnlyHeartbeat(previous, object)) enqueueResources(previous, object, parts)
      else enqueuePublication(object)
    },
    deleted: enqueuePublication,
  }
}

/** Claims may wait for a class that super has only now, and which may not be for tenants. */
function enqueueClaimsAwaiting(storageClass: string, parts: EventSourceParts): void {
  const sync = syncOf(persistentVolumeClaims)
  if (sync === undefined) return
  for (const claim of parts.caches.claimsAwaiting(storageClass)) enqueueOwner(sync, claim, parts)
}

/** The resources of a tenant on a node concern only that tenant, which may change them as often as it likes. */
function enqueueResources(before: Node, after: Node, parts: EventSourceParts): void {
  for (const clusterKey of tenantsOfChangedResources(before, after)) {
    const tenant = parts.tenantOf(clusterKey)
    if (tenant !== undefined && parts.isReady(tenant.name))
      parts.enqueue(keyOf(tenant.name, nodes, undefined, after.metadata.name ?? ""))
  }
}

/** Volumes concern one tenant; all other published objects concern all tenants. */
function audience(resource: Resource, object: KubeObject, parts: EventSourceParts): Tenant[] {
  if (resource !== persistentVolumes) return parts.readyTenants()
  const home = (object as PersistentVolume).spec?.claimRef?.namespace ?? ""
  const tenant = tenantOfNamespace(home, parts)
  return tenant === undefined ? [] : [tenant]
}

function tenantOfNamespace(superNamespace: string, parts: EventSourceParts): Tenant | undefined {
  const namespace = parts.caches.superInformer(namespaces).get(undefined, superNamespace)
  const owner = namespace === undefined ? undefined : recordedOwner(namespace)
  const tenant = owner === undefined ? undefined : parts.tenantOf(owner.clusterKey)
  return tenant !== undefined && (parts.isReady(tenant.name) || parts.wake(tenant.name)) ? tenant : undefined
}

function eventHandler(parts: EventSourceParts): InformerHandler<KubeObject> {
  const enqueueEvent = (event: KubeObject): void => {
    if (!isMirrored(event)) return
    const home = (event as EventObject).involvedObject.namespace ?? ""
    const tenant = tenantOfNamespace(home, parts)
    const namespace = parts.caches.superInformer(namespaces).get(undefined, home)
    const owner = namespace === undefined ? undefined : recordedOwner(namespace)
    if (tenant === undefined || owner === undefined) return
    parts.enqueue(keyOf(tenant.name, superEvents, owner.namespace, event.metadata.name ?? ""))
  }
  return { added: enqueueEvent, updated: enqueueEvent }
}
