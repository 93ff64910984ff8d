// The definition of a resource (data), and the contract of a registry, which the verbs call.

import type { GroupVersionResource, KubeObject } from "../../apimachinery/object.ts"
import type { ResourceFacts } from "../../apimachinery/schema/facts.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import type { KeyValue, StoreEvent } from "../../storage/types.ts"
import type { Edition } from "./edition.ts"
import type { KubeValue } from "./generic/storage/value.ts"
import type { RequestContext } from "../request/context.ts"
import type { KindExtension, Strategy, SubresourceHandler } from "./strategy.ts"
import type { TableColumn } from "./columns/table-column.ts"

/** The arguments are frozen; the caller may modify the results. */
export interface Conversion {
  /** `pause`: called between objects, of which there may be many. */
  fromStored(
    objects: readonly KubeObject[],
    pause?: RequestContext["pause"],
  ): readonly KubeObject[] | Promise<readonly KubeObject[]>
  toStored(object: KubeObject): KubeObject | Promise<KubeObject>
}

/** One served version of a resource: built-in (from the facts) or from a CustomResourceDefinition. */
export interface ResourceDefinition extends ResourceFacts {
  schema: Schema
  strategy: Strategy
  /** Columns of `kubectl get`, beyond the name. */
  columns: readonly TableColumn[]
  /** The order of a table's rows. Absent: that of the list. */
  rowOrder?(a: KubeObject, b: KubeObject): number
  /** The storage prefix of the objects. All versions of a kind, and events of both groups, share it: "/registry/<group>/<resource>/". */
  storagePrefix: string
  /** The apiVersion in which objects are stored. Definitions of other versions convert on reads and writes. */
  storageVersion: string
  /** Subresources other than "status". */
  subresourceHandlers?: Readonly<Record<string, SubresourceHandler>>
  /** Set for kinds that are answered directly and never stored. */
  answer?: NonNullable<KindExtension["answer"]>
  /** Set for read-only kinds that are computed for each request and never stored. */
  find?(ctx: RequestContext): Promise<readonly KubeObject[]>
  /** Converts between the stored version and this version. Absent if they differ in apiVersion only. */
  conversion?: Conversion
  /** Its status subresource has no Table representation. */
  plainStatus?: true
  /** Every response has this warning (for a deprecated version). */
  warning?: string
  /** A delete returns the last state of the object instead of a Status. */
  returnsDeletedObject?: boolean
  /** Set for custom resources. */
  customResource?: {
    uid: string
    edition: Edition
    /** Served, but not in discovery: its definition is not established. */
    undiscoverable?: true
    /** Its objects are being deleted. */
    terminating?: true
    /** Versions that are defined but not served. Managers that wrote in such a version still own their fields. */
    unserved?(version: string): ResourceDefinition | undefined
    /** Objects stored up to this revision may not match the current schema; `read` converts them, or returns them unchanged. */
    aged?: { until: number; read(object: KubeObject): KubeObject }
    /** Objects may not be of this version's type, since they can be written in one with another schema, or converted by a webhook. */
    isVaried?(): boolean
    /** Converts by the webhook, without pruning: managed fields are computed of what it returns. */
    between?(object: KubeObject, apiVersion: string): Promise<KubeObject>
    /** Prunes the object according to another version, in which it is stored. Takes ownership of the object. */
    toStored?(object: KubeObject): KubeObject
    /** Whether readers have to add defaults of the stored version to an object that is stored so. Absent: never. */
    lacksDefaults?(stored: KubeObject): boolean
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string }
  }
}

export interface Deletion {
  /** The object has been removed. Otherwise it waits for finalizers or its grace period. */
  gone: boolean
  /** Its last state, or its new one. */
  value: KubeValue
  /** `value` has nothing in it and is the answer. */
  isBlank?: true
}

export interface GetOptions {
  resourceVersion?: string
}

export interface ListOptions {
  /** Empty or absent for all namespaces, and for cluster-scoped resources. */
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  limit?: number
  /** Only for watches; lists reject it. */
  sendInitialEvents?: boolean
  /** Maximum number of items. Limits pages; a list without a limit is rejected if it has more. */
  atMost?: number
  /** Maximum size of the items of a list without a limit, which is rejected beyond it. */
  atMostBytes?: number
  /** Do not count the remaining items: counting reads all their keys for each page. */
  uncounted?: boolean
  continue?: string
  resourceVersion?: string
  resourceVersionMatch?: "Exact" | "NotOlderThan"
}

export interface ListResult {
  items: KubeValue[]
  /** "" if there is none. */
  resourceVersion: string
  continue?: string
  remainingItemCount?: number
}

/** A complete list, which is read while it is consumed. */
export interface ListStream {
  resourceVersion: string
  pieces: Iterable<readonly KubeValue[]> | AsyncIterable<readonly KubeValue[]>
  /** Reads the same objects once more. Absent if they are all in memory. */
  again?: () => Promise<Iterable<readonly KubeValue[]> | AsyncIterable<readonly KubeValue[]>>
}

/** The part of the request context that reading a collection needs. */
export type Reading = Pick<RequestContext, "turn" | "pause" | "isOver" | "enlarge" | "isLarge">

export interface WatchRequest {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  resourceVersion?: string
  resourceVersionMatch?: string
  sendInitialEvents?: boolean
  /** Only for lists; watches reject it. */
  continue?: string
  allowBookmarks?: boolean
  /** A watch of custom resources ends when their definition changes. */
  endsWithEdition?: boolean
  signal: AbortSignal
  /** RequestContext.turn. */
  turn?: RequestContext["turn"]
  /** For the initial events, which are read like a list, and for changes that are read from the log. */
  reading?: Reading & Pick<RequestContext, "reduce">
}

export interface RegistryEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"
  value: KubeValue
}

export interface WriteOptions {
  dryRun: boolean
  fieldManager: string
  subresource: string
  /** The object's managedFields are already up to date: it was applied, or upstream does not record this write. */
  managersKnown?: boolean
  /** Creates an object that does not exist, regardless of the kind's strategy. Used for apply. */
  mayCreate?: boolean
  /** The object was derived from the current one: its uid is an ordinary field and not a precondition. */
  isPatch?: boolean
  /** The desired object is made of nothing of the current one, or shares it: `change` gets that itself, and not a copy. */
  readsCurrent?: boolean
}

/** Admission, passed down because both phases run between the strategy's steps and need the current object. */
export interface AdmitFunctions {
  /** May modify the object. On updates, `current` is set. */
  mutate(object: KubeObject, current: KubeObject | undefined): Promise<void>
  /** `deletion`: set for deletes, with the grace period of the object. */
  validate(
    object: KubeObject | undefined,
    current: KubeObject | undefined,
    deletion?: Readonly<DeleteRequest>,
  ): Promise<void>
}

export interface DeleteRequest {
  dryRun: boolean
  gracePeriodSeconds?: number
  propagationPolicy?: string
  orphanDependents?: boolean
  preconditions?: { uid?: string; resourceVersion?: string }
}

export interface Registry {
  readonly definition: ResourceDefinition
  get(ctx: RequestContext, namespace: string, name: string, options?: GetOptions): Promise<KubeValue>
  list(ctx: RequestContext, options: ListOptions): Promise<ListResult>
  /** For lists without a limit. While it is consumed it may also throw Expired; the response has then already begun. */
  stream(ctx: RequestContext, options: Omit<ListOptions, "limit">): Promise<ListStream>
  /** Ends with the signal; throws a StatusError (410) if it cannot continue. */
  watch(ctx: RequestContext, request: WatchRequest): AsyncIterable<readonly RegistryEvent[]>
  create(ctx: RequestContext, object: KubeObject, options: WriteOptions, admit: AdmitFunctions): Promise<KubeValue>
  /** `change` gets a mutable copy of the current object (see readsCurrent) and returns the desired one. It runs again after a conflict. */
  update(
    ctx: RequestContext,
    namespace: string,
    name: string,
    change: (current: KubeObject | undefined) => KubeObject | Promise<KubeObject>,
    options: WriteOptions,
    admit: AdmitFunctions,
  ): Promise<{ value: KubeValue; created: boolean }>
  delete(
    ctx: RequestContext,
    namespace: string,
    name: string,
    request: DeleteRequest,
    admit: AdmitFunctions,
  ): Promise<Deletion>
  /** For consumers that follow a whole store: the value of an entry of this kind, in this version. A promise if it must be converted. */
  values(stored: readonly KeyValue[]): readonly KubeValue[] | Promise<readonly KubeValue[]>
  /** The same for a change. All watches of the change share the result. */
  event(change: StoreEvent): RegistryEvent | Promise<RegistryEvent>
}

/** The resources that a control plane serves. */
export interface ResourceTable {
  /** Undefined if the resource is not served. */
  registry(resource: GroupVersionResource): Registry | undefined
  /** That of a definition, even if it is not served. */
  registryOf(definition: ResourceDefinition): Registry
  /** Does not create a registry. */
  serves(resource: GroupVersionResource): boolean
  /** The resources in discovery, in its order. */
  definitions(): readonly ResourceDefinition[]
  /** All of them, also custom ones that discovery does not show. */
  served(): readonly ResourceDefinition[]
  /** Incremented with every change of the served resources; a key of the caches of discovery and OpenAPI. */
  readonly generation: number
  /** Estimated size of the values that were recently read or written individually. */
  readonly cachedBytes: number
}
