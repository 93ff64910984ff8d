// An API server as small as the syncer's tests need: objects, resource versions, watches, merge patches, preconditions, a
// pod's binding and graceful deletion, service addresses. Deterministic, and able to refuse or be out of reach.

import { randomUUID } from "node:crypto"
import type { KubeObject } from "../../apimachinery/object.ts"
import { alreadyExists, conflict, invalid, notFound, objectModified } from "../../apimachinery/status.ts"
import { FieldPath, invalidValue } from "../../apimachinery/field-errors.ts"
import type {
  DeleteOptions,
  KubeClient,
  KubeList,
  ListOptions,
  PatchOptions,
  Resource,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "../../client/rest.ts"

type Change = { type: "ADDED" | "MODIFIED" | "DELETED"; resource: string; object: KubeObject; version: number }

export class FakeCluster implements KubeClient {
  readonly #objects = new Map<string, KubeObject>()
  readonly #log: Change[] = []
  readonly #watchers = new Set<() => void>()
  #version = 1
  #nextAddress = 10
  /** Set by a test to make calls fail. */
  fail: ((verb: string, resource: string, object: KubeObject | undefined) => Error | undefined) | undefined
  /** Every write, as "verb resource namespace/name[/subresource]". */
  readonly writes: string[] = []
  readonly isSuper: boolean

  constructor(options: { isSuper?: boolean } = {}) {
    this.isSuper = options.isSuper ?? false
  }

  /** Calls for every change of an object, at once and in order. */
  onChange(call: (change: Change) => void): () => void {
    let seen = this.#log.length
    const tell = (): void => {
      for (; seen < this.#log.length; seen++) call(this.#log[seen] as Change)
    }
    this.#watchers.add(tell)
    return () => this.#watchers.delete(tell)
  }

  all(resource: Resource): KubeObject[] {
    const prefix = `${resource.resource} `
    return [...this.#objects].filter(([key]) => key.startsWith(prefix)).map(([, object]) => object)
  }

  find<T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string): T | undefined {
    return this.#objects.get(keyOf(resource, namespace, name)) as T | undefined
  }

  discover(): Promise<[]> {
    return Promise.resolve([])
  }

  async get<T extends KubeObject>(resource: Resource, namespace: string | undefined, name: string): Promise<T> {
    this.#mayFail("get", resource, undefined)
    return this.#must(resource, namespace, name) as T
  }

  async raw(): Promise<never> {
    throw new Error("not used by the syncer")
  }

  async list<T extends KubeObject>(resource: Resource, options: ListOptions = {}): Promise<KubeList<T>> {
    this.#mayFail("list", resource, undefined)
    const items = this.all(resource).filter((object) => selected(object, options)) as T[]
    return { apiVersion: "v1", kind: "List", metadata: { resourceVersion: String(this.#version) }, items }
  }

  async *watch<T extends KubeObject>(resource: Resource, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    let at = this.#log.findIndex(({ version }) => version > Number(options.resourceVersion))
    if (at < 0) at = this.#log.length
    const before = new Set<string>()
    while (!options.signal.aborted) {
      for (; at < this.#log.length; at++) {
        const change = this.#log[at] as Change
        if (change.resource !== resource.resource) continue
        const id = change.object.metadata.uid ?? ""
        // Objects that leave the selection are deleted for this watcher.
        const matches = selected(change.object, options) && change.type !== "DELETED"
        if (matches) {
          const type = change.type === "MODIFIED" && !before.has(id) ? "MODIFIED" : change.type
          before.add(id)
          yield { type, object: change.object as T }
        } else yield { type: "DELETED", object: change.object as T }
      }
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#watchers.delete(wake)
          options.signal.removeEventListener("abort", wake)
          resolve()
        }
        this.#watchers.add(wake)
        options.signal.addEventListener("abort", wake, { once: true })
      })
    }
  }

  async create<T extends KubeObject>(resource: Resource, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace, name = "" } = object.metadata
    this.#mayFail("create", resource, object)
    this.#wrote("create", resource, namespace, name, options.subresource)
    if (options.subresource === "binding") return this.#bind(resource, object) as T
    if (options.subresource === "token") return this.#token(object) as T
    if (this.#objects.has(keyOf(resource, namespace, name))) throw alreadyExists(resource, name)
    if (resource.namespaced && this.isSuper) this.#mustHaveNamespace(namespace ?? "")
    const { status: _status, ...contents } = structuredClone<KubeObject>(object)
    const made = this.#put(resource, "ADDED", {
      ...contents,
      apiVersion: object.apiVersion,
      kind: object.kind,
      metadata: {
        ...object.metadata,
        uid: randomUUID(),
        creationTimestamp: new Date().toISOString(),
        generation: 1,
      },
    })
    if (resource.resource === "services" && this.isSuper) return this.#allocate(resource, made) as T
    return made as T
  }

  async update<T extends KubeObject>(resource: Resource, object: T): Promise<T> {
    const { namespace, name = "" } = object.metadata
    this.#wrote("update", resource, namespace, name)
    const current = this.#must(resource, namespace, name)
    return this.#put(resource, "MODIFIED", {
      ...object,
      metadata: { ...object.metadata, uid: current.metadata.uid ?? "" },
    }) as T
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    patch: unknown,
    options: PatchOptions,
  ): Promise<T> {
    const change = structuredClone(patch) as Record<string, Record<string, unknown>>
    const current = this.#must(resource, namespace, name)
    this.#mayFail("patch", resource, current)
    this.#wrote("patch", resource, namespace, name, options.subresource)
    const { uid, resourceVersion, ...metadata } = change["metadata"] ?? {}
    if (uid !== undefined && uid !== current.metadata.uid) throw conflict(resource, name, "the UID is another")
    if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion) {
      throw conflict(resource, name, objectModified)
    }
    const { status, ...rest } = change
    const wanted = options.subresource === "status" ? { status, metadata } : { ...rest, metadata }
    return this.#put(resource, "MODIFIED", merge(current, wanted) as KubeObject) as T
  }

  async delete(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    options: DeleteOptions = {},
  ): Promise<void> {
    const current = this.#must(resource, namespace, name)
    this.#mayFail("delete", resource, current)
    this.#wrote("delete", resource, namespace, name)
    if (options.uid !== undefined && options.uid !== current.metadata.uid) throw conflict(resource, name, "another UID")
    const spec = current["spec"] as { nodeName?: string; terminationGracePeriodSeconds?: number } | undefined
    const grace = options.gracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 30
    if (resource.resource === "pods" && grace > 0 && (spec?.nodeName ?? "") !== "") {
      const deletionTimestamp = current.metadata.deletionTimestamp ?? new Date().toISOString()
      const metadata = { ...current.metadata, deletionTimestamp, deletionGracePeriodSeconds: grace }
      this.#put(resource, "MODIFIED", { ...current, metadata })
      return
    }
    this.remove(resource, namespace, name)
  }

  async deleteCollection(resource: Resource, namespace: string | undefined): Promise<void> {
    for (const { metadata } of this.all(resource)) {
      if (metadata.namespace === namespace) this.remove(resource, namespace, metadata.name ?? "")
    }
  }

  /** Gone at once, whatever its grace period: what a kubelet does at the end. */
  remove(resource: Resource, namespace: string | undefined, name: string): void {
    const current = this.#must(resource, namespace, name)
    this.#objects.delete(keyOf(resource, namespace, name))
    this.#emit(resource, "DELETED", {
      ...current,
      metadata: { ...current.metadata, resourceVersion: String(++this.#version) },
    })
    if (resource.resource !== "namespaces") return
    for (const [key, object] of this.#objects) {
      if (object.metadata.namespace !== name) continue
      this.#objects.delete(key)
      this.#emit({ ...resource, resource: key.split(" ")[0] as string }, "DELETED", object)
    }
  }

  /** As if written by somebody else, status included. */
  edit(resource: Resource, namespace: string | undefined, name: string, change: Record<string, unknown>): KubeObject {
    return this.#put(resource, "MODIFIED", merge(this.#must(resource, namespace, name), change) as KubeObject)
  }

  #bind(resource: Resource, binding: KubeObject): KubeObject {
    const { namespace, name = "" } = binding.metadata
    const target = binding["target"] as { name: string }
    const pod = this.#must(resource, namespace, name)
    if ((pod["spec"] as { nodeName?: string }).nodeName !== undefined) throw conflict(resource, name, "already bound")
    return this.edit(resource, namespace, name, { spec: { nodeName: target.name }, metadata: pod.metadata })
  }

  #token(request: KubeObject): KubeObject {
    const { expirationSeconds } = request["spec"] as { expirationSeconds: number }
    const expirationTimestamp = new Date(Date.now() + expirationSeconds * 1000).toISOString()
    return { ...request, status: { token: `token-${randomUUID()}`, expirationTimestamp } }
  }

  #allocate(resource: Resource, service: KubeObject): KubeObject {
    const spec = service["spec"] as { clusterIP?: string; type?: string }
    if (spec.type === "ExternalName") return service
    const taken = this.all(resource).some(
      (other) => other !== service && (other["spec"] as { clusterIP?: string }).clusterIP === spec.clusterIP,
    )
    if (spec.clusterIP !== undefined && spec.clusterIP !== "None" && taken) {
      this.#objects.delete(keyOf(resource, service.metadata.namespace, service.metadata.name ?? ""))
      const path = FieldPath.root("spec", "clusterIPs").index(0)
      throw invalid({ group: "", kind: "Service" }, service.metadata.name ?? "", [
        invalidValue(path, spec.clusterIP, "failed to allocate IP: provided IP is already allocated"),
      ])
    }
    const clusterIP = spec.clusterIP ?? `10.0.0.${this.#nextAddress++}`
    const { namespace, name = "" } = service.metadata
    return this.edit(resource, namespace, name, { spec: { clusterIP, clusterIPs: [clusterIP] } })
  }

  #mustHaveNamespace(name: string): void {
    const resource = { group: "", version: "v1", resource: "namespaces", namespaced: false }
    if (!this.#objects.has(keyOf(resource, undefined, name))) throw notFound(resource, name)
  }

  #must(resource: Resource, namespace: string | undefined, name: string): KubeObject {
    const object = this.#objects.get(keyOf(resource, namespace, name))
    if (object === undefined) throw notFound(resource, name)
    return object
  }

  #put(resource: Resource, type: "ADDED" | "MODIFIED", object: KubeObject): KubeObject {
    const key = keyOf(resource, object.metadata.namespace, object.metadata.name ?? "")
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } }
    this.#objects.set(key, stored)
    this.#emit(resource, type, stored)
    return stored
  }

  #emit(resource: Resource, type: Change["type"], object: KubeObject): void {
    this.#log.push({ type, resource: resource.resource, object, version: Number(object.metadata.resourceVersion) })
    for (const watcher of this.#watchers) watcher()
  }

  #wrote(verb: string, resource: Resource, namespace: string | undefined, name: string, subresource?: string): void {
    const tail = subresource === undefined ? "" : `/${subresource}`
    this.writes.push(`${verb} ${resource.resource} ${namespace ?? ""}/${name}${tail}`)
  }

  #mayFail(verb: string, resource: Resource, object: KubeObject | undefined): void {
    const error = this.fail?.(verb, resource.resource, object)
    if (error !== undefined) throw error
  }
}

function keyOf({ resource }: Resource, namespace: string | undefined, name: string): string {
  return `${resource} ${namespace ?? ""}/${name}`
}

function selected(
  object: KubeObject,
  { namespace, labelSelector }: { namespace?: string; labelSelector?: string },
): boolean {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false
  if (labelSelector === undefined) return true
  const [key = "", value] = labelSelector.split("=")
  return object.metadata.labels?.[key] === value
}

function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch
  const result: Record<string, unknown> =
    typeof target === "object" && target !== null && !Array.isArray(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else if (value !== undefined) result[key] = merge(result[key], value)
  }
  return result
}
