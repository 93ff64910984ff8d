// Confirms with the API servers what cannot be taken back: caches may be outdated, and contain only marked objects.

import type { KubeObject } from "../apimachinery/object.ts"
import { isNotFound } from "../apimachinery/status.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import { ownership, recordedOwner } from "./conversion/ownership.ts"
import { superPlace } from "./conversion/super-object.ts"
import type { ResourceSync } from "./resources/resource-sync.ts"

/** Whether the tenant object of this copy exists. Unmarked super objects are not copies and must not be removed. */
export async function existsInTenant(
  sync: ResourceSync,
  client: KubeClient,
  superObject: KubeObject,
): Promise<boolean> {
  const owner = recordedOwner(superObject)
  if (owner === undefined) return true
  const { name = "" } = superObject.metadata
  const { namespaced } = sync.resource
  const tenantName = namespaced ? (sync.tenantName?.(name, superObject) ?? name) : owner.namespace
  const object = await find(client, sync, namespaced ? owner.namespace : undefined, tenantName)
  return object !== undefined && (owner.uid === undefined || object.metadata.uid === owner.uid)
}

/** What the tenant's object is before it is copied, read anew if a copy of what it was must not be made; undefined if it exists no more. */
export async function currentOf(
  sync: ResourceSync,
  client: KubeClient,
  object: KubeObject,
): Promise<KubeObject | undefined> {
  if (sync.isReadAnew?.(object) !== true) return object
  const { namespace, name = "", uid } = object.metadata
  const current = await find(client, sync, namespace, name)
  return current?.metadata.uid === uid ? current : undefined
}

/** Whether the tenant's object is in the state in which it was seen. If not, its event is still to come. */
export async function isAsSeen(sync: ResourceSync, client: KubeClient, { metadata }: KubeObject): Promise<boolean> {
  const current = await find(client, sync, metadata.namespace, metadata.name ?? "")
  return current?.metadata.uid === metadata.uid && current?.metadata.resourceVersion === metadata.resourceVersion
}

/** Reads the copy of exactly that object from super; undefined if there is none. */
export async function findCopy(
  sync: ResourceSync,
  superClient: KubeClient,
  tenant: Tenant,
  object: KubeObject,
): Promise<KubeObject | undefined> {
  const { namespace, name } = superPlace(sync, tenant, object.metadata.namespace, object.metadata.name ?? "")
  const superObject = await find(superClient, sync, namespace, name)
  return superObject !== undefined && ownership(superObject, tenant, object) === "ours" ? superObject : undefined
}

async function find(
  client: KubeClient,
  { resource }: ResourceSync,
  namespace: string | undefined,
  name: string,
): Promise<KubeObject | undefined> {
  try {
    return await client.get(resource, namespace, name)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
