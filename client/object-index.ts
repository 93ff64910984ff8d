// What an informer remembers: references to the frozen objects it was given, by namespace and name, and the indexes its
// owner asked for, maintained change by change. Most tenants have nothing of most resources: that costs no maps.

import type { KubeObject } from "../apimachinery/object.ts"

/** Index name → the values an object is found under. */
export type IndexFunctions<T> = Record<string, (object: T) => readonly string[]>

/** Never written to: of those that have held nothing yet. */
const none = new Map<never, never>()

export class ObjectIndex<T extends KubeObject> {
  readonly #functions: IndexFunctions<T>
  #byNamespace: Map<string, Map<string, T>> = none
  #indexes: Map<string, Map<string, Set<T>>> = none
  #size = 0

  constructor(functions: IndexFunctions<T> = {}) {
    this.#functions = functions
  }

  get size(): number {
    return this.#size
  }

  get(namespace: string | undefined, name: string): T | undefined {
    return this.#byNamespace.get(namespace ?? "")?.get(name)
  }

  /** Puts the object in place of the one of its name, which is returned. */
  set(object: T): T | undefined {
    const { namespace = "", name = "" } = object.metadata
    let objects = this.#byNamespace.get(namespace)
    if (this.#byNamespace === none) this.#begin()
    if (objects === undefined) this.#byNamespace.set(namespace, (objects = new Map<string, T>()))
    const previous = objects.get(name)
    objects.set(name, object)
    if (previous === undefined) this.#size++
    else this.#unindex(previous)
    for (const index in this.#functions) {
      for (const value of this.#valuesOf(index, object)) this.#bucket(index, value).add(object)
    }
    return previous
  }

  delete(namespace: string | undefined, name: string): T | undefined {
    const objects = this.#byNamespace.get(namespace ?? "")
    const previous = objects?.get(name)
    if (objects === undefined || previous === undefined) return undefined
    objects.delete(name)
    if (objects.size === 0) this.#byNamespace.delete(namespace ?? "")
    this.#size--
    this.#unindex(previous)
    return previous
  }

  list(namespace?: string): T[] {
    if (namespace !== undefined) return [...(this.#byNamespace.get(namespace)?.values() ?? [])]
    const all: T[] = []
    for (const objects of this.#byNamespace.values()) for (const object of objects.values()) all.push(object)
    return all
  }

  byIndex(index: string, value: string): T[] {
    if (this.#functions[index] === undefined) throw new Error(`no index "${index}"`)
    return [...(this.#indexes.get(index)?.get(value) ?? [])]
  }

  /** The first object comes. */
  #begin(): void {
    this.#byNamespace = new Map()
    this.#indexes = new Map()
  }

  #valuesOf(index: string, object: T): readonly string[] {
    return this.#functions[index]?.(object) ?? []
  }

  #bucket(index: string, value: string): Set<T> {
    let buckets = this.#indexes.get(index)
    if (buckets === undefined) this.#indexes.set(index, (buckets = new Map<string, Set<T>>()))
    let bucket = buckets.get(value)
    if (bucket === undefined) buckets.set(value, (bucket = new Set<T>()))
    return bucket
  }

  /** Index functions are pure and objects frozen: the values now are those it was put under. */
  #unindex(object: T): void {
    for (const index in this.#functions) {
      const buckets = this.#indexes.get(index)
      for (const value of this.#valuesOf(index, object)) {
        const bucket = buckets?.get(value)
        bucket?.delete(object)
        if (bucket?.size === 0) buckets?.delete(value)
      }
    }
  }
}
