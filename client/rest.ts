// What client-go is to Go: one interface to talk to any Kubernetes API. Implemented over HTTP (client/http-client.ts) and,
// for what lives in the gateway's process, straight on the registries (gateway/local-client.ts). Both fail with
// StatusError only, and both return objects the caller must not change (the local one hands out frozen, shared ones).

import type { GroupVersionResource, KubeObject } from "../apimachinery/object.ts"

/** A resource one can name in a URL. client/resources.ts has the ones this project uses. */
export interface Resource extends GroupVersionResource {
  namespaced: boolean
}

export interface KubeList<T extends KubeObject> {
  apiVersion: string
  kind: string
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number }
  items: T[]
}

export interface ListOptions {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  limit?: number
  continue?: string
  resourceVersion?: string
  signal?: AbortSignal
}

export interface WatchOptions {
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  resourceVersion: string
  allowBookmarks?: boolean
  signal: AbortSignal
}

export interface WatchEvent<T extends KubeObject> {
  /** An ERROR event is thrown as StatusError by the iterator, never delivered. */
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"
  object: T
}

export interface ReadOptions {
  /** "scale", "status". The answer then is that subresource's. */
  subresource?: string
}

export interface WriteOptions {
  /** "status", "scale", "binding", "token", "eviction", … The object then is that subresource's. */
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

/** One row of discovery: a resource (no subresource) in the version the group prefers, and what can be done with it. */
export interface DiscoveredResource extends Resource {
  kind: string
  verbs: readonly string[]
}

export interface KubeClient {
  /** What is served now, custom resources and aggregated APIs included; each resource once, in its preferred version. */
  discover(): Promise<readonly DiscoveredResource[]>
  /** Group versions of aggregated APIs that are out of reach: what they serve is not among what is discovered. */
  unavailable(): Promise<readonly string[]>
  get<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    options?: ReadOptions,
  ): Promise<T>
  /** GET of any path: for APIs whose paths are not those of resources (custom metrics). What it answers is not looked at. */
  raw(path: string): Promise<unknown>
  list<T extends KubeObject>(resource: Resource, options?: ListOptions): Promise<KubeList<T>>
  /** Ends without error when the server ends it; resume from the last resourceVersion seen. */
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
  /** Resolves when accepted: the object may remain while finalizers or a grace period run. */
  delete(resource: Resource, namespace: string | undefined, name: string, options?: DeleteOptions): Promise<void>
  deleteCollection(
    resource: Resource,
    namespace: string | undefined,
    selectors?: { labelSelector?: string; fieldSelector?: string },
    options?: DeleteOptions,
  ): Promise<void>
}

/** What an informer needs of a client. */
export type ListWatch = Pick<KubeClient, "list" | "watch">
