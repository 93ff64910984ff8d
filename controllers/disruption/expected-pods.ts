// The expected number of a budget's pods: the sum of the sizes of the controllers of the pods it selects.
// Source: k8s.io/kubernetes/pkg/controller/disruption/disruption.go (getExpectedScale, finders).

import { controllerOf, parseGroupVersion, printGroupResource } from "../../apimachinery/object.ts"
import type { Deployment, KubeObject, OwnerReference, Pod, ReplicaSet, StatefulSet } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { deployments, replicaSets, replicationControllers, statefulSets } from "../../client/resources.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import type { ControllerContext } from "../context.ts"
import type { ReplicaObject } from "../replicaset/kinds.ts"
import { resourceOfVersion, type Scale } from "../scale.ts"

interface ExpectedPods {
  count: number
  /** Names of pods without a controller. */
  unmanaged: string[]
}

/** ReplicaSets were once in another group, which the owner references of old pods name. */
const replicaGroups = ["apps", "extensions"]

interface Sized {
  uid: string
  replicas: number
}

export async function expectedPods(
  ctx: ControllerContext,
  tenant: string,
  client: KubeClient,
  pods: readonly Pod[],
): Promise<ExpectedPods> {
  const sizes = new Map<string, number>()
  const known = new Set<string>()
  const unmanaged: string[] = []
  for (const pod of pods) {
    const owner = controllerOf(pod)
    const { namespace = "", name = "" } = pod.metadata
    if (owner === undefined) {
      unmanaged.push(name)
      continue
    }
    if (known.has(owner.uid)) continue
    known.add(owner.uid)
    const found = sizeInCache(ctx, tenant, namespace, owner) ?? (await sizeByScale(client, namespace, owner))
    if (found === undefined) throw new Error(`found no controllers for pod "${name}"`)
    sizes.set(found.uid, found.replicas)
  }
  return { count: [...sizes.values()].reduce((sum, size) => sum + size, 0), unmanaged }
}

/** For the kinds that have an informer anyway. For a Deployment's ReplicaSet, the Deployment's size counts. */
function sizeInCache(
  ctx: ControllerContext,
  tenant: string,
  namespace: string,
  { apiVersion, kind, name, uid }: OwnerReference,
): Sized | undefined {
  const { group } = parseGroupVersion(apiVersion)
  const sized = <T extends KubeObject & { spec?: { replicas?: number } }>(
    resource: Resource,
    of: { name: string; uid: string },
  ): Sized | undefined => {
    const object = ctx.informers.of<T>(resource).get(tenant, namespace, of.name)
    return object?.metadata.uid === of.uid ? { uid: of.uid, replicas: object.spec?.replicas ?? 1 } : undefined
  }
  if (group === "" && kind === "ReplicationController") {
    return sized<ReplicaObject>(replicationControllers, { name, uid })
  }
  if (kind === "StatefulSet" && group === "apps") return sized<StatefulSet>(statefulSets, { name, uid })
  if (kind !== "ReplicaSet" || !replicaGroups.includes(group)) return undefined
  const set = ctx.informers.of<ReplicaSet>(replicaSets).get(tenant, namespace, name)
  if (set?.metadata.uid !== uid) return undefined
  const deployment = set === undefined ? undefined : controllerOf(set)
  return deployment?.kind === "Deployment"
    ? sized<Deployment>(deployments, deployment)
    : sized<ReplicaSet>(replicaSets, { name, uid })
}

async function sizeByScale(client: KubeClient, namespace: string, owner: OwnerReference): Promise<Sized | undefined> {
  const resource = await resourceOfVersion(client, owner)
  if (resource === undefined) {
    throw new Error(`no matches for kind "${owner.kind}" in version "${owner.apiVersion}"`)
  }
  try {
    const scale = await client.get<Scale>(resource, namespace, owner.name, { subresource: "scale" })
    const { uid = "" } = scale.metadata
    return uid === owner.uid ? { uid, replicas: scale.spec?.replicas ?? 0 } : undefined
  } catch (error) {
    if (!isNotFound(error)) throw error
    if (resource.hasScale === true) return undefined
    throw new Error(`${printGroupResource(resource)} does not implement the scale subresource`, { cause: error })
  }
}
