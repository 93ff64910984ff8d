// The resources of one control plane: built-in ones (shared by all) and those of its CustomResourceDefinitions. A registry is
// created on first use; all registries of a control plane share one cache of values.

import type { GroupVersionResource } from "../../apimachinery/object.ts"
import { ComputedRegistry } from "./generic/computed-registry.ts"
import { builtInDefinitions } from "./definitions.ts"
import type { Registry, ResourceDefinition, ResourceTable } from "./rest.ts"
import { GenericRegistry } from "./generic/store.ts"
import { ValueCache } from "./generic/storage/value-cache.ts"

/** Additional functions for the custom resource handler. */
export interface MutableResourceTable extends ResourceTable {
  /** Replaces all custom definitions at once. An identical definition keeps its registry. */
  setCustom(definitions: readonly ResourceDefinition[]): void
  /** Called when the control plane is closed; watches that wait for the next one retain their registries. */
  forgetValues(): void
}

/** Memory for values that were recently read or written individually. Beyond it the least recently used are dropped. */
const maxCacheBytes = 256 * 1024

/** One per control plane; everything is created on first use. */
export function createResourceTable(): MutableResourceTable {
  return new Table()
}

/** By "group/version/resource". */
type Index = ReadonlyMap<string, ResourceDefinition>

let builtIn: Index | undefined

class Table implements MutableResourceTable {
  readonly #cache = new ValueCache(maxCacheBytes)
  readonly #registries = new Map<ResourceDefinition, Registry>()
  #custom: readonly ResourceDefinition[] = []
  #customIndex: Index = indexOf([])
  #served: readonly ResourceDefinition[] | undefined
  #shown: readonly ResourceDefinition[] | undefined
  #generation = 0

  get generation(): number {
    return this.#generation
  }

  get cachedBytes(): number {
    return this.#cache.bytes
  }

  registry(resource: GroupVersionResource): Registry | undefined {
    const definition = this.#definitionOf(resource)
    if (definition === undefined) return undefined
    let registry = this.#registries.get(definition)
    if (registry === undefined) {
      const Made = definition.find === undefined ? GenericRegistry : ComputedRegistry
      registry = new Made(definition, this.#cache)
      this.#registries.set(definition, registry)
    }
    return registry
  }

  serves(resource: GroupVersionResource): boolean {
    return this.#definitionOf(resource) !== undefined
  }

  definitions(): readonly ResourceDefinition[] {
    return (this.#shown ??= this.#custom.every(isShown) ? this.served() : this.served().filter(isShown))
  }

  served(): readonly ResourceDefinition[] {
    return (this.#served ??=
      this.#custom.length === 0 ? builtInDefinitions() : [...builtInDefinitions(), ...this.#custom])
  }

  setCustom(definitions: readonly ResourceDefinition[]): void {
    const kept = new Set(definitions)
    for (const definition of this.#custom) if (!kept.has(definition)) this.#registries.delete(definition)
    this.#custom = [...definitions]
    this.#customIndex = indexOf(definitions)
    this.#served = undefined
    this.#shown = undefined
    this.#generation++
  }

  registryOf(definition: ResourceDefinition): Registry {
    return this.#registries.get(definition) ?? new GenericRegistry(definition, this.#cache)
  }

  forgetValues(): void {
    this.#cache.clear()
  }

  #definitionOf(resource: GroupVersionResource): ResourceDefinition | undefined {
    const key = keyOf(resource)
    builtIn ??= indexOf(builtInDefinitions())
    return builtIn.get(key) ?? this.#customIndex.get(key)
  }
}

function isShown({ customResource }: ResourceDefinition): boolean {
  return customResource?.undiscoverable !== true
}

function keyOf({ group, version, resource }: GroupVersionResource): string {
  return `${group}/${version}/${resource}`
}

function indexOf(definitions: readonly ResourceDefinition[]): Index {
  return new Map(definitions.map((definition) => [keyOf(definition), definition]))
}
