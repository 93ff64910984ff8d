// Caches lag, and see only what is marked. Before anything is lost by what they say, the server itself is asked.

import type { KubeObject } from "../apimachinery/object.ts"
import { isNotFound } from "../apimachinery/status.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import { ownership, recordedOwner } from "./conversion/ownership.ts"
import { superPlace } from "./conversion/super-object.ts"
import type { ResourceSync } from "./resources/resource-sync.ts"

/** Whether the tenant has the object that the super object is the copy of. Unmarked ones are nobody's copy to remove. */
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

/** The copy of exactly that object, if super has it. */
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
