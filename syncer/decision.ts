// The decision for all kinds: is there a tenant object, is there a super object, and is it the copy of exactly that one? Pure, so
// that the controller acts on exactly the differences that the patrol finds.

import { bornVersion } from "../client/tenants.ts"
import type { KubeObject } from "../apimachinery/object.ts"
import { metadataChange, transparentChange } from "./conversion/metadata.ts"
import { syncerLimits } from "./options.ts"
import { ownership, recordedOwner } from "./conversion/ownership.ts"
import type { Patch, ResourceSync, SyncContext, TenantStep } from "./resources/resource-sync.ts"

export type Decision =
  | { do: "nothing" }
  | { do: "create" }
  | { do: "update"; superPatches: Patch[]; tenantSteps: TenantStep[] }
  /**
   * - gone: there is no tenant object; stale: the copy belongs to an earlier one. Both are confirmed with the tenant first.
   * - deleting: the tenant object waits for the end of the copy, or for the same event as the copy.
   * - outdated: the copy is recreated once it is gone.
   */
  | { do: "remove"; why: "gone" | "stale" | "deleting" | "outdated"; gracePeriodSeconds?: number }
  /** The copy is gone and will not be recreated; the tenant object shows that. Confirmed with super first. */
  | { do: "lose"; tenantSteps: TenantStep[] }
  /** The copy has ended, so the tenant object that the tenant deleted can be removed. Confirmed with super first. */
  | { do: "finish" }
  /** Another object has the name, or the object cannot be run. Reported to the tenant and retried later. */
  | { do: "refuse"; message: string }

const nothing: Decision = { do: "nothing" }

export function decide(
  sync: ResourceSync,
  object: KubeObject | undefined,
  superObject: KubeObject | undefined,
  context: SyncContext,
): Decision {
  if (object === undefined) return withoutTenantObject(sync, superObject, context)
  if (sync.synced?.(object, context) === false) return nothing
  const deleting = object.metadata.deletionTimestamp !== undefined
  const isGraceful = sync.graceful?.(object, context) === true
  if (superObject === undefined)
    return deleting ? withoutCopy(object, isGraceful) : withoutSuperObject(sync, object, context)
  const owner = ownership(superObject, context.tenant, object)
  if (owner === "foreign" || (owner === "unmarked" && sync.adopts?.(superObject) !== true)) {
    if (deleting) return withoutCopy(object, isGraceful)
    const why = owner === "foreign" ? "the name is taken in the super cluster" : "the super cluster has one of its own"
    return { do: "refuse", message: `${sync.resource.resource} "${object.metadata.name}": ${why}` }
  }
  if (owner === "stale") return removal("stale", sync, superObject, context)
  if (deleting && isGraceful) return deleteGracefully(sync, object, superObject, context)
  if (deleting && !isDeleting(superObject) && sync.follows?.(object) === true) return { do: "remove", why: "deleting" }
  if (!isDeleting(superObject) && sync.outdated?.(object, superObject, context) === true) {
    return { do: "remove", why: "outdated", gracePeriodSeconds: 0 }
  }
  return update(sync, object, superObject, context)
}

function withoutTenantObject(sync: ResourceSync, superObject: KubeObject | undefined, context: SyncContext): Decision {
  const owner = superObject === undefined ? undefined : recordedOwner(superObject)
  // Created for this tenant but not for a specific object yet: the object follows, or the patrol removes the namespace.
  if (superObject === undefined || owner?.clusterKey !== context.tenant.clusterKey) return nothing
  return removal("gone", sync, superObject, context)
}

/**
 * The tenant has no such object any more. If it had been deleted gracefully, it would be there until the copy has ended. So the tenant
 * deleted it by force, or before it had a node, and the next one of that name waits for the end of this copy: a kubelet gets the
 * shortest time, and if it does not answer, the copy ends without it, as it would in the tenant.
 */
function removal(why: "gone" | "stale", sync: ResourceSync, superObject: KubeObject, { now }: SyncContext): Decision {
  const { deletionTimestamp, deletionGracePeriodSeconds: given = 0 } = superObject.metadata
  if (sync.graceful === undefined) return deletionTimestamp === undefined ? { do: "remove", why } : nothing
  if (deletionTimestamp === undefined || given > shortestGraceSeconds) {
    return { do: "remove", why, gracePeriodSeconds: shortestGraceSeconds }
  }
  const isOverdue = now - Date.parse(deletionTimestamp) > syncerLimits.overdueEndMs
  return given > 0 && isOverdue ? { do: "remove", why, gracePeriodSeconds: 0 } : nothing
}

/** Milliseconds for which the super object may still exist before its tenant object is visible. */
export function claimedFor({ claimGraceMs }: ResourceSync, { metadata }: KubeObject, now: number): number {
  if (claimGraceMs === undefined) return 0
  const made = Date.parse(metadata.creationTimestamp ?? "")
  return Number.isNaN(made) ? 0 : made + claimGraceMs - now
}

/** A kubelet never gives less. */
const shortestGraceSeconds = 1

function withoutSuperObject(sync: ResourceSync, object: KubeObject, context: SyncContext): Decision {
  // Namespaces, and the objects they contain from the start, are copied when a pod or another object needs them: most tenants never
  // run anything in kube-public, which would cost half a dozen objects each in the super cluster.
  if (object.metadata.resourceVersion === bornVersion && context.needed !== true) return nothing
  const lost = sync.missing?.(object, context) ?? { kind: "create" }
  switch (lost.kind) {
    case "create":
      return (sync.isCreatedIfUnsupported === true ? undefined : unsupported(sync, object, context)) ?? { do: "create" }
    case "nothing":
      return nothing
    case "report":
      return { do: "lose", tenantSteps: lost.steps }
    case "refuse":
      return { do: "refuse", message: lost.message }
  }
}

/** The tenant deleted the object: the copy is deleted with the remaining grace period, and its status is still copied. */
function deleteGracefully(
  sync: ResourceSync,
  object: KubeObject,
  superObject: KubeObject,
  context: SyncContext,
): Decision {
  const wanted = object.metadata.deletionGracePeriodSeconds
  const given = superObject.metadata.deletionGracePeriodSeconds
  const shorter = wanted !== undefined && given !== undefined && wanted < given
  if (!isDeleting(superObject) || shorter) {
    return { do: "remove", why: "deleting", ...(wanted === undefined ? {} : { gracePeriodSeconds: wanted }) }
  }
  const tenantSteps = sync.toTenant?.(object, superObject, context) ?? []
  return tenantSteps.length === 0 ? nothing : { do: "update", superPatches: [], tenantSteps }
}

function update(sync: ResourceSync, object: KubeObject, superObject: KubeObject, context: SyncContext): Decision {
  const tenantSteps: TenantStep[] = []
  const seen = transparentChange(object, superObject, context.tenant)
  // First, as in super: whoever sees that a pod runs may rely on what a network has noted on it before. But a webhook of the tenant that keeps
  // it from being written may run in this very pod, which is ready when its status says so.
  if (seen !== undefined) tenantSteps.push({ patch: { metadata: seen }, isApart: true })
  tenantSteps.push(...(sync.toTenant?.(object, superObject, context) ?? []))
  const superPatches = isDeleting(superObject) ? [] : superChanges(sync, object, superObject, context)
  if (superPatches.length === 0 && tenantSteps.length === 0) return unsupported(sync, object, context) ?? nothing
  return { do: "update", superPatches, tenantSteps }
}

function unsupported(sync: ResourceSync, object: KubeObject, context: SyncContext): Decision | undefined {
  const message = sync.unsupported?.(object, context)
  return message === undefined ? undefined : { do: "refuse", message }
}

/** Metadata is part of the first patch of the object itself, unless that has its own. */
function superChanges(sync: ResourceSync, object: KubeObject, superObject: KubeObject, context: SyncContext): Patch[] {
  const patches = sync.changed(object, superObject, context)
  const extra = sync.annotations?.(object, context, superObject)
  const metadata = metadataChange(sync.kind, object, superObject, context.tenant, extra)
  if (metadata === undefined) return patches
  const [first, ...rest] = patches
  if (first === undefined || first.subresource !== undefined || "metadata" in first.patch)
    return [{ patch: { metadata } }, ...patches]
  return [{ patch: { ...first.patch, metadata } }, ...rest]
}

/** The tenant deleted the object, and there is no copy whose end it could wait for. */
const withoutCopy = (object: KubeObject, isGraceful: boolean): Decision =>
  isGraceful && !isGraceOver(object) ? { do: "finish" } : nothing

/** Only the tenant's finalizers still hold it: the tenant's server removes it with the last of them. */
const isGraceOver = ({ metadata }: KubeObject): boolean => metadata.deletionGracePeriodSeconds === 0

const isDeleting = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined
