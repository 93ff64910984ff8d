// The counterpart of client-go: one interface for any Kubernetes API. It is implemented over HTTP (client/http/client.ts) and,
// inside the gateway's process, directly on the registries (gateway/local-client/local-client.ts). Both throw only
// StatusErrors, and both return objects that the caller must not modify (the local client returns frozen, shared objects).

import type { GroupVersionResource, KubeObject } from "../apimachinery/object.ts"

/** A resource as it is named in URLs. client/resources.ts contains those that Polyplane uses. */
export interface Resource extends GroupVersionResource {
  namespaced: boolean
}

export interface KubeList<T extends KubeObject> {
  apiVersion: string
  kind: string
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number }
  items: T[]
}

/** Objects that are read. */
export interface Reading {
  /** Nothing but their metadata is needed. A server may still return them whole. */
  metadataOnly?: boolean
}

export interface ListOptions extends Reading {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  limit?: number
  continue?: string
  resourceVersion?: string
  signal?: AbortSignal
}

export interface WatchOptions extends Reading {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  resourceVersion: string
  allowBookmarks?: boolean
  signal: AbortSignal
}

export interface WatchEvent<T extends KubeObject> {
  /** The iterator throws ERROR events as StatusErrors and never delivers them. */
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"
  object: T
}

export interface ReadOptions extends Reading {
  /** "scale", "status". The result is then that of the subresource. */
  subresource?: string
}

export interface WriteOptions {
  /** "status", "scale", "binding", "token", "eviction", … The object is then that of the subresource. */
  subresource?: string
  dryRun?: boolean
  fieldManager?: string
}

export interface PatchOptions extends WriteOptions {
  type: "json" | "merge" | "strategic" | "apply"
  force?: boolean
}

export interface DeleteOptions {
  uid?: string
  resourceVersion?: string
  gracePeriodSeconds?: number
  propagationPolicy?: "Background" | "Foreground" | "Orphan"
}

/** One row of discovery: a resource (not a subresource) in the preferred version of its group, with its verbs. */
export interface DiscoveredResource extends Resource {
  kind: string
  verbs: readonly string[]
  /** Further versions in which it is served. */
  otherVersions?: readonly string[]
  /** Its objects have a Scale. */
  hasScale?: boolean
  /** Known to be served by an aggregated API's server, which may answer otherwise than an API server does. */
  isAggregated?: boolean
}

export interface KubeClient {
  /** The resources served now, including custom resources and aggregated APIs; each once, in its preferred version. */
  discover(): Promise<readonly DiscoveredResource[]>
  /** Group versions of unavailable aggregated APIs, whose resources are missing from the result. */
  unavailable(): Promise<readonly string[]>
  get<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    options?: ReadOptions,
  ): Promise<T>
  /** GET of any path, for APIs whose paths are not those of resources (custom metrics). The result is not validated. */
  raw(path: string): Promise<unknown>
  list<T extends KubeObject>(resource: Resource, options?: ListOptions): Promise<KubeList<T>>
  /** Ends without an error when the server ends the watch; resume from the last resourceVersion. */
  watch<T extends KubeObject>(resource: Resource, options: WatchOptions): AsyncIterable<WatchEvent<T>>
  /** Namespace and name (for subresources) are taken from the object's metadata. */
  create<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>
  update<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>
  patch<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    patch: unknown,
    options: PatchOptions,
  ): Promise<T>
  /** Resolves when the server has accepted the delete. Finalizers or a grace period may keep the object. */
  delete(resource: Resource, namespace: string | undefined, name: string, options?: DeleteOptions): Promise<void>
  deleteCollection(
    resource: Resource,
    namespace: string | undefined,
    selectors?: { labelSelector?: string; fieldSelector?: string },
    options?: DeleteOptions,
  ): Promise<void>
}

/** The part of a client that an informer needs. */
export type ListWatch = Pick<KubeClient, "list" | "watch">
