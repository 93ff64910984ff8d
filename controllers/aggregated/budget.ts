// Limits what is kept in memory of the objects of a tenant's aggregated APIs: those that have owners or are being deleted.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { DiscoveredResource } from "../../client/rest.ts"

/** Objects, and characters of their metadata. Those beyond are neither collected with their owners nor finalized. */
const maxObjects = 10_000
const maxCharacters = 4 * 1024 * 1024

export class Budget {
  /** By resource: the sizes of objects by uid. */
  readonly #kept = new Map<DiscoveredResource, Map<string, number>>()
  #objects = 0
  #characters = 0

  /** Returns false if there is no room for it. An object that nobody keeps takes none. */
  takes(resource: DiscoveredResource, object: KubeObject): boolean {
    this.release(resource, object)
    const { ownerReferences, finalizers, uid = "" } = object.metadata
    if (ownerReferences === undefined && finalizers === undefined) return true
    const size = JSON.stringify(object.metadata).length
    if (this.#objects >= maxObjects || this.#characters + size > maxCharacters) return false
    let sizes = this.#kept.get(resource)
    if (sizes === undefined) this.#kept.set(resource, (sizes = new Map()))
    sizes.set(uid, size)
    this.#objects++
    this.#characters += size
    return true
  }

  release(resource: DiscoveredResource, { metadata: { uid = "" } }: KubeObject): void {
    const sizes = this.#kept.get(resource)
    const size = sizes?.get(uid)
    if (size === undefined) return
    sizes?.delete(uid)
    this.#objects--
    this.#characters -= size
  }

  clear(resource: DiscoveredResource): void {
    for (const size of this.#kept.get(resource)?.values() ?? []) {
      this.#objects--
      this.#characters -= size
    }
    this.#kept.delete(resource)
  }
}
