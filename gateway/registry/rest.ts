// What a resource is to the gateway (data), and what the verbs call (the contract of a registry).

import type { GroupVersionKind, GroupVersionResource, KubeObject } from "../../apimachinery/object.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import type { KeyValue, StoreEvent } from "../../storage/types.ts"
import type { KubeValue } from "./value.ts"
import type { RequestContext } from "../request/context.ts"
import type { Strategy, SubresourceHandler } from "./strategy.ts"
import type { TableColumn } from "../endpoints/table.ts"

export interface SubresourceDefinition {
  name: string
  /** The kind of its body; "scale" is autoscaling/v1 Scale, "status" the resource's own. */
  group: string
  version: string
  kind: string
  verbs: readonly string[]
}

/** Objects given are frozen; what is answered is the receiver's. */
export interface Conversion {
  fromStored(objects: readonly KubeObject[]): readonly KubeObject[] | Promise<readonly KubeObject[]>
  toStored(object: KubeObject): KubeObject | Promise<KubeObject>
}

/** One served version of a resource: built in (from the facts) or from a CustomResourceDefinition. */
export interface ResourceDefinition {
  group: string
  version: string
  resource: string
  singular: string
  kind: string
  listKind: string
  namespaced: boolean
  shortNames: readonly string[]
  categories: readonly string[]
  verbs: readonly string[]
  subresources: readonly SubresourceDefinition[]
  schema: Schema
  strategy: Strategy
  /** Columns of `kubectl get`, beyond the name. */
  columns: readonly TableColumn[]
  /** Where objects lie: versions of one kind, and events of both groups, share it. "/registry/<group>/<resource>/". */
  storagePrefix: string
  /** The apiVersion objects are stored as. A definition of another version converts at the edge. */
  storageVersion: string
  /** Field selectors beyond metadata.name and metadata.namespace; values by strategy.selectableFields, or found at that path. */
  selectableFields?: readonly string[]
  /** Subresources other than "status". */
  subresourceHandlers?: Readonly<Record<string, SubresourceHandler>>
  /** Set for kinds that are answered and never stored. */
  answer?(ctx: RequestContext, object: KubeObject, options: WriteOptions): Promise<KubeObject>
  /** Set for kinds that are found out when they are asked for and never stored: they are read and no more. */
  find?(ctx: RequestContext): Promise<readonly KubeObject[]>
  /** Between the stored form and this version's. Absent: they differ in apiVersion only. */
  conversion?: Conversion
  /** Its status subresource has no table. */
  plainStatus?: true
  /** Every answer about it carries this warning (a deprecated version). */
  warning?: string
  /** A delete answers with the last state instead of a Status. */
  returnsDeletedObject?: boolean
  /** Set for custom resources. */
  customResource?: {
    uid: string
    /** Served, but discovery does not tell of it: its definition is not established. */
    untold?: true
    /** A version that is defined but not served: who wrote in it once still manages what it wrote. */
    unserved?(version: string): ResourceDefinition | undefined
    /** What was stored up to that revision may not fit today's schema; `read` makes it fit, or answers it as it is. */
    aged?: { until: number; read(object: KubeObject): KubeObject }
    /** What of the object another version keeps that it is stored as, and has by default. Takes the object over. */
    toStored?(object: KubeObject): KubeObject
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string }
  }
}

export interface GetOptions {
  resourceVersion?: string
}

export interface ListOptions {
  /** Empty or absent: all namespaces, or a cluster-scoped resource. */
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  limit?: number
  /** Of a watch; a list has none and says so. */
  sendInitialEvents?: boolean
  /** A page is no longer; a list without a limit is refused when it is. */
  atMost?: number
  /** Nobody wants to know how many are left after a page: counting them reads all their keys, page by page. */
  uncounted?: boolean
  continue?: string
  resourceVersion?: string
  resourceVersionMatch?: "Exact" | "NotOlderThan"
}

export interface ListResult {
  items: KubeValue[]
  /** "": it has none. */
  resourceVersion: string
  continue?: string
  remainingItemCount?: number
}

/** A whole list, read as it is taken. */
export interface ListStream {
  resourceVersion: string
  pieces: Iterable<readonly KubeValue[]> | AsyncIterable<readonly KubeValue[]>
}

export interface WatchRequest {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  resourceVersion?: string
  resourceVersionMatch?: string
  sendInitialEvents?: boolean
  /** Of a list; a watch has none and says so. */
  continue?: string
  allowBookmarks?: boolean
  signal: AbortSignal
  /** RequestContext.turn. */
  turn?: RequestContext["turn"]
}

export interface RegistryEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"
  value: KubeValue
}

export interface WriteOptions {
  dryRun: boolean
  fieldManager: string
  subresource: string
  /** The object says already who manages what: it was applied, or the write is one that upstream does not record. */
  managersKnown?: boolean
  /** A name that does not exist is created, whatever the kind's strategy says: an apply. */
  mayCreate?: boolean
  /** The object was made from the present one: a uid in it is a field as any other, and no precondition. */
  isPatch?: boolean
}

/** Admission, handed down because each half has its place among the strategy's own steps and sees the current object. */
export interface AdmitFunctions {
  /** May change the object. On update `current` is set. */
  mutate(object: KubeObject, current: KubeObject | undefined): Promise<void>
  /** `deletion`: of a delete, with the grace the object gets. */
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
  /** For a list without a limit; what it throws while it is read may also be Expired: nothing can be answered then. */
  stream(ctx: RequestContext, options: Omit<ListOptions, "limit">): Promise<ListStream>
  /** Ends with the signal; throws StatusError (410) when it cannot go on. */
  watch(ctx: RequestContext, request: WatchRequest): AsyncIterable<readonly RegistryEvent[]>
  create(ctx: RequestContext, object: KubeObject, options: WriteOptions, admit: AdmitFunctions): Promise<KubeValue>
  /** `change` gets a mutable copy of the current object and returns the wanted one; run again after a lost race. */
  update(
    ctx: RequestContext,
    namespace: string,
    name: string,
    change: (current: KubeObject | undefined) => KubeObject | Promise<KubeObject>,
    options: WriteOptions,
    admit: AdmitFunctions,
  ): Promise<{ value: KubeValue; created: boolean }>
  /** `gone`: removed now; otherwise it waits for finalizers or its grace period, and `value` is what it became. */
  delete(
    ctx: RequestContext,
    namespace: string,
    name: string,
    request: DeleteRequest,
    admit: AdmitFunctions,
  ): Promise<{ gone: boolean; value: KubeValue }>
  /** For those who follow a whole store: what lies at this kind's keys, in this version. A promise where it must be converted. */
  values(stored: readonly KeyValue[]): readonly KubeValue[] | Promise<readonly KubeValue[]>
  /** The same of a change. All watches of a change share what it became. */
  event(change: StoreEvent): RegistryEvent | Promise<RegistryEvent>
}

/** What a control plane serves. */
export interface ResourceTable {
  /** Undefined: not served. */
  registry(resource: GroupVersionResource): Registry | undefined
  /** Without making a registry. */
  serves(resource: GroupVersionResource): boolean
  registryOfKind(kind: GroupVersionKind): Registry | undefined
  /** What discovery tells, in its order. */
  definitions(): readonly ResourceDefinition[]
  /** Grows with every change of what is served: keys caches of discovery and OpenAPI. */
  readonly generation: number
  /** What the values weigh that were read or written one by one lately, estimated. */
  readonly cachedBytes: number
}
