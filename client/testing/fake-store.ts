// The state of a fake cluster: objects by resource, resourceVersions, and the history of all changes for watches.

import { parseFieldSelector } from "../../apimachinery/fields.ts"
import { matches, parseSelector } from "../../apimachinery/labels.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import type { ListOptions, Resource, WatchEvent, WatchOptions } from "../rest.ts"

export interface Change {
  type: "ADDED" | "MODIFIED" | "DELETED"
  /** The plural name. */
  resource: string
  object: KubeObject
}

interface Recorded extends Change {
  id: string
  revision: number
}

interface Watcher {
  /** The resource; undefined for all resources. */
  id: string | undefined
  /** Called synchronously. */
  notify(change: Recorded): void
  /** A watch ends. */
  end?(): void
}

export class FakeStore {
  readonly #objects = new Map<string, Map<string, KubeObject>>()
  readonly #log: Recorded[] = []
  readonly #watchers = new Set<Watcher>()
  #revision = 1

  get revision(): number {
    return this.#revision
  }

  find(resource: Resource, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#of(resource).get(keyOf(namespace, name))
  }

  list(resource: Resource, options: Selection = {}): KubeObject[] {
    return [...this.#of(resource).values()].filter((object) => isSelected(object, options))
  }

  /** All objects of a namespace with their resources. */
  within(namespace: string): [Resource, KubeObject][] {
    return [...this.#objects].flatMap(([id, objects]) => {
      const [group = "", resource = ""] = id.split("/")
      const of: Resource = { group, version: "v1", resource, namespaced: true }
      const inside = [...objects.values()].filter(({ metadata }) => metadata.namespace === namespace)
      return inside.map((object): [Resource, KubeObject] => [of, object])
    })
  }

  put(resource: Resource, type: "ADDED" | "MODIFIED", object: KubeObject): KubeObject {
    const stored = freeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#revision) } })
    this.#of(resource).set(keyOf(stored.metadata.namespace, stored.metadata.name ?? ""), stored)
    this.#record(resource, type, stored)
    return stored
  }

  remove(resource: Resource, object: KubeObject): void {
    this.#of(resource).delete(keyOf(object.metadata.namespace, object.metadata.name ?? ""))
    const last = freeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#revision) } })
    this.#record(resource, "DELETED", last)
  }

  /** Returns a function that restores this moment, as if nothing had happened since: watches end, which are told of no change. */
  backup(): () => void {
    const revision = this.#revision
    const objects = [...this.#objects].map(([id, of]) => [id, new Map(of)] as const)
    return () => {
      this.#revision = revision
      this.#objects.clear()
      for (const [id, of] of objects) this.#objects.set(id, new Map(of))
      const known = this.#log.findLastIndex((change) => change.revision <= revision) + 1
      this.#log.splice(known)
      for (const watcher of this.#watchers) watcher.end?.()
    }
  }

  /** Calls `call` synchronously for every later change, in order. */
  onChange(call: (change: Change) => void): () => void {
    const watcher: Watcher = { id: undefined, notify: call }
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  async *watch(resource: Resource, options: WatchOptions): AsyncGenerator<WatchEvent<KubeObject>> {
    const id = idOf(resource)
    const { signal } = options
    const queue = this.#log.filter((change) => change.id === id && change.revision > Number(options.resourceVersion))
    const selected = new Set<string>()
    let wake: (() => void) | undefined
    let isOver = false
    const watcher: Watcher = {
      id,
      end: () => {
        isOver = true
        queue.length = 0
        wake?.()
      },
      notify: (change) => {
        queue.push(change)
        wake?.()
      },
    }
    this.#watchers.add(watcher)
    const stop = (): void => wake?.()
    signal.addEventListener("abort", stop)
    try {
      while (!signal.aborted && !isOver) {
        const change = queue.shift()
        if (change === undefined) await new Promise<void>((resolve) => (wake = resolve))
        else yield seen(change, options, selected)
      }
    } finally {
      this.#watchers.delete(watcher)
      signal.removeEventListener("abort", stop)
    }
  }

  #of(resource: Resource): Map<string, KubeObject> {
    let objects = this.#objects.get(idOf(resource))
    if (objects === undefined) this.#objects.set(idOf(resource), (objects = new Map()))
    return objects
  }

  #record(resource: Resource, type: Change["type"], object: KubeObject): void {
    const change = { type, resource: resource.resource, object, id: idOf(resource), revision: this.#revision }
    this.#log.push(change)
    for (const watcher of this.#watchers)
      if (watcher.id === undefined || watcher.id === change.id) watcher.notify(change)
  }
}

/** Objects that leave a watch's selection appear as deleted, those that enter it as added. */
function seen(
  { type, object }: Recorded,
  options: Pick<WatchOptions, "namespace" | "labelSelector">,
  selected: Set<string>,
): WatchEvent<KubeObject> {
  if (options.namespace === undefined && options.labelSelector === undefined) return { type, object }
  const { uid = "" } = object.metadata
  if (type === "DELETED" || !isSelected(object, options)) {
    selected.delete(uid)
    return { type: "DELETED", object }
  }
  const isNew = !selected.has(uid)
  selected.add(uid)
  return { type: isNew && type === "ADDED" ? "ADDED" : "MODIFIED", object }
}

type Selection = Pick<ListOptions, "namespace" | "labelSelector" | "fieldSelector">

/** Supports any field. */
function isSelected(object: KubeObject, { namespace, labelSelector = "", fieldSelector = "" }: Selection): boolean {
  const { metadata } = object
  if (namespace !== undefined && metadata.namespace !== namespace) return false
  const matchesFields = parseFieldSelector(fieldSelector).requirements.every(({ field, equal, value }) => {
    let found: unknown = object
    for (const key of field.split(".")) found = (found as Record<string, unknown> | undefined)?.[key]
    return ((found ?? "") === value) === equal
  })
  return matchesFields && (labelSelector === "" || matches(parseSelector(labelSelector), metadata.labels ?? {}))
}

const idOf = ({ group, resource }: Resource): string => `${group}/${resource}`
const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ""}/${name}`

/** The gateway's in-process client returns frozen objects, too. */
function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}
