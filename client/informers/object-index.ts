// The storage of an informer: references to the frozen objects it received, by namespace and name, and the owner's indexes, which
// are updated with each change. Most tenants have no objects of most resources, which then need no maps. A namespace can be
// folded (folded.ts) until one of its objects is requested.

import type { KubeObject } from "../../apimachinery/object.ts"
import { Folded } from "./folded.ts"

/** Index name → function that returns the index values of an object. */
export type IndexFunctions<T> = Record<string, (object: T) => readonly string[]>

/** Never modified: used by indexes that have never contained an object. */
const none = new Map<never, never>()

export class ObjectIndex<T extends KubeObject> {
  readonly #functions: IndexFunctions<T>
  #byNamespace: Map<string, Map<string, T> | Folded<T>> = none
  /** A folded namespace has an entry for every index value of its objects. */
  #indexes: Map<string, Map<string, Set<T | Folded<T>>>> = none
  #size = 0

  constructor(functions: IndexFunctions<T> = {}) {
    this.#functions = functions
  }

  get size(): number {
    return this.#size
  }

  get(namespace: string | undefined, name: string): T | undefined {
    return this.#objectsIn(namespace ?? "")?.get(name)
  }

  /** Adds the object, or replaces the one with the same name, which is returned. */
  set(object: T): T | undefined {
    const { namespace = "", name = "" } = object.metadata
    let objects = this.#objectsIn(namespace)
    if (this.#byNamespace === none) this.#begin()
    if (objects === undefined) this.#byNamespace.set(namespace, (objects = new Map<string, T>()))
    const previous = objects.get(name)
    objects.set(name, object)
    if (previous === undefined) this.#size++
    else this.#unindex(previous, previous)
    this.#index(object, object)
    return previous
  }

  delete(namespace: string | undefined, name: string): T | undefined {
    const objects = this.#objectsIn(namespace ?? "")
    const previous = objects?.get(name)
    if (objects === undefined || previous === undefined) return undefined
    objects.delete(name)
    if (objects.size === 0) this.#byNamespace.delete(namespace ?? "")
    this.#size--
    this.#unindex(previous, previous)
    return previous
  }

  list(namespace?: string): T[] {
    if (namespace !== undefined) return [...(this.#objectsIn(namespace)?.values() ?? [])]
    const all: T[] = []
    for (const name of this.#byNamespace.keys())
      for (const object of this.#objectsIn(name)?.values() ?? []) all.push(object)
    return all
  }

  byIndex(index: string, value: string): T[] {
    const bucket = this.#found(index, value)
    for (const entry of bucket ?? []) if (entry instanceof Folded) this.#unfold(entry)
    return [...((bucket as Set<T> | undefined) ?? [])]
  }

  /** The length of byIndex(), without a copy. The objects of a namespace that is folded count once. */
  countByIndex(index: string, value: string): number {
    return this.#found(index, value)?.size ?? 0
  }

  #found(index: string, value: string): Set<T | Folded<T>> | undefined {
    if (this.#functions[index] === undefined) throw new Error(`no index "${index}"`)
    return this.#indexes.get(index)?.get(value)
  }

  /** Compresses the objects of a namespace until one of them is requested. */
  fold(namespace: string): void {
    const objects = this.#byNamespace.get(namespace)
    if (objects === undefined || objects instanceof Folded) return
    const folded = Folded.of(namespace, [...objects.values()])
    if (folded === undefined) return
    for (const object of objects.values()) {
      this.#unindex(object, object)
      this.#index(object, folded)
    }
    this.#byNamespace.set(namespace, folded)
  }

  /** Namespaces that have objects; "" for those of cluster-scoped ones. */
  namespaces(): string[] {
    return [...this.#byNamespace.keys()]
  }

  /** Namespaces that are currently folded. */
  folded(): string[] {
    const names: string[] = []
    for (const [name, objects] of this.#byNamespace) if (objects instanceof Folded) names.push(name)
    return names
  }

  #objectsIn(namespace: string): Map<string, T> | undefined {
    const objects = this.#byNamespace.get(namespace)
    return objects instanceof Folded ? this.#unfold(objects) : objects
  }

  #unfold(folded: Folded<T>): Map<string, T> {
    const objects = new Map<string, T>()
    for (const object of folded.objects()) {
      objects.set(object.metadata.name ?? "", object)
      // Added before the folded entries are removed, since an empty bucket would be dropped.
      this.#index(object, object)
    }
    for (const object of objects.values()) this.#unindex(object, folded)
    this.#byNamespace.set(folded.namespace, objects)
    return objects
  }

  /** Called for the first object. */
  #begin(): void {
    this.#byNamespace = new Map()
    this.#indexes = new Map()
  }

  #valuesOf(index: string, object: T): readonly string[] {
    return this.#functions[index]?.(object) ?? []
  }

  #bucket(index: string, value: string): Set<T | Folded<T>> {
    let buckets = this.#indexes.get(index)
    if (buckets === undefined) this.#indexes.set(index, (buckets = new Map<string, Set<T | Folded<T>>>()))
    let bucket = buckets.get(value)
    if (bucket === undefined) buckets.set(value, (bucket = new Set<T | Folded<T>>()))
    return bucket
  }

  /** Adds `entry` under the index values of the object. */
  #index(object: T, entry: T | Folded<T>): void {
    for (const index in this.#functions) {
      for (const value of this.#valuesOf(index, object)) this.#bucket(index, value).add(entry)
    }
  }

  /** Index functions are pure and objects frozen, so the values are those under which it was added. */
  #unindex(object: T, entry: T | Folded<T>): void {
    for (const index in this.#functions) {
      const buckets = this.#indexes.get(index)
      for (const value of this.#valuesOf(index, object)) {
        const bucket = buckets?.get(value)
        bucket?.delete(entry)
        if (bucket?.size === 0) buckets?.delete(value)
      }
    }
  }
}
