// The behaviour of a kind beyond data. The generic registry (store.ts) owns the flow and calls these hooks in the order below.
// Each hook is optional, and pure except for `ctx.warn` and its arguments. Objects are mutable until stored.

import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import type { FieldError } from "../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import type { JsonObject } from "../../apimachinery/schema/json-object.ts"
import type { Steps } from "../../apimachinery/steps.ts"
import type { Claim } from "./claim.ts"
import type { TableColumn } from "./columns/table-column.ts"
import type { StatusError } from "../../apimachinery/status.ts"
import type { RequestContext } from "../request/context.ts"
import type { AdmitFunctions, GetOptions, Registry, WriteOptions } from "./rest.ts"

export interface Strategy<T extends KubeObject = KubeObject> {
  /**
   * Returns the errors of a metadata.name (`prefix`: of a generateName) with upstream's messages; default: DNS-1123
   * subdomain. The generic registry validates all metadata, so strategies do not.
   */
  nameRule?(name: string, prefix: boolean): string[]
  /** Generates a name from generateName; default: appends five random characters. */
  generateName?(prefix: string): string
  /** Sets defaults that depend on other fields. Runs when decoding, after the schema's defaults, on create, update and patch. */
  default?(object: T): void
  /**
   * What else upstream's conversion to its internal version makes of an object: former names of fields, and fields that can only be
   * written. Runs after `default`, but not between mutating webhooks, or policies, which are shown what the one before them has made.
   */
  convert?(object: T): void
  /**
   * Makes an object that was decoded in a version that is not served, but which a patch may give it, one of the served version, in place,
   * with the defaults that only that had.
   */
  defaultOlder?(object: JsonObject, apiVersion: string): void
  /**
   * Drops fields of disabled features, after their managers have been recorded and before the object is prepared. `current`: the
   * object that is updated.
   */
  dropDisabled?(object: T, current: T | undefined): void
  /** Throws Forbidden if the caller may not write this object, which may be invalid. Called after mutating admission. */
  confirm?(ctx: RequestContext, object: T, current: T | undefined): Promise<void>
  /** Sets fields that the server owns and drops fields that a client may not set (status). metadata is already prepared. */
  prepareForCreate?(ctx: RequestContext, object: T): void
  /** Errors that are reported alone, before all other validation. `current`: the object that is updated. */
  validateFirst?(ctx: RequestContext, object: T, current: T | undefined): FieldError[]
  validate?(ctx: RequestContext, object: T): FieldError[]
  /**
   * In place of `validate`, which is not called then; in steps, for kinds whose objects may have very many parts, or parts that take long
   * to compile.
   */
  validating?(ctx: RequestContext, object: T): Steps<FieldError[]>
  /**
   * true: what these steps compile (expressions, schemas) may take long also if the object is short, and much memory if it is large: they
   * are taken with turns for others whatever its size, and for clients of one object of a control plane at a time (validate-in-turns.ts).
   */
  compiles?: boolean
  /** Validate metadata only if `validate` found no errors; otherwise the errors of both are reported. */
  metadataLast?: boolean
  /**
   * Copies the fields that an update may not change from `current` (status; on the status subresource: everything else). `compared`
   * returns the current object to look for changes with: its quantities have the new one's texts if the amounts are the same, as in
   * all functions below.
   */
  prepareForUpdate?(ctx: RequestContext, object: T, current: T, compared: () => T): void
  validateUpdate?(ctx: RequestContext, object: T, current: T): FieldError[]
  /** In place of `validateUpdate`, as `validating`. */
  validatingUpdate?(ctx: RequestContext, object: T, current: T): Steps<FieldError[]>
  /** Slow validation, after `validate` (whose errors are in `found`); adds its errors to them. */
  validateFurther?(
    ctx: RequestContext,
    object: T,
    current: T | undefined,
    found: readonly FieldError[],
  ): Promise<FieldError[]>
  /** Rejects values that the caller is not authorized to write, beyond access to the resource. Runs before all other validation. */
  refuse?(ctx: RequestContext, object: T, current: T | undefined): Promise<FieldError[]>
  /** Warnings for creates and updates, except of the status: of what is valid, and can be had. */
  warnings?(ctx: RequestContext, object: T, current: T | undefined): string[]
  /** Warnings for updates of the status. */
  statusWarnings?(object: T): string[]
  /** The last modification before validating admission. */
  canonicalize?(object: T): void
  /** After admission: what upstream's storage makes of the object. */
  settle?(object: T): void
  /**
   * Then: adds the defaults that the object still lacks, because they depend on what was set after it was decoded. Upstream stores it
   * without them and adds them when it reads it, so that storing them is a change (storage/unread-fields.ts). Returns whether there
   * were any.
   */
  defaultOnRead?(object: T): boolean
  /**
   * Returns the object without fields that are stored but hidden, or the same object if there are none. Reads return this; writes start
   * with the complete object, and as upstream, responses to deletes and status updates contain it. Must not modify the object.
   */
  shown?(object: T): KubeObject
  /** false: the kind has no metadata.generation; "changes": new objects have none, and later changes are counted. Default: true. */
  generation?: boolean | "changes"
  /** Increments metadata.generation if true; default: any field outside metadata and status differs. */
  specChanged?(object: T, current: T): boolean
  /** true: fields that `dropDisabled` drops from an update are changes, too. */
  countsDropped?: boolean
  /** PUT on a name that does not exist creates the object (leases, events, endpoints, …). */
  allowCreateOnUpdate?: boolean
  /** An apply to the status creates an object that is not there. */
  applyOfStatusCreates?: boolean
  /** true: an update without resourceVersion overwrites; false: it is an error. Default: true, except for custom resources. */
  allowUnconditionalUpdate?: boolean
  /** Why the object of this name cannot be deleted, except with its whole collection. */
  keptBecause?(name: string): string | undefined
  /** Grace period of a delete in seconds, or undefined for immediate deletion. Called with the requested period. */
  graceSeconds?(object: T, asked: number | undefined): number | undefined
  /**
   * true: deletion waits, as for metadata.finalizers (a namespace's spec.finalizers). Also called after every write. A kind with this
   * function is only marked by the first delete.
   */
  heldBack?(object: T): boolean
  /** Deletion has begun (deletionTimestamp is set) and the object remains: sets fields that show it (a namespace's phase). */
  markDeleted?(object: T): void
  /**
   * Allocates resources outside the store for a new object (a Service's addresses), which validating admission then sees. Called after
   * validation, not for dry runs. Whatever refuses the object afterwards has it rolled back.
   */
  allocate?(ctx: RequestContext, object: T): Promise<Claim | undefined>
  /** Like it, for what cannot be had and given back unnoticed: called after admission, before the write, of updates too. */
  begin?(ctx: RequestContext, object: T, current: T | undefined): Promise<Claim | undefined>
  /** For a dry run: sets what the two would, and has nothing to roll back. Called before validating admission. */
  preview?(ctx: RequestContext, object: T, current: T | undefined): Promise<void>
  /** Called after a delete has removed the object from the store. */
  afterDelete?(ctx: RequestContext, object: T): Promise<void>
  /** Values of the field selectors of this kind, other than metadata.name and metadata.namespace. */
  selectableFields?(object: T): Record<string, string>
  /** The present names of selectable fields by their former ones, which clients may use. Without a prototype. */
  formerFields?: Readonly<Record<string, string>>
  /** Default propagation policy of deletes: "Background", for some old kinds "Orphan"; "None" for kinds without dependents. */
  defaultPropagation?: "Background" | "Orphan" | "None"
  /** Warning for deletes without a propagation policy. */
  propagationWarning?: string
}

/** Everything specific to one built-in kind. kinds.ts lists them by "group/resource"; kinds that need nothing are not listed. */
export interface KindExtension {
  strategy?: Strategy<never>
  /** Subresources other than "status", which the generic registry serves for every kind with a status. */
  subresources?: Record<string, SubresourceHandler>
  /** Its status subresource has no Table representation. */
  plainStatus?: true
  /** Every response has this warning. */
  warning?: string
  /** The order of the rows of a table; default: that of the list. */
  rowOrder?(a: KubeObject, b: KubeObject): number
  /**
   * For kinds that are answered directly and never stored (SubjectAccessReview, TokenReview, …): POST only. `validate`: validating
   * admission, called once the kind's own validation has found no errors.
   */
  answer?(
    ctx: RequestContext,
    object: KubeObject,
    options: WriteOptions,
    validate: () => Promise<void>,
  ): Promise<KubeObject>
  /** For kinds that are computed for each request and never stored (ComponentStatus): get and list only. */
  find?(ctx: RequestContext): Promise<readonly KubeObject[]>
}

/** The verbs of a subresource. Missing verbs are answered with 405. A patch is `get`, patch, `update`. */
export interface SubresourceHandler {
  /** Absent if it has no Table representation. */
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
    /** From the current object of the subresource to the desired one. */
    change: (current: KubeObject) => KubeObject | Promise<KubeObject>,
    options: WriteOptions,
    admit: AdmitFunctions,
  ): Promise<KubeObject>
  /** Other apiVersions that a body of `create` may have. */
  alike?: readonly string[]
  /** The body of a create keeps metadata that otherwise only the server sets: its uid may be that of the object that is meant. */
  keepsSystemFields?: true
  /** Completes the body of a create, before its manager is recorded. */
  defaultBody?(body: KubeObject): void
  /** POST; returns 201 with the object. The body has passed mutating admission. */
  create?(
    ctx: RequestContext,
    registry: Registry,
    namespace: string,
    name: string,
    body: KubeObject,
    options: WriteOptions,
    admit: AdmitFunctions,
  ): Promise<KubeObject>
  /** Streams and proxies (log, exec, attach, portforward, proxy): the handler writes the response itself. */
  connect?(ctx: RequestContext, registry: Registry, namespace: string, name: string, exchange: Exchange): Promise<void>
  /** Media types of what `connect` responds with, if clients must accept one of them, or one of an object. Default: any. */
  produces?: readonly string[]
}

/** The raw HTTP exchange of a connect request. `upgrade` is set if the client requested a protocol upgrade. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  upgrade?: { socket: Duplex; head: Buffer }
  /** What the handler throws instead of an answer, which has no other form than its own. */
  refused?: StatusError
}
