// What a kind adds to the common flow (controller.ts). A kind is a value of one of two types: ResourceSync for objects that the
// tenant owns and super runs, Publication for objects that super owns and tenants see. All functions are pure.

import type { KubeObject, Pod } from "../../apimachinery/object.ts"
import type { StatusError } from "../../apimachinery/status.ts"
import type { Resource } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"
import type { SyncSettings } from "../options.ts"

/** Reads from the informers' caches of one tenant and of super. */
export interface View {
  tenantObject<T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string): T | undefined
  tenantObjects<T extends KubeObject>(resource: Resource, namespace?: string): T[]
  superObject<T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string): T | undefined
  /** The tenant's unscheduled pods for which preemption has reserved a node (preemption.ts). */
  nominatedPods(): readonly Pod[]
}

/** Neither cluster has an object. */
export const emptyView: View = {
  tenantObject: () => undefined,
  tenantObjects: () => [],
  superObject: () => undefined,
  nominatedPods: () => [],
}

export interface SyncContext {
  tenant: Tenant
  view: View
  settings: SyncSettings
  /** Milliseconds since the epoch. */
  now: number
  /** An object that is being created in super depends on this one. */
  needed?: boolean
}

/** A merge patch (RFC 7386) of the object or one of its subresources. */
export interface Patch {
  patch: Record<string, unknown>
  subresource?: string
  /** A strategic merge patch: lists are merged item by item, because other clients also write into them. */
  strategic?: boolean
  /** Of super's object, and cannot be taken back: made only if the tenant's object, read anew, is as it was seen. */
  isOfSeen?: boolean
}

/**
 * Writes to the tenant's object, in order. What the tenant refuses, or fails to do, ends them, unless it `isApart`: those after it do not
 * depend on it.
 */
export type TenantStep = (Patch | { bind: string }) & { isApart?: boolean }

/** What to do with a tenant object that has no copy in super. */
export type Lost =
  | { kind: "create" }
  | { kind: "nothing" }
  | { kind: "report"; steps: TenantStep[] }
  | { kind: "refuse"; message: string }

/** Another object that must exist in super before this one is created. */
export interface Dependency {
  resource: Resource
  namespace: string
  name: string
}

export interface ResourceSync<T extends KubeObject = KubeObject> {
  readonly resource: Resource
  readonly kind: string
  /** false: the object is ignored on both sides. Default: true. */
  synced?(object: T, context: SyncContext): boolean
  /** Default: the same name. superName and tenantName are inverse functions. */
  superName?(name: string): string
  /** undefined: a super object with that name is not a copy of this kind. */
  tenantName?(superName: string, superObject: T): string | undefined
  /** The desired super object without metadata.{labels,annotations,name,namespace}, which conversion/metadata.ts adds. */
  toSuper(object: T, context: SyncContext): T
  /** Patches for differences in the fields the tenant owns. Of metadata only what the kind itself records there, in patches of their own. */
  changed(object: T, superObject: T, context: SyncContext): Patch[]
  /** Additional annotations of the super copy, which is `superObject` if there is one. */
  annotations?(object: T, context: SyncContext, superObject?: T): Record<string, string>
  /** Additional annotations at creation, which are not updated later. */
  firstAnnotations?(object: T, context: SyncContext): Record<string, string>
  /** The copy cannot be changed to the desired state, and recreating it loses nothing. */
  outdated?(object: T, superObject: T, context: SyncContext): boolean
  /** What the tenant is told when an outdated copy has been removed, to be made anew. Default: nothing. */
  remadeMessage?(object: T, superObject: T): string | undefined
  /** Changes of the tenant's object for fields that super owns. */
  toTenant?(object: T, superObject: T, context: SyncContext): TenantStep[]
  /** Whether an unmarked super object with that name becomes the copy. Default: it belongs to somebody else. */
  adopts?(superObject: T): boolean
  /** Deletion in the tenant waits for super (pods): the copy is deleted first, with the same grace period. Default: false. */
  graceful?(object: T, context: SyncContext): boolean
  /** The tenant deleted the object, which waits only for the same as its copy: the copy is deleted in the meantime. */
  follows?(object: T): boolean
  /**
   * What the object asks for and cannot have, as a message for the tenant with the field and what to do. The object is not created in
   * super; if its copy exists already, the message is only reported. Default: nothing.
   */
  unsupported?(object: T, context: SyncContext): string | undefined
  /** The copy works without the unsupported parts, and is created without them. */
  readonly isCreatedIfUnsupported?: boolean
  /** Called when the super copy does not exist, before it is created. */
  missing?(object: T, context: SyncContext): Lost
  /**
   * What the copy before has led to must not happen twice, and the caches may not have it yet (a pod has ended, a claim has its volume): before
   * another copy is created, the tenant's object is read anew, and decided upon as it is then.
   */
  isReadAnew?(object: T): boolean
  /**
   * After super has answered `made` to a write of everything, or of one step: what its admission has made of that, to be recorded on the
   * copy.
   */
  admitted?(object: T, made: T, step?: Patch): Patch | undefined
  /** Super objects that are created before their tenant object is stored (services) are not orphans until they are this old. */
  claimGraceMs?: number
  dependencies?(object: T, context: SyncContext): Dependency[]
  /**
   * The object, or patch of `superObject`, for another attempt when super has answered `error`; undefined: there is none. It must ask for less
   * each time. If one succeeds, the tenant is told of what super cannot give.
   */
  fallback?(desired: T, error: StatusError, superObject: T | undefined): T | undefined
  /** What super has answered may be over in a moment, for which the fallback of a new copy waits. Default: it is not. */
  passes?(error: StatusError): boolean
}

export interface Publication<T extends KubeObject = KubeObject> {
  readonly resource: Resource
  /** The only tenant that may see the object (persistent volumes); undefined: every tenant. */
  clusterKey?(superObject: T, findNamespace: (superNamespace: string) => KubeObject | undefined): string | undefined
  /** The object in the tenant; undefined if it is not visible there. */
  toTenant(superObject: T, context: SyncContext): T | undefined
  /** Whether the tenant's object is a published one, not one that the tenant created under this name. */
  isPublished(object: T): boolean
  /** A published object cannot be changed to the desired state, but be published anew: only what the tenant has added to it is lost. */
  outdated?(desired: T, object: T, context: SyncContext): boolean
  changed(desired: T, object: T): Patch[]
  /** A change of super's object on behalf of the tenant; undefined if none is needed. */
  claim?(object: T | undefined, superObject: T, context: SyncContext): Patch | undefined
  /** What the tenant asks of super's object and cannot have, as a message for the tenant. */
  unclaimed?(object: T, superObject: T, context: SyncContext): string | undefined
}
