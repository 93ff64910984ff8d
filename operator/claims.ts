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
  const key = status?.clusterNamespace
  if (adopts === undefined) return [{ identity, clusterKey: key ?? clusterKeyOf(identity) }]
  const of = { ...identity, uid: adopts }
  const adopted = { identity: of, clusterKey: clusterKeyOf(of) }
  // Once it has adopted, the cluster key it reports is the tenant's.
  const ownKey = key === adopted.clusterKey ? undefined : key
  return [{ identity, clusterKey: ownKey ?? clusterKeyOf(identity) }, adopted]
}

export function isOf(tenant: Tenant | undefined, { namespace, uid }: Tenant["virtualCluster"]): boolean {
  return tenant?.virtualCluster.uid === uid && tenant.virtualCluster.namespace === namespace
}
