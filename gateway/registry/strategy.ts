// What one kind needs beyond data. The generic registry (store.ts) owns the flow and calls these in the order written;
// each hook is optional and pure but for `ctx.warn` and what it is handed. Objects are mutable until stored.

import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import type { FieldError } from "../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import type { TableColumn } from "../endpoints/table.ts"
import type { RequestContext } from "../request/context.ts"
import type { AdmitFunctions, GetOptions, Registry, WriteOptions } from "./rest.ts"

export interface Strategy<T extends KubeObject = KubeObject> {
  /**
   * What is wrong with a metadata.name (`prefix`: with what generateName says), in upstream's words; default: a DNS-1123
   * subdomain. The generic registry checks all of metadata with it, so strategies do not.
   */
  nameRule?(name: string, prefix: boolean): string[]
  /** A name for an object that has but a generateName; default: with five random characters behind it. */
  generateName?(prefix: string): string
  /** Defaults that depend on other fields; after the schema's own defaults, at decoding, on create, update and patch. */
  default?(object: T): void
  /**
   * Drops fields of features that are off, before the object is prepared: who wrote them has been recorded by then. `current`: what
   * is updated.
   */
  dropDisabled?(object: T, current: T | undefined): void
  /** Sets what the server owns and drops what a client may not set (status). metadata is already prepared. */
  prepareForCreate?(ctx: RequestContext, object: T): void
  /** Faults that are told alone, before anything else is looked at. `current`: what is updated. */
  validateFirst?(ctx: RequestContext, object: T, current: T | undefined): FieldError[]
  validate?(ctx: RequestContext, object: T): FieldError[]
  /** Metadata is checked only when `validate` found nothing; otherwise both tell what they found. */
  metadataLast?: boolean
  /** Copies what an update may not touch from `current` (status; on the status subresource: everything else). */
  prepareForUpdate?(ctx: RequestContext, object: T, current: T): void
  validateUpdate?(ctx: RequestContext, object: T, current: T): FieldError[]
  /** Validation that takes its time, after the other (whose errors are `found`); adds its own errors to those. */
  validateFurther?(
    ctx: RequestContext,
    object: T,
    current: T | undefined,
    found: readonly FieldError[],
  ): Promise<FieldError[]>
  /** What the caller may not write, beyond access to the resource; told before all other errors. */
  refuse?(ctx: RequestContext, object: T, current: T | undefined): Promise<FieldError[]>
  /** What is told to who makes or changes an object, except by its status. */
  warnings?(ctx: RequestContext, object: T, current: T | undefined): string[]
  /** The same, by its status. */
  statusWarnings?(object: T): string[]
  /**
   * true: this object, as it was made, is written by its first update even if that changes nothing. Upstream makes it without a
   * default that depends on what the server sets; reading adds it, and the first write puts it down.
   */
  lacksDefault?(object: T): boolean
  /** The last change before storing, after admission. */
  canonicalize?(object: T): void
  /**
   * The object without what is stored of it and not shown, the very same if that is nothing. Who reads it has this; writes begin with
   * all of it, and upstream's answers to deletes and to writes of the status have all. Leaves the object as it is.
   */
  shown?(object: T): KubeObject
  /** false: the kind has no metadata.generation; "changes": it is not born with one, what changes it is counted. Default: true. */
  generation?: boolean | "changes"
  /** Bumps metadata.generation when true; default: anything but metadata and status differs. */
  specChanged?(object: T, current: T): boolean
  /** PUT on a name that does not exist creates it (leases, events, endpoints, …). */
  allowCreateOnUpdate?: boolean
  /** An update without resourceVersion overwrites; false: it is an error. Default true, but for custom resources. */
  allowUnconditionalUpdate?: boolean
  /** Seconds of grace for a delete, or undefined for at once. Called with what the caller asked for. */
  graceSeconds?(object: T, asked: number | undefined): number | undefined
  /** true: deletion waits, as for metadata.finalizers (a namespace's spec.finalizers). Asked after every write, too. */
  heldBack?(object: T): boolean
  /** Deletion has begun (deletionTimestamp is set) and the object stays: what shows it (a namespace's phase). */
  markDeleted?(object: T): void
  /** Claimed outside the store before it is written (a Service's addresses). Called after validation, not on dry-run. */
  begin?(ctx: RequestContext, object: T, current: T | undefined): Promise<Claim | undefined>
  /** After a delete has removed the object from the store. */
  afterDelete?(ctx: RequestContext, object: T): Promise<void>
  /** Values of the field selectors this kind supports beyond metadata.name and metadata.namespace. */
  selectableFields?(object: T): Record<string, string>
  /** What becomes of dependents when the caller does not say: default "Background", "Orphan" for old kinds. "None": there are none. */
  defaultPropagation?: "Background" | "Orphan" | "None"
  /** Said to who deletes without saying what becomes of dependents. */
  propagationWarning?: string
}

/** Something held outside the store for a write under way: exactly one of the two is called. */
export interface Claim {
  commit(): void
  rollback(): Promise<void>
}

/** All that is special about one built-in kind; kinds.ts lists them by "group/resource". A kind not listed needs nothing. */
export interface KindExtension {
  strategy?: Strategy<never>
  /** Subresources other than "status", which the generic registry serves for every kind that has one. */
  subresources?: Record<string, SubresourceHandler>
  /** Its status subresource has no table. */
  plainStatus?: true
  /** Every answer about the kind carries this warning. */
  warning?: string
  /** Kinds that are answered and never stored (SubjectAccessReview, TokenReview, …): POST only. */
  answer?(ctx: RequestContext, object: KubeObject, options: WriteOptions): Promise<KubeObject>
  /** Kinds that are found out when they are asked for and never stored (ComponentStatus): get and list only. */
  find?(ctx: RequestContext): Promise<readonly KubeObject[]>
}

/** How a subresource answers. What is absent is 405. A patch is `get`, patch, `update`. */
export interface SubresourceHandler {
  /** Absent: it has no table. */
  columns?: readonly TableColumn[]
  get?(
    ctx: RequestContext,
    registry: Registry,
    namespace: string,
    name: string,
    options?: GetOptions,
  ): Promise<KubeObject>
  update?(
    ctx: RequestContext,
    registry: Registry,
    namespace: string,
    name: string,
    /** From the subresource's present object to the wanted one. */
    change: (current: KubeObject) => KubeObject | Promise<KubeObject>,
    options: WriteOptions,
    admit: AdmitFunctions,
  ): Promise<KubeObject>
  /** POST; answers 201 with the object. */
  create?(
    ctx: RequestContext,
    registry: Registry,
    namespace: string,
    name: string,
    body: KubeObject,
    options: WriteOptions,
    admit: AdmitFunctions,
  ): Promise<KubeObject>
  /** Streams and proxies (log, exec, attach, portforward, proxy): the handler answers by itself. */
  connect?(ctx: RequestContext, registry: Registry, namespace: string, name: string, exchange: Exchange): Promise<void>
}

/** The raw HTTP exchange of a connect request. `upgrade` is set when the client asked to switch protocols. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  upgrade?: { socket: Duplex; head: Buffer }
}
