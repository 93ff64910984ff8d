// A small in-memory API server for tests of its clients: resourceVersions, optimistic locking, status separate from spec,
// generations, finalizers, deletion by policy, watches. No validation and no defaults; deterministic, and able to reject requests
// or be unavailable. With `isPopulated` it behaves as if it had controllers and kubelets.

import { randomUUID } from "node:crypto"
import { equalJson } from "../../apimachinery/equality.ts"
import { timestamp, type KubeObject } from "../../apimachinery/object.ts"
import { builtInResources } from "../../apimachinery/schema/facts.ts"
import { alreadyExists, conflict, noSuchPath, notFound, objectModified } from "../../apimachinery/status.ts"
import { systemClock, type Clock } from "../clock.ts"
import { namespaces } from "../resources.ts"
import type {
  DeleteOptions,
  DiscoveredResource,
  KubeClient,
  KubeList,
  ListOptions,
  PatchOptions,
  ReadOptions,
  Resource,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "../rest.ts"
import { leftOf } from "./fake-deletion.ts"
import { FakeStore, type Change } from "./fake-store.ts"
import { addressed, merged, patched, scaleOf, tokenFor, withNextGeneration } from "./fake-subresources.ts"

interface FakeClusterOptions {
  clock?: Clock
  /**
   * Namespaces are deleted at once with all their objects, pods with a node after their grace period; create ignores statuses.
   */
  isPopulated?: boolean
  /** Like isPopulated; in addition, objects require their namespace, and Services get addresses. */
  isSuper?: boolean
}

export class FakeCluster implements KubeClient {
  readonly #clock: Clock
  readonly #store = new FakeStore()
  readonly #isPopulated: boolean
  readonly isSuper: boolean
  #serial = 0
  #nextAddress = 10
  /** Custom resources. */
  readonly extra: DiscoveredResource[] = []
  /** Counts of calls by verb and resource: "create pods". */
  readonly calls = new Map<string, number>()
  /** All writes, as "verb resource namespace/name[/subresource]". */
  readonly writes: string[] = []
  answerRaw: (path: string) => unknown = () => {
    throw noSuchPath()
  }
  /** Group versions of aggregated APIs. */
  unavailableAPIs: string[] = []
  /** Set by a test to make calls fail. `object` is set for writes. */
  fail: ((verb: string, resource: string, object: KubeObject | undefined) => Error | undefined) | undefined

  constructor({ clock = systemClock, isSuper = false, isPopulated = isSuper }: FakeClusterOptions = {}) {
    this.#clock = clock
    this.#isPopulated = isPopulated
    this.isSuper = isSuper
  }

  unavailable(): Promise<readonly string[]> {
    return Promise.resolve(this.unavailableAPIs)
  }

  discover(): Promise<readonly DiscoveredResource[]> {
    const found = new Map<string, DiscoveredResource>()
    for (const resource of [...builtInResources(), ...this.extra]) {
      const id = `${resource.group}/${resource.resource}`
      if (!found.has(id)) found.set(id, resource)
    }
    return Promise.resolve([...found.values()])
  }

  async get<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    { subresource }: ReadOptions = {},
  ): Promise<T> {
    await this.#begin("get", resource)
    const object = this.#require(resource, namespace, name)
    return (subresource === "scale" ? scaleOf(resource, object) : object) as T
  }

  async raw(path: string): Promise<unknown> {
    await Promise.resolve()
    return this.answerRaw(path)
  }

  async list<T extends KubeObject>(resource: Resource, options: ListOptions = {}): Promise<KubeList<T>> {
    await this.#begin("list", resource)
    const metadata = { resourceVersion: String(this.#store.revision) }
    return { apiVersion: "v1", kind: "List", metadata, items: this.#store.list(resource, options) as T[] }
  }

  watch<T extends KubeObject>(resource: Resource, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    return this.#store.watch(resource, options) as AsyncGenerator<WatchEvent<T>>
  }

  async create<T extends KubeObject>(resource: Resource, object: T, { subresource }: WriteOptions = {}): Promise<T> {
    const { metadata } = object
    const { namespace } = metadata
    await this.#begin("create", resource, object, subresource)
    const name = metadata.name ?? `${metadata.generateName ?? ""}${String(this.#serial++).padStart(5, "0")}`
    this.#wrote("create", resource, namespace, name, subresource)
    if (subresource === "binding") return this.#bind(resource, object) as T
    if (subresource === "token") return tokenFor(object, this.#clock.now()) as T
    if (subresource !== undefined) throw new Error(`no subresource ${subresource}`)
    if (this.find(resource, namespace, name) !== undefined) throw alreadyExists(resource, name)
    if (resource.namespaced && this.isSuper) this.#require(namespaces, undefined, namespace ?? "")
    const isBareNamespace = resource.resource === "namespaces" && !this.#isPopulated
    const { status, ...contents } = structuredClone<KubeObject>(object)
    const made: KubeObject = {
      ...contents,
      apiVersion: object.apiVersion,
      kind: object.kind,
      ...(status === undefined || this.#isPopulated ? {} : { status }),
      ...(isBareNamespace ? { spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } } : {}),
      metadata: {
        ...structuredClone(metadata),
        name,
        uid: this.#isPopulated ? randomUUID() : (metadata.uid ?? randomUUID()),
        generation: 1,
        creationTimestamp: (this.#isPopulated ? undefined : metadata.creationTimestamp) ?? this.#now(),
      },
    }
    const isService = resource.resource === "services" && this.isSuper
    const services = isService ? this.#store.list(resource) : []
    const complete = isService ? addressed(made, services, () => `10.0.0.${this.#nextAddress++}`) : made
    return this.#store.put(resource, "ADDED", complete) as T
  }

  async update<T extends KubeObject>(resource: Resource, object: T, { subresource }: WriteOptions = {}): Promise<T> {
    const { namespace, name = "", resourceVersion } = object.metadata
    await this.#begin("update", resource, object, subresource)
    const current = this.#require(resource, namespace, name)
    this.#requireCurrent(resource, current, { resourceVersion })
    this.#wrote("update", resource, namespace, name, subresource)
    if (subresource === "scale") {
      const { replicas } = (object as { spec?: { replicas?: number } }).spec ?? {}
      const scaled = { ...current, spec: { ...(current["spec"] as object), replicas: replicas ?? 0 } }
      return scaleOf(resource, this.#change(resource, current, scaled, undefined)) as unknown as T
    }
    return this.#change(resource, current, structuredClone(object), subresource) as T
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    patch: unknown,
    { subresource, type }: PatchOptions,
  ): Promise<T> {
    await this.#begin("patch", resource, this.find(resource, namespace, name))
    const current = this.#require(resource, namespace, name)
    this.#requireCurrent(resource, current, (patch as Partial<KubeObject>).metadata ?? {})
    this.#wrote("patch", resource, namespace, name, subresource)
    const wanted = patched(resource, current, structuredClone(patch), type)
    return this.#change(resource, current, wanted, subresource) as T
  }

  async delete(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    options: DeleteOptions = {},
  ): Promise<void> {
    await this.#begin("delete", resource, this.find(resource, namespace, name))
    const current = this.#require(resource, namespace, name)
    this.#requireCurrent(resource, current, options)
    this.#wrote("delete", resource, namespace, name)
    const left = leftOf(resource, current, options, { isPopulated: this.#isPopulated, now: this.#now() })
    if (left === undefined) this.#take(resource, current)
    else if (left !== current) this.#store.put(resource, "MODIFIED", left)
  }

  async deleteCollection(resource: Resource, namespace: string | undefined): Promise<void> {
    for (const { metadata } of this.#store.list(resource, namespace === undefined ? {} : { namespace })) {
      await this.delete(resource, metadata.namespace, metadata.name ?? "", { gracePeriodSeconds: 0 })
    }
  }

  /** The current objects, sorted by name. */
  all<T extends KubeObject>(resource: Resource, namespace?: string): T[] {
    const items = this.#store.list(resource, namespace === undefined ? {} : { namespace }) as T[]
    return items.sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1))
  }

  find<T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string): T | undefined {
    return this.#store.find(resource, namespace, name) as T | undefined
  }

  /** Calls `call` synchronously for every change of an object, in order. */
  onChange(call: (change: Change) => void): () => void {
    return this.#store.onChange(call)
  }

  /** Changes an object as another client would, including its status. */
  edit(resource: Resource, namespace: string | undefined, name: string, change: Record<string, unknown>): KubeObject {
    const current = this.#require(resource, namespace, name)
    const next = merged(current, structuredClone(change)) as KubeObject
    return this.#store.put(resource, "MODIFIED", withNextGeneration(current, next))
  }

  /** Returns a function that restores this moment, as an administrator does who has a backup of etcd. */
  backup(): () => void {
    return this.#store.backup()
  }

  /** Deletes an object at once, regardless of finalizers, as a kubelet finally does. */
  remove(resource: Resource, namespace: string | undefined, name: string): void {
    this.#take(resource, this.#require(resource, namespace, name))
  }

  #take(resource: Resource, object: KubeObject): void {
    this.#store.remove(resource, object)
    if (resource.resource !== "namespaces" || !this.#isPopulated) return
    for (const [of, inside] of this.#store.within(object.metadata.name ?? "")) this.#store.remove(of, inside)
  }

  #change(resource: Resource, current: KubeObject, wanted: KubeObject, subresource: string | undefined): KubeObject {
    const isStatus = subresource === "status" || subresource === "approval"
    const { uid, creationTimestamp, deletionTimestamp, generation = 1, resourceVersion } = current.metadata
    const body = isStatus ? { ...current, status: wanted["status"] } : { ...wanted, status: current["status"] }
    const specChanged = !isStatus && !equalJson(current["spec"], wanted["spec"])
    const next = {
      ...body,
      metadata: {
        ...wanted.metadata,
        uid,
        creationTimestamp,
        generation: specChanged ? generation + 1 : generation,
        ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
        resourceVersion,
      },
    } as KubeObject
    if (next["status"] === undefined) delete next["status"]
    if (equalJson(next, current)) return current
    const { finalizers: ofNamespace = [] } = (next["spec"] ?? {}) as { finalizers?: string[] }
    const isHeld = (next.metadata.finalizers ?? []).length > 0 || ofNamespace.length > 0
    // A pod that its kubelet still has to end remains even without finalizers.
    const isEnding = (next.metadata["deletionGracePeriodSeconds"] ?? 0) !== 0
    if (deletionTimestamp === undefined || isHeld || isEnding) return this.#store.put(resource, "MODIFIED", next)
    this.#take(resource, next)
    return next
  }

  #bind(resource: Resource, { metadata, ...binding }: KubeObject): KubeObject {
    const { namespace, name = "" } = metadata
    const pod = this.#require(resource, namespace, name)
    if ((pod["spec"] as { nodeName?: string }).nodeName !== undefined) throw conflict(resource, name, "already bound")
    const { name: nodeName } = binding["target"] as { name: string }
    return this.edit(resource, namespace, name, { spec: { nodeName } })
  }

  #require(resource: Resource, namespace: string | undefined, name: string): KubeObject {
    const found = this.#store.find(resource, namespace, name)
    if (found === undefined) throw notFound(resource, name)
    return found
  }

  #requireCurrent(
    resource: Resource,
    { metadata }: KubeObject,
    { uid, resourceVersion }: { uid?: string | undefined; resourceVersion?: string | undefined },
  ): void {
    const isOther = uid !== undefined && uid !== metadata.uid
    const isNewer = resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion
    if (isOther || isNewer) throw conflict(resource, metadata.name ?? "", objectModified)
  }

  async #begin(verb: string, resource: Resource, object?: KubeObject, subresource?: string): Promise<void> {
    const key = `${subresource === undefined ? verb : `${verb} ${subresource} of`} ${resource.resource}`
    this.calls.set(key, (this.calls.get(key) ?? 0) + 1)
    await Promise.resolve()
    const error = this.fail?.(verb, resource.resource, object)
    if (error !== undefined) throw error
  }

  #wrote(verb: string, resource: Resource, namespace: string | undefined, name: string, subresource?: string): void {
    const tail = subresource === undefined ? "" : `/${subresource}`
    this.writes.push(`${verb} ${resource.resource} ${namespace ?? ""}/${name}${tail}`)
  }

  #now(): string {
    return timestamp(new Date(this.#clock.now()))
  }
}
