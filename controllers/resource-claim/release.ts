// Releases a ResourceClaim when pods end: removes their reservations, with the last one the allocation, and deletes a claim that
// was generated for a pod that does not need it any more.

import { controllerOf, type Pod, type ResourceClaim } from "../../apimachinery/object.ts"
import { hasReason, isNotFound } from "../../apimachinery/status.ts"
import { pods as podResource, resourceClaims } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import type { Key } from "../controller.ts"
import { finalizer, needsNoClaims } from "./pod-claims.ts"

type Consumer = NonNullable<NonNullable<ResourceClaim["status"]>["reservedFor"]>[number]

export async function reconcileClaim(
  ctx: ControllerContext,
  actor: Actor,
  { tenant, namespace, name }: Key,
): Promise<void> {
  const claim = ctx.informers.of<ResourceClaim>(resourceClaims).get(tenant, namespace, name)
  if (claim === undefined) return
  const client = actor.client
  const before = claim.status?.reservedFor ?? []
  const remaining: Consumer[] = []
  for (const consumer of before) if (await isValid(ctx, client, tenant, namespace, consumer)) remaining.push(consumer)
  if (remaining.length < before.length) await release(client, claim, remaining)
  else if (claim.metadata.deletionTimestamp !== undefined && remaining.length === 0) await release(client, claim, [])
  if (remaining.length === 0) await removeUnneeded(ctx, client, tenant, claim)
}

/** Consumers other than pods are always valid. */
async function isValid(
  ctx: ControllerContext,
  client: KubeClient,
  tenant: string,
  namespace: string,
  { apiGroup = "", resource, name, uid }: Consumer,
): Promise<boolean> {
  if (apiGroup !== "" || resource !== "pods") return true
  const known = ctx.informers.of<Pod>(podResource).get(tenant, namespace, name)
  if (known !== undefined) return known.metadata.uid === uid && !needsNoClaims(known)
  try {
    // The pod may be too new for the cache.
    return (await client.get<Pod>(podResource, namespace, name)).metadata.uid === uid
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/** Updates and not patches, so that they fail with a conflict if a scheduler has changed the claim. */
async function release(client: KubeClient, claim: ResourceClaim, remaining: Consumer[]): Promise<void> {
  const isProtected = (claim.metadata.finalizers ?? []).includes(finalizer)
  const { reservedFor: before = [], allocation, ...status } = claim.status ?? {}
  const kept = allocation === undefined || (remaining.length === 0 && isProtected) ? {} : { allocation }
  let current = claim
  if (before.length !== remaining.length || (allocation !== undefined && !("allocation" in kept))) {
    const reservedFor = remaining.length === 0 ? {} : { reservedFor: remaining }
    const changed = { ...claim, status: { ...status, ...kept, ...reservedFor } }
    current = await client.update<ResourceClaim>(resourceClaims, changed, { subresource: "status" })
  }
  if (!isProtected || current.status?.allocation !== undefined) return
  const finalizers = (current.metadata.finalizers ?? []).filter((other) => other !== finalizer)
  await client.update<ResourceClaim>(resourceClaims, { ...current, metadata: { ...current.metadata, finalizers } })
}

async function removeUnneeded(
  ctx: ControllerContext,
  client: KubeClient,
  tenant: string,
  claim: ResourceClaim,
): Promise<void> {
  const { namespace, name = "", uid, deletionTimestamp } = claim.metadata
  const owner = controllerOf(claim)
  if (owner?.kind !== "Pod" || owner.apiVersion !== "v1" || deletionTimestamp !== undefined) return
  // If the pod is not in the cache, its claim is left to the garbage collector.
  const pod = ctx.informers.of<Pod>(podResource).get(tenant, namespace, owner.name)
  if (pod === undefined || (pod.metadata.uid === owner.uid && !needsNoClaims(pod))) return
  try {
    await client.delete(resourceClaims, namespace, name, uid === undefined ? {} : { uid })
  } catch (error) {
    if (!hasReason(error, "NotFound", "Conflict")) throw error
  }
}
