// Whose a super object is. Every write to the super cluster is preceded by this question: names alone never decide.

import type { KubeObject } from "../../apimachinery/object.ts"
import { clusterAnnotation, namespaceAnnotation, uidAnnotation } from "../../apimachinery/tenancy.ts"
import type { Tenant } from "../../client/tenants.ts"

export interface RecordedOwner {
  clusterKey: string
  /** The namespace in the tenant; of what lies in none, Namespaces too: its own name there. */
  namespace: string
  /** Absent on namespaces made ahead of their tenant object (service-addresses.ts). */
  uid: string | undefined
}

/** What the object's annotations say, or undefined for objects that are not a tenant's. */
export function recordedOwner(superObject: KubeObject): RecordedOwner | undefined {
  const annotations = superObject.metadata.annotations
  const clusterKey = annotations?.[clusterAnnotation]
  const namespace = annotations?.[namespaceAnnotation]
  if (clusterKey === undefined || namespace === undefined) return undefined
  return { clusterKey, namespace, uid: annotations?.[uidAnnotation] }
}

/**
 * - ours: the copy of exactly this tenant object.
 * - stale: a copy of an earlier object of that name of the same tenant.
 * - unmarked: made by something in super itself, or for this tenant without naming an object yet.
 * - foreign: another tenant's, or of another namespace of this one. Never touched.
 */
export type Ownership = "ours" | "stale" | "unmarked" | "foreign"

export function ownership(superObject: KubeObject, tenant: Tenant, object: KubeObject): Ownership {
  const owner = recordedOwner(superObject)
  if (owner === undefined) return "unmarked"
  const { namespace, name, uid } = object.metadata
  if (owner.clusterKey !== tenant.clusterKey || owner.namespace !== (namespace ?? name)) return "foreign"
  if (owner.uid === undefined) return "unmarked"
  return owner.uid === uid ? "ours" : "stale"
}
