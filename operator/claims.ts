// Which tenant a VirtualCluster has. Mostly it is the one made for it; where a backup of the super cluster has brought a
// VirtualCluster back with another uid, or one of the data directory a tenant whose VirtualCluster is gone, an annotation says
// that it is to have the tenant of the one before it. Only one of the same namespace and name can say so.

import { adoptAnnotation, clusterKey as clusterKeyOf } from "../apimachinery/tenancy.ts"
import type { Tenant } from "../client/tenants.ts"
import type { VirtualCluster } from "./types.ts"

/** Whose a tenant is, and its cluster key then. */
export interface Claim {
  identity: Tenant["virtualCluster"]
  clusterKey: string
}

/** Its own, and that of the VirtualCluster of its name whose tenant it adopts. */
export function claimsOf({ metadata, status }: VirtualCluster): readonly [own: Claim, ...adopted: Claim[]] {
  const { namespace = "", name = "", uid = "", annotations } = metadata
  const identity = { namespace, name, uid }
  const adopts = annotations?.[adoptAnnotation]
  const adopted = adopts === undefined ? undefined : { ...identity, uid: adopts }
  const key = status?.clusterNamespace
  // Once it has adopted, the cluster key it reports is the tenant's.
  if (adopted === undefined) return [{ identity, clusterKey: key ?? clusterKeyOf(identity) }]
  const adoptedKey = clusterKeyOf(adopted)
  const own = { identity, clusterKey: key === undefined || key === adoptedKey ? clusterKeyOf(identity) : key }
  return [own, { identity: adopted, clusterKey: adoptedKey }]
}

export function isOf(tenant: Tenant | undefined, { namespace, uid }: Tenant["virtualCluster"]): boolean {
  return tenant?.virtualCluster.uid === uid && tenant.virtualCluster.namespace === namespace
}
