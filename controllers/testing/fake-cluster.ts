// A small API server in memory for controller tests: resourceVersions, optimistic locks, status apart from spec,
// generations, finalizers, graceful deletion by policy, watches. No validation, no defaults.

import { randomUUID } from "node:crypto"
import { matches, parseSelector } from "../../apimachinery/labels.ts"
import { parseGroupVersion, timestamp, type KubeObject } from "../../apimachinery/object.ts"
import { builtInResources } from "../../apimachinery/schema/facts.ts"
import { alreadyExists, conflict, noSuchPath, notFound, objectModified } from "../../apimachinery/status.ts"
import type { Clock } from "../../client/clock.ts"
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
} from "../../client/rest.ts"
import { jsonEqual } from "../equality.ts"

interface Watcher {
  resource: string
  push(event: WatchEvent<KubeObject>): void
}

export class FakeCluster implements KubeClient {
  readonly #clock: Clock
  readonly #objects = new Map<string, Map<string, KubeObject>>()
  readonly #watchers = new Set<Watcher>()
  readonly #log: { revision: number; resource: string; event: WatchEvent<KubeObject> }[] = []
  #revision = 1
  #serial = 0
  /** Custom resources. */
  readonly extra: DiscoveredResource[] = []
  /** Counts of calls by verb and resource: "create pods". */
  readonly calls = new Map<string, number>()
  /** Called before each write; may throw. */
  answerRaw: (path: string) => unknown = () => {
    throw noSuchPath()
  }
  intercept: (verb: string, resource: Resource, object: KubeObject) => void = () => undefined

  constructor(clock: Clock) {
    this.#clock = clock
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
    this.#count("get", resource)
    await Promise.resolve()
    const object = this.#get(resource, namespace, name)
    return (subresource === "scale" ? scaleOf(resource, object) : object) as T
  }

  async raw(path: string): Promise<unknown> {
    await Promise.resolve()
    return this.answerRaw(path)
  }

  async list<T extends KubeObject>(resource: Resource, options: ListOptions = {}): Promise<KubeList<T>> {
    this.#count("list", resource)
    await Promise.resolve()
    const selector = parseSelector(options.labelSelector ?? "")
    const items = [...this.#of(resource).values()].filter(
      ({ metadata }) =>
        (options.namespace === undefined || metadata.namespace === options.namespace) &&
        matches(selector, metadata.labels ?? {}),
    )
    return {
      apiVersion: "v1",
      kind: "List",
      metadata: { resourceVersion: String(this.#revision) },
      items: items as T[],
    }
  }

  async *watch<T extends KubeObject>(resource: Resource, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const id = idOf(resource)
    const queue = this.#log
      .filter(({ revision, resource: of }) => of === id && revision > Number(options.resourceVersion))
      .map(({ event }) => event)
    let wake: (() => void) | undefined
    const watcher: Watcher = {
      resource: id,
      push: (event) => {
        queue.push(event)
        wake?.()
      },
    }
    this.#watchers.add(watcher)
    const stop = (): void => wake?.()
    options.signal.addEventListener("abort", stop)
    try {
      while (!options.signal.aborted) {
        const event = queue.shift()
        if (event !== undefined) yield event as WatchEvent<T>
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      this.#watchers.delete(watcher)
    }
  }

  async create<T extends KubeObject>(resource: Resource, object: T, options: WriteOptions = {}): Promise<T> {
    this.#count("create", resource)
    await Promise.resolve()
    if (options.subresource !== undefined) throw new Error(`no subresource ${options.subresource}`)
    this.intercept("create", resource, object)
    const { metadata } = object
    const name = metadata.name ?? `${metadata.generateName ?? ""}${String(this.#serial++).padStart(5, "0")}`
    if (this.#of(resource).has(keyOf(metadata.namespace, name))) throw alreadyExists(resource, name)
    const isNamespace = resource.resource === "namespaces"
    return this.#store(resource, "ADDED", {
      ...structuredClone(object),
      ...(isNamespace ? { spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } } : {}),
      metadata: {
        ...structuredClone(metadata),
        name,
        uid: metadata.uid ?? randomUUID(),
        generation: 1,
        creationTimestamp: metadata.creationTimestamp ?? timestamp(new Date(this.#clock.now())),
      },
    }) as T
  }

  async update<T extends KubeObject>(resource: Resource, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace, name = "", resourceVersion } = object.metadata
    this.#count(options.subresource === undefined ? "update" : `update ${options.subresource} of`, resource)
    await Promise.resolve()
    this.intercept("update", resource, object)
    const current = this.#get(resource, namespace, name)
    if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion) {
      throw conflict(resource, name, objectModified)
    }
    if (options.subresource === "scale") {
      const { replicas } = (object as { spec?: { replicas?: number } }).spec ?? {}
      const scaled = { ...current, spec: { ...(current["spec"] as object), replicas: replicas ?? 0 } }
      return scaleOf(resource, this.#change(resource, current, scaled, undefined)) as unknown as T
    }
    return this.#change(resource, current, structuredClone(object), options.subresource) as T
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    patch: unknown,
    options: PatchOptions,
  ): Promise<T> {
    this.#count("patch", resource)
    await Promise.resolve()
    const current = this.#get(resource, namespace, name)
    this.intercept("patch", resource, current)
    const { uid, resourceVersion } = (patch as Partial<KubeObject>).metadata ?? {}
    const isOther = uid !== undefined && uid !== current.metadata.uid
    if (isOther || (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion)) {
      throw conflict(resource, name, objectModified)
    }
    return this.#change(resource, current, merge(current, patch) as KubeObject, options.subresource) as T
  }

  async delete(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    options: DeleteOptions = {},
  ): Promise<void> {
    this.#count("delete", resource)
    await Promise.resolve()
    const current = this.#get(resource, namespace, name)
    const { uid, resourceVersion } = options
    const isOther = uid !== undefined && uid !== current.metadata.uid
    if (isOther || (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion)) {
      throw conflict(resource, name, objectModified)
    }
    this.intercept("delete", resource, current)
    const policy = { Foreground: "foregroundDeletion", Orphan: "orphan", Background: "" }[
      options.propagationPolicy ?? "Background"
    ]
    const finalizers = [...(current.metadata.finalizers ?? []), ...(policy === "" ? [] : [policy])]
    const held =
      finalizers.length > 0 || (current as { spec?: { finalizers?: string[] } }).spec?.finalizers !== undefined
    if (!held) {
      this.#remove(resource, current)
      return
    }
    if (current.metadata.deletionTimestamp !== undefined) return
    const deletionTimestamp = timestamp(new Date(this.#clock.now()))
    const metadata = {
      ...current.metadata,
      deletionTimestamp,
      ...(finalizers.length === 0 ? {} : { finalizers: [...new Set(finalizers)] }),
    }
    const isNamespace = resource.resource === "namespaces"
    this.#store(resource, "MODIFIED", {
      ...current,
      metadata,
      ...(isNamespace ? { status: { phase: "Terminating" } } : {}),
    })
  }

  async deleteCollection(resource: Resource, namespace: string | undefined): Promise<void> {
    for (const { metadata } of (await this.list(resource, namespace === undefined ? {} : { namespace })).items) {
      await this.delete(resource, metadata.namespace, metadata.name ?? "")
    }
  }

  /** What is there now, by name. */
  all<T extends KubeObject>(resource: Resource, namespace?: string): T[] {
    const items = [...this.#of(resource).values()] as T[]
    return items
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
      .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1))
  }

  find<T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string): T | undefined {
    return this.#of(resource).get(keyOf(namespace, name)) as T | undefined
  }

  #of(resource: Resource): Map<string, KubeObject> {
    let objects = this.#objects.get(idOf(resource))
    if (objects === undefined) this.#objects.set(idOf(resource), (objects = new Map()))
    return objects
  }

  #get(resource: Resource, namespace: string | undefined, name: string): KubeObject {
    const found = this.#of(resource).get(keyOf(namespace, name))
    if (found === undefined) throw notFound(resource, name)
    return found
  }

  #change(resource: Resource, current: KubeObject, wanted: KubeObject, subresource: string | undefined): KubeObject {
    const isStatus = subresource === "status"
    const { uid, creationTimestamp, deletionTimestamp, generation = 1 } = current.metadata
    const body = isStatus ? { ...current, status: wanted["status"] } : { ...wanted, status: current["status"] }
    const specChanged = !isStatus && !jsonEqual(current["spec"], wanted["spec"])
    const next = {
      ...body,
      metadata: {
        ...wanted.metadata,
        uid,
        creationTimestamp,
        generation: specChanged ? generation + 1 : generation,
        ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
        resourceVersion: current.metadata.resourceVersion,
      },
    } as KubeObject
    if (jsonEqual(next, current)) return current
    const specFinalizers = (next as { spec?: { finalizers?: string[] } }).spec?.finalizers ?? []
    if (
      deletionTimestamp !== undefined &&
      (next.metadata.finalizers ?? []).length === 0 &&
      specFinalizers.length === 0
    ) {
      this.#remove(resource, next)
      return next
    }
    return this.#store(resource, "MODIFIED", next)
  }

  #store(resource: Resource, type: "ADDED" | "MODIFIED", object: KubeObject): KubeObject {
    const stored = freeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#revision) } })
    this.#of(resource).set(keyOf(stored.metadata.namespace, stored.metadata.name ?? ""), stored)
    this.#tell(resource, { type, object: stored })
    return stored
  }

  #remove(resource: Resource, object: KubeObject): void {
    this.#of(resource).delete(keyOf(object.metadata.namespace, object.metadata.name ?? ""))
    const last = freeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#revision) } })
    this.#tell(resource, { type: "DELETED", object: last })
  }

  #tell(resource: Resource, event: WatchEvent<KubeObject>): void {
    const id = idOf(resource)
    this.#log.push({ revision: this.#revision, resource: id, event })
    for (const watcher of this.#watchers) if (watcher.resource === id) watcher.push(event)
  }

  #count(verb: string, { resource }: Resource): void {
    const key = `${verb} ${resource}`
    this.calls.set(key, (this.calls.get(key) ?? 0) + 1)
  }
}

const idOf = ({ group, resource }: Resource): string => `${group}/${resource}`
const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ""}/${name}`

const scalable = new Set(["deployments", "replicasets", "statefulsets", "replicationcontrollers"])

/** Kinds without a scale answer as a server does that has no such path. */
function scaleOf({ resource }: Resource, object: KubeObject): KubeObject {
  const { spec, status } = object as {
    spec?: { replicas?: number; selector?: { matchLabels?: object } }
    status?: { replicas?: number }
  }
  if (!scalable.has(resource) && spec?.replicas === undefined) throw noSuchPath()
  const labels = Object.entries(spec?.selector?.matchLabels ?? spec?.selector ?? {})
  return {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: object.metadata,
    spec: { replicas: spec?.replicas ?? 0 },
    status: { replicas: status?.replicas ?? 0, selector: labels.map(([key, value]) => `${key}=${value}`).join(",") },
  }
}

const deleteFromList = "$deleteFromPrimitiveList/"

function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch
  const result: Record<string, unknown> = { ...(target as Record<string, unknown>) }
  for (const [key, value] of Object.entries(patch)) {
    // The one directive of strategic patches that controllers use.
    if (key.startsWith(deleteFromList)) {
      const list = key.slice(deleteFromList.length)
      const left = ((result[list] ?? []) as unknown[]).filter((item) => !(value as unknown[]).includes(item))
      if (left.length > 0) result[list] = left
      else delete result[list]
    } else if (value === null) delete result[key]
    else result[key] = merge(result[key], value)
  }
  return result
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}

/** "apps/v1 Deployment" of an object as a resource of the facts. */
export function resourceOf({ apiVersion, kind }: KubeObject): Resource {
  const { group, version } = parseGroupVersion(apiVersion)
  const found = builtInResources().find(
    (resource) => resource.group === group && resource.version === version && resource.kind === kind,
  )
  if (found === undefined) throw new Error(`no built-in resource of ${apiVersion} ${kind}`)
  return found
}
