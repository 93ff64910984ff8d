// Builds a kind's super object from the content that the kind determines and the metadata that every copy has.

import type { KubeObject } from "../../apimachinery/object.ts"
import { superNamespace } from "../../apimachinery/tenancy.ts"
import type { Tenant } from "../../client/tenants.ts"
import type { ResourceSync, SyncContext } from "../resources/resource-sync.ts"
import { superMetadata } from "./metadata.ts"

export interface Place {
  namespace: string | undefined
  name: string
}

/** Namespace and name of the copy of a tenant's object. */
export function superPlace(sync: ResourceSync, tenant: Tenant, namespace: string | undefined, name: string): Place {
  if (!sync.resource.namespaced) return { namespace: undefined, name: superNamespace(tenant.clusterKey, name) }
  return { namespace: superNamespace(tenant.clusterKey, namespace ?? ""), name: sync.superName?.(name) ?? name }
}

export function buildSuperObject(sync: ResourceSync, object: KubeObject, context: SyncContext): KubeObject {
  const { metadata } = object
  const place = superPlace(sync, context.tenant, metadata.namespace, metadata.name ?? "")
  const made = superMetadata(sync.kind, object, context.tenant, place)
  const extra = { ...sync.annotations?.(object, context), ...sync.firstAnnotations?.(object, context) }
  made.annotations = { ...made.annotations, ...extra }
  return { ...sync.toSuper(object, context), metadata: made }
}
