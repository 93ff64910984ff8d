// Determines the owner of a super object. It is checked before every write to the super cluster: a matching name is never
// sufficient.

import type { KubeObject } from "../../apimachinery/object.ts"
import { clusterAnnotation, namespaceAnnotation, uidAnnotation } from "../../apimachinery/tenancy.ts"
import type { Tenant } from "../../client/tenants.ts"

interface RecordedOwner {
  clusterKey: string
  /** The namespace in the tenant; for cluster-scoped objects, including Namespaces, their name in the tenant. */
  namespace: string
  /** Absent on namespaces that were created before their tenant object (service-addresses.ts). */
  uid: string | undefined
}

/** The owner recorded in the object's annotations, or undefined for objects that do not belong to a tenant. */
export function recordedOwner(superObject: KubeObject): RecordedOwner | undefined {
  const annotations = superObject.metadata.annotations
  const clusterKey = annotations?.[clusterAnnotation]
  const namespace = annotations?.[namespaceAnnotation]
  if (clusterKey === undefined || namespace === undefined) return undefined
  return { clusterKey, namespace, uid: annotations?.[uidAnnotation] }
}

/**
 * - ours: the copy of exactly this tenant object.
 * - stale: a copy of an earlier object of the same tenant with the same name.
 * - unmarked: created by a component of super, or for this tenant but not yet for a specific object.
 * - foreign: belongs to another tenant, or to another namespace of this one. Never touched.
 */
type Ownership = "ours" | "stale" | "unmarked" | "foreign"

export function ownership(superObject: KubeObject, tenant: Tenant, object: KubeObject): Ownership {
  const owner = recordedOwner(superObject)
  if (owner === undefined) return "unmarked"
  const { namespace, name, uid } = object.metadata
  if (owner.clusterKey !== tenant.clusterKey || owner.namespace !== (namespace ?? name)) return "foreign"
  if (owner.uid === undefined) return "unmarked"
  return owner.uid === uid ? "ours" : "stale"
}

/** Of two forms of a published object with the same name: they are of two super objects, one after the other. */
export function isOfAnother(desired: KubeObject, object: KubeObject): boolean {
  return desired.metadata.annotations?.[uidAnnotation] !== object.metadata.annotations?.[uidAnnotation]
}
