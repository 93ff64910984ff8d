// Reads other objects of the same control plane during admission.

import type { GroupVersionResource, KubeObject } from "../../../apimachinery/object.ts"
import { isNotFound } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import { builtIn } from "../../registry/internal-write.ts"

export async function find<T extends KubeObject>(
  ctx: RequestContext,
  resource: GroupVersionResource,
  namespace: string,
  name: string,
): Promise<T | undefined> {
  try {
    return (await builtIn(ctx, resource).get(ctx, namespace, name)).object() as T
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

export async function listAll<T extends KubeObject>(
  ctx: RequestContext,
  resource: GroupVersionResource,
  namespace?: string,
): Promise<T[]> {
  const options = namespace === undefined ? {} : { namespace }
  const { items } = await builtIn(ctx, resource).list(ctx, options)
  return items.map((item) => item.object() as T)
}

export const nodes = { group: "", version: "v1", resource: "nodes" }
export const pods = { group: "", version: "v1", resource: "pods" }
export const namespaces = { group: "", version: "v1", resource: "namespaces" }
export const serviceAccounts = { group: "", version: "v1", resource: "serviceaccounts" }
export const limitRanges = { group: "", version: "v1", resource: "limitranges" }
export const resourceClaims = { group: "resource.k8s.io", version: "v1", resource: "resourceclaims" }
export const deviceClasses = { group: "resource.k8s.io", version: "v1", resource: "deviceclasses" }
export const resourceQuotas = { group: "", version: "v1", resource: "resourcequotas" }
export const priorityClasses = { group: "scheduling.k8s.io", version: "v1", resource: "priorityclasses" }
export const storageClasses = { group: "storage.k8s.io", version: "v1", resource: "storageclasses" }
export const ingressClasses = { group: "networking.k8s.io", version: "v1", resource: "ingressclasses" }
export const runtimeClasses = { group: "node.k8s.io", version: "v1", resource: "runtimeclasses" }
