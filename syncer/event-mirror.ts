// Copies the super cluster's Events about a tenant's pods, services and claims to the tenant: they refer to the tenant's object,
// with names and uids translated, and their counts are updated.

import { dictionary } from "../apimachinery/dictionary.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import type { KubeObject } from "../apimachinery/object.ts"
import { isAlreadyExists, isConflict, isNotFound } from "../apimachinery/status.ts"
import { events, persistentVolumeClaims, pods, services } from "../client/resources.ts"
import type { Resource } from "../client/rest.ts"
import type { Tenant, Tenants, TenantUse } from "../client/tenants.ts"
import type { Caches } from "./clusters/caches.ts"
import { scrubText } from "../apimachinery/tenant-texts.ts"
import { inTenant, isRefusedByTenant } from "./failures.ts"
import type { SyncKey } from "./keys.ts"

interface ObjectReference {
  kind?: string
  name?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
}

/** core/v1 Event, with the fields used here. */
export interface EventObject extends KubeObject {
  involvedObject: ObjectReference
  message?: string
}

const mirroredKinds: Readonly<Record<string, Resource>> = dictionary({
  Pod: pods,
  Service: services,
  PersistentVolumeClaim: persistentVolumeClaims,
})

export const isMirrored = (event: KubeObject): boolean =>
  mirroredKinds[(event as Partial<EventObject>).involvedObject?.kind ?? ""] !== undefined

export class EventMirror {
  readonly #tenants: Tenants
  readonly #caches: Caches

  constructor(tenants: Tenants, caches: Caches) {
    this.#tenants = tenants
    this.#caches = caches
  }

  async reconcile(key: SyncKey, use?: TenantUse): Promise<void> {
    const tenant = this.#tenants.get(key.tenant)
    if (tenant === undefined) return
    const home = superNamespace(tenant.clusterKey, key.namespace)
    const event = this.#caches.superInformer(events).get(home, key.name) as EventObject | undefined
    const resource = mirroredKinds[event?.involvedObject.kind ?? ""]
    if (event === undefined || resource === undefined) return
    const view = this.#caches.view(tenant.name)
    const object = view.tenantObject(resource, key.namespace, event.involvedObject.name ?? "")
    if (object === undefined) return
    const { resourceVersion: _version, uid: superUID, ...reference } = event.involvedObject
    const copy = view.superObject(resource, home, event.involvedObject.name ?? "")
    // Events about an earlier object keep only the name, because events of the present object are selected by uid.
    const isOfEarlier = superUID !== undefined && copy !== undefined && copy.metadata.uid !== superUID
    const uid = isOfEarlier ? "" : object.metadata.uid
    const names = { tenant, namespace: key.namespace, superNamespace: home, uid, superUID }
    // `related` is omitted: it may be any object of the super cluster, under its name there.
    const { metadata: _metadata, related: _related, ...contents } = event
    const wanted: EventObject = {
      ...contents,
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: key.name, namespace: key.namespace },
      involvedObject: { ...reference, namespace: key.namespace, ...(uid === undefined || uid === "" ? {} : { uid }) },
      ...(event.message === undefined ? {} : { message: scrubText(event.message, names) }),
    }
    await this.#write(tenant, wanted, use)
  }

  /** Most events occur once; only for a repetition does the Event exist already. One that the tenant's admission refuses is lost. */
  async #write(tenant: Tenant, wanted: EventObject, use?: TenantUse): Promise<void> {
    const { namespace, name = "" } = wanted.metadata
    const client = this.#tenants.client(tenant, use)
    try {
      await inTenant(client.create(events, wanted))
      return
    } catch (error) {
      if (isRefusedByTenant(error)) return
      if (!isAlreadyExists(error)) throw error
    }
    const patch: Record<string, unknown> = {}
    for (const field of ["count", "lastTimestamp", "series", "message"]) {
      if (wanted[field] !== undefined) patch[field] = wanted[field]
    }
    try {
      await inTenant(client.patch(events, namespace, name, patch, { type: "merge" }))
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error) && !isRefusedByTenant(error)) throw error
    }
  }
}
