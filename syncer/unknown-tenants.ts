// What the patrol (patrol.ts) has to know of tenants that are not in its list any more: whose a namespace is, whether its VirtualCluster
// is really gone, and which of its pods would outlive it.

import type { KubeObject } from "../apimachinery/object.ts"
import {
  rootNamespaceAnnotation,
  virtualClusterNameKey,
  virtualClusterNamespaceKey,
  virtualClusterUIDAnnotation,
} from "../apimachinery/tenancy.ts"
import { isConflict, isNotFound } from "../apimachinery/status.ts"
import { pods, virtualClusters } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import { recordedOwner } from "./conversion/ownership.ts"
import { syncerLimits } from "./options.ts"

const { unknownPodsGraceSeconds } = syncerLimits

export function endsLate({
  metadata: { deletionTimestamp, deletionGracePeriodSeconds: given = 0 },
}: KubeObject): boolean {
  return deletionTimestamp !== undefined && given > unknownPodsGraceSeconds
}

export async function endSoon(
  client: KubeClient,
  { metadata: { namespace, name = "", uid = "" } }: KubeObject,
): Promise<void> {
  try {
    await client.delete(pods, namespace, name, { uid, gracePeriodSeconds: unknownPodsGraceSeconds })
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}

/** The cluster key of a tenant's namespace, or of its root namespace, whose name is the key. */
export function clusterKeyOf(namespace: KubeObject): string | undefined {
  const isRoot = namespace.metadata.annotations?.[rootNamespaceAnnotation] === "true"
  return isRoot ? namespace.metadata.name : recordedOwner(namespace)?.clusterKey
}

export async function isVirtualClusterGone(client: KubeClient, { metadata }: KubeObject): Promise<boolean> {
  const name = metadata.annotations?.[virtualClusterNameKey]
  const home = metadata.annotations?.[virtualClusterNamespaceKey]
  const uid = metadata.annotations?.[virtualClusterUIDAnnotation]
  if (name === undefined || home === undefined || uid === undefined) return false
  try {
    const virtualCluster = await client.get(virtualClusters, home, name)
    return virtualCluster.metadata.uid !== uid
  } catch (error) {
    // A 404 without an object name means that VirtualClusters are not served, which proves nothing.
    if (isNotFound(error)) return error.status.details?.name === name
    throw error
  }
}
