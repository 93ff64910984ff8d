// The association of VirtualClusters and tenants. Usually a tenant was created for its VirtualCluster. After the super cluster
// was restored from a backup, a VirtualCluster may have another uid, and after the data directory was restored, a tenant may have
// lost its VirtualCluster; an annotation then makes the VirtualCluster adopt its predecessor's tenant. It must have the same
// namespace and name.

import { adoptAnnotation, clusterKey as clusterKeyOf } from "../apimachinery/tenancy.ts"
import type { Tenant } from "../client/tenants.ts"
import type { VirtualCluster } from "./types.ts"

/** The owner of a tenant, and the tenant's cluster key. */
export interface Claim {
  identity: Tenant["virtualCluster"]
  clusterKey: string
}

/** The VirtualCluster's own claim, and that of the predecessor with its name whose tenant it adopts. */
export function claimsOf({ metadata, status }: VirtualCluster): readonly [own: Claim, ...adopted: Claim[]] {
  const { namespace = "", name = "", uid = "", annotations } = metadata
  const identity = { namespace, name, uid }
  const adopts = annotations?.[adoptAnnotation]
  const key = status?.clusterNamespace
  if (adopts === undefined) return [{ identity, clusterKey: key ?? clusterKeyOf(identity) }]
  const of = { ...identity, uid: adopts }
  const adopted = { identity: of, clusterKey: clusterKeyOf(of) }
  // After the adoption, the status contains the cluster key of the adopted tenant.
  const ownKey = key === adopted.clusterKey ? undefined : key
  return [{ identity, clusterKey: ownKey ?? clusterKeyOf(identity) }, adopted]
}

export function isOf(tenant: Tenant | undefined, { namespace, uid }: Tenant["virtualCluster"]): boolean {
  return tenant?.virtualCluster.uid === uid && tenant.virtualCluster.namespace === namespace
}
