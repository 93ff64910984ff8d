// The association of VirtualClusters and tenants. Usually a tenant was created for its VirtualCluster. After the super cluster
// was restored from a backup, a VirtualCluster may have another uid, and after the data directory was restored, a tenant may have
// lost its VirtualCluster; an annotation then makes the VirtualCluster adopt its predecessor's tenant. It must have the same
// namespace and name.

import { adoptAnnotation, clusterKey } from "../apimachinery/tenancy.ts"
import type { Tenant } from "../client/tenants.ts"
import type { VirtualCluster } from "./types.ts"

/** The owner of a tenant, and the tenant's cluster key. */
export interface Claim {
  identity: Tenant["virtualCluster"]
  clusterKey: string
}

/**
 * The VirtualCluster's own claim, and that of the predecessor with its name whose tenant it adopts. The status is not asked for the
 * cluster key: who may write it could choose the names of namespaces in the super cluster.
 */
export function claimsOf({ metadata }: VirtualCluster): readonly [own: Claim, ...adopted: Claim[]] {
  const { namespace = "", name = "", uid = "", annotations } = metadata
  const own = claimOf({ namespace, name, uid })
  const adopts = annotations?.[adoptAnnotation]
  return adopts === undefined ? [own] : [own, claimOf({ namespace, name, uid: adopts })]
}

function claimOf(identity: Claim["identity"]): Claim {
  return { identity, clusterKey: clusterKey(identity) }
}

export function isOf(tenant: Tenant | undefined, { namespace, uid }: Tenant["virtualCluster"]): boolean {
  return tenant?.virtualCluster.uid === uid && tenant.virtualCluster.namespace === namespace
}
