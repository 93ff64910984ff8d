// Upward direction: publishes super's objects in tenants. The desired object is derived from super's, and created, updated or
// deleted in the tenant. An object that the tenant created under the same name is left alone.

import { createHash } from "node:crypto"
import type { KubeObject } from "../apimachinery/object.ts"
import { isAlreadyExists, isConflict, isNotFound } from "../apimachinery/status.ts"
import type { EventRecorder } from "../client/events.ts"
import { namespaces } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant, Tenants, TenantUse } from "../client/tenants.ts"
import type { Caches } from "./clusters/caches.ts"
import { inTenant, isOfTenant, isRefusal } from "./failures.ts"
import type { SyncKey } from "./keys.ts"
import { publications } from "./resources/index.ts"
import type { Patch, Publication, SyncContext } from "./resources/resource-sync.ts"

export interface PublisherParts {
  tenants: Tenants
  superClient: KubeClient
  caches: Caches
  contextOf: (tenant: Tenant) => SyncContext
  events: EventRecorder
}

export class Publisher {
  readonly #tenants: Tenants
  readonly #superClient: KubeClient
  readonly #caches: Caches
  readonly #contextOf: (tenant: Tenant) => SyncContext
  readonly #events: EventRecorder
  /**
   * By tenant, and kind and name, what was published anew last, as long as it is published. Of what the tenant's own webhooks make of it,
   * nothing is new.
   */
  readonly #anew = new Map<string, Map<string, string>>()

  constructor({ tenants, superClient, caches, contextOf, events }: PublisherParts) {
    this.#tenants = tenants
    this.#superClient = superClient
    this.#caches = caches
    this.#contextOf = contextOf
    this.#events = events
  }

  async reconcile(key: SyncKey, use?: TenantUse): Promise<void> {
    const tenant = this.#tenants.get(key.tenant)
    const kind = publications.find(({ resource }) => resource.resource === key.resource)
    if (tenant !== undefined && kind !== undefined) await this.publish(kind, tenant, key.name, use)
  }

  /** Reconciles one name. Also called directly, outside the queue, before a pod is bound to a node. */
  async publish(kind: Publication, tenant: Tenant, name: string, use?: TenantUse): Promise<void> {
    const context = this.#contextOf(tenant)
    // What one side refuses does not keep the other from what is known.
    const inTheTenant = await failureOf(inTenant(this.#publish(kind, context, name, use)))
    const inSuper = await failureOf(this.#claim(kind, context, name))
    // What the tenant refuses, or fails to do, is hardly tried again while it sleeps; what super has not answered is.
    const isSuperFirst = isOfTenant(inTheTenant) && !isRefusal(inSuper)
    const failure = isSuperFirst ? (inSuper ?? inTheTenant) : (inTheTenant ?? inSuper)
    if (failure !== undefined) throw failure
  }

  async #publish(kind: Publication, context: SyncContext, name: string, use?: TenantUse): Promise<void> {
    const { tenant, view } = context
    const client = this.#tenants.client(tenant, use)
    const desired = this.desired(kind, context, name)
    const object = view.tenantObject(kind.resource, undefined, name)
    if (desired === undefined) {
      this.#anew.get(tenant.name)?.delete(idOf(kind, name))
      if (object !== undefined && kind.isPublished(object)) await remove(kind, client, object)
      return
    }
    if (object === undefined) return create(kind, client, desired)
    if (!kind.isPublished(object)) return
    if (this.#isOutdated(kind, desired, object, context)) {
      this.#noteAnew(kind, tenant, desired)
      await remove(kind, client, object)
      return create(kind, client, desired)
    }
    // Items of lists have no kind.
    this.#tellUnclaimed(kind, context, { ...object, apiVersion: desired.apiVersion, kind: desired.kind })
    await patch(kind, client, object, kind.changed(desired, object))
  }

  async #claim(kind: Publication, context: SyncContext, name: string): Promise<void> {
    const claim = this.#claimOf(kind, context, name)
    const superObject = context.view.superObject(kind.resource, undefined, name)
    if (claim !== undefined && superObject !== undefined) await patch(kind, this.#superClient, superObject, [claim])
  }

  #tellUnclaimed(kind: Publication, context: SyncContext, object: KubeObject): void {
    const superObject = context.view.superObject(kind.resource, undefined, object.metadata.name ?? "")
    const message = superObject === undefined ? undefined : kind.unclaimed?.(object, superObject, context)
    if (message === undefined) return
    const { tenant } = context
    // Nobody in the tenant waits for it: it may sleep.
    const client = this.#tenants.client(tenant, { isUse: false })
    this.#events.event(client, object, "Warning", "FailedSync", message, tenant.name)
  }

  #claimOf(kind: Publication, context: SyncContext, name: string): Patch | undefined {
    const superObject = context.view.superObject(kind.resource, undefined, name)
    if (kind.claim === undefined || superObject === undefined) return undefined
    const object = context.view.tenantObject(kind.resource, undefined, name)
    return kind.claim(object !== undefined && kind.isPublished(object) ? object : undefined, superObject, context)
  }

  /** Whether publish() would change anything. */
  differs(kind: Publication, context: SyncContext, name: string): boolean {
    if (this.#claimOf(kind, context, name) !== undefined) return true
    const desired = this.desired(kind, context, name)
    const object = context.view.tenantObject(kind.resource, undefined, name)
    if (object === undefined || desired === undefined) {
      return object === undefined ? desired !== undefined : kind.isPublished(object)
    }
    if (!kind.isPublished(object)) return false
    return this.#isOutdated(kind, desired, object, context) || kind.changed(desired, object).length > 0
  }

  #isOutdated(kind: Publication, desired: KubeObject, object: KubeObject, context: SyncContext): boolean {
    if (kind.outdated?.(desired, object, context) !== true) return false
    return this.#anew.get(context.tenant.name)?.get(idOf(kind, desired.metadata.name)) !== digestOf(desired)
  }

  #noteAnew(kind: Publication, { name }: Tenant, desired: KubeObject): void {
    const ofTenant = this.#anew.get(name) ?? new Map<string, string>()
    this.#anew.set(name, ofTenant.set(idOf(kind, desired.metadata.name), digestOf(desired)))
  }

  /** The tenant is gone. */
  forget(tenant: string): void {
    this.#anew.delete(tenant)
  }

  desired(kind: Publication, context: SyncContext, name: string): KubeObject | undefined {
    const superObject = context.view.superObject(kind.resource, undefined, name)
    if (superObject === undefined || superObject.metadata.deletionTimestamp !== undefined) return undefined
    if (kind.clusterKey !== undefined) {
      const clusterKey = kind.clusterKey(superObject, (namespace) => this.findNamespace(namespace))
      if (clusterKey !== context.tenant.clusterKey) return undefined
    }
    return kind.toTenant(superObject, context)
  }

  findNamespace(superNamespace: string): KubeObject | undefined {
    return this.#caches.superInformer(namespaces).get(undefined, superNamespace)
  }
}

const idOf = ({ resource }: Publication, name = ""): string => `${resource.resource}/${name}`

/** Of what can only be published anew. */
function digestOf(desired: KubeObject): string {
  return createHash("sha256")
    .update(JSON.stringify({ ...desired, status: undefined }))
    .digest("base64")
}

async function create(kind: Publication, client: KubeClient, desired: KubeObject): Promise<void> {
  let object: KubeObject
  try {
    object = await client.create(kind.resource, desired)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    object = await client.get(kind.resource, undefined, desired.metadata.name ?? "")
    if (!kind.isPublished(object)) return
  }
  await patch(kind, client, object, kind.changed(desired, object))
}

async function patch(kind: Publication, client: KubeClient, object: KubeObject, patches: Patch[]): Promise<void> {
  const { name = "", uid } = object.metadata
  for (const { patch: change, subresource } of patches) {
    const metadata = { ...(change["metadata"] as object | undefined), uid }
    const options = { type: "merge" as const, fieldManager: "polyplane-syncer" }
    await client.patch(
      kind.resource,
      undefined,
      name,
      { ...change, metadata },
      {
        ...options,
        ...(subresource === undefined ? {} : { subresource }),
      },
    )
  }
}

/** Protection finalizers protect storage in use; this object is only a representation of it. */
async function remove(kind: Publication, client: KubeClient, object: KubeObject): Promise<void> {
  const { name = "", uid, finalizers, deletionTimestamp } = object.metadata
  try {
    if (deletionTimestamp === undefined) {
      await client.delete(kind.resource, undefined, name, {
        ...(uid === undefined ? {} : { uid }),
        gracePeriodSeconds: 0,
      })
    }
    if ((finalizers?.length ?? 0) > 0) {
      await client.patch(kind.resource, undefined, name, { metadata: { uid, finalizers: null } }, { type: "merge" })
    }
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}

async function failureOf(work: Promise<void>): Promise<Error | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    return error as Error
  }
}
