// Reads other objects of the same control plane during admission.

import type { GroupVersionResource, KubeObject } from "../../../apimachinery/object.ts"
import { isNotFound } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import { builtIn } from "../../registry/generic/internal-write.ts"

export async function find<T extends KubeObject>(
  ctx: RequestContext,
  resource: GroupVersionResource,
  namespace: string,
  name: string,
): Promise<T | undefined> {
  const registry = builtIn(ctx, resource)
  if (registry.definition.namespaced && namespace === "") return undefined // nothing is in no namespace
  try {
    return (await registry.get(ctx, namespace, name)).object() as T
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
  const objects: T[] = []
  for (const item of items) {
    objects.push(item.object() as T)
    await ctx.pause?.()
  }
  return objects
}
