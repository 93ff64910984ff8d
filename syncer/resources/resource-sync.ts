// What one kind adds to the one flow (controller.ts). A kind is a value of one of the two shapes: ResourceSync for what the
// tenant owns and super runs, Publication for what super owns and tenants see. All functions are pure.

import type { KubeObject, Pod } from "../../apimachinery/object.ts"
import type { Resource } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"
import type { SyncSettings } from "../options.ts"

/** Reads from the informers' caches, of one tenant and of super. */
export interface View {
  tenantObject<T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string): T | undefined
  tenantObjects<T extends KubeObject>(resource: Resource, namespace?: string): T[]
  superObject<T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string): T | undefined
  /** The tenant's pods that others had to make room for and that are on their way (preemption.ts). */
  nominatedPods(): readonly Pod[]
}

export interface SyncContext {
  tenant: Tenant
  view: View
  settings: SyncSettings
  /** Milliseconds since the epoch. */
  now: number
  /** Something that is being made in super needs the object there. */
  needed?: boolean
}

/** A merge patch (RFC 7386) of the object or one of its subresources. */
export interface Patch {
  patch: Record<string, unknown>
  subresource?: string
  /** A strategic one: lists are merged item by item, where others write into them as well. */
  strategic?: boolean
}

/** What to write on the tenant's object, in order. */
export type TenantStep = Patch | { bind: string }

/** What becomes of a tenant object that has been placed and whose super copy is gone. */
export type Lost =
  | { kind: "create" }
  | { kind: "nothing" }
  | { kind: "report"; steps: TenantStep[] }
  | { kind: "refuse"; message: string }

/** Another object that must be in super before this one is made. */
export interface Dependency {
  resource: Resource
  namespace: string
  name: string
}

export interface ResourceSync<T extends KubeObject = KubeObject> {
  readonly resource: Resource
  readonly kind: string
  /** false: the object is left alone, on both sides. Default true. */
  synced?(object: T, context: SyncContext): boolean
  /** Default: the same name. The two are inverse. */
  superName?(name: string): string
  /** undefined: a super object of that name is not a copy of this kind. */
  tenantName?(superName: string, superObject: T): string | undefined
  /** The desired super object but for metadata.{labels,annotations,name,namespace}, which conversion/metadata.ts makes. */
  toSuper(object: T, context: SyncContext): T
  /** Patches for what differs in the fields the tenant owns, metadata aside. */
  changed(object: T, superObject: T, context: SyncContext): Patch[]
  /** Annotations the super copy has besides. */
  annotations?(object: T, context: SyncContext): Record<string, string>
  /** Annotations it is made with, and which then stay as they are. */
  firstAnnotations?(object: T, context: SyncContext): Record<string, string>
  /** The copy cannot be changed to what is wanted, and nothing is lost by making it anew. */
  outdated?(object: T, superObject: T, context: SyncContext): boolean
  /** What super owns and the tenant is told of. */
  toTenant?(object: T, superObject: T, context: SyncContext): TenantStep[]
  /** An unmarked super object of that name is made ours (default: it is somebody else's). */
  adopts?(superObject: T): boolean
  /** Deletion in the tenant waits for super (pods): first there, with the same grace, then here. */
  graceful?: boolean
  /** Deleted by the tenant, and only waiting for what its copy waits for as well: the copy is deleted meanwhile. */
  follows?(object: T): boolean
  /**
   * What it asks for and cannot have, in words for the tenant: the field, and what to do. It is not made in super; where it is there
   * already, the tenant is told. Default: nothing.
   */
  unsupported?(object: T, context: SyncContext): string | undefined
  /** The copy works without what is unsupported, and is made without it. */
  readonly isMadeWithout?: boolean
  /** Called instead of creating, when the super copy does not exist. */
  missing?(object: T, context: SyncContext): Lost
  /** Super objects are made before their tenant object is stored (services): not an orphan when younger than this. */
  claimGraceMs?: number
  dependencies?(object: T, context: SyncContext): Dependency[]
  /** A second try when super refuses the object as invalid; undefined: there is none. */
  fallback?(desired: T): T | undefined
}

export interface Publication<T extends KubeObject = KubeObject> {
  readonly resource: Resource
  readonly kind: string
  /** Only this tenant may see it (persistent volumes); undefined: every tenant. */
  clusterKey?(superObject: T, findNamespace: (superNamespace: string) => KubeObject | undefined): string | undefined
  /** What the tenant sees, or undefined when it does not. */
  toTenant(superObject: T, context: SyncContext): T | undefined
  /** The tenant's object is the published one, not one that the tenant made under this name. */
  isPublished(object: T): boolean
  changed(desired: T, object: T): Patch[]
  /** What the tenant adds to super's object for itself; undefined: it is there, or there is nothing. */
  claim?(object: T | undefined, superObject: T, context: SyncContext): Patch | undefined
  /** Written after creation through the status subresource. */
  hasStatus?: boolean
}
