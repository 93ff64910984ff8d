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

interface Index {
  byResource: ReadonlyMap<string, ResourceDefinition>
  byKind: ReadonlyMap<string, ResourceDefinition>
}

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

  registry({ group, version, resource }: GroupVersionResource): Registry | undefined {
    return this.#registryOf("byResource", `${group}/${version}/${resource}`)
  }

  serves({ group, version, resource }: GroupVersionResource): boolean {
    return this.#definitionOf("byResource", `${group}/${version}/${resource}`) !== undefined
  }

  registryOfKind({ group, version, kind }: { group: string; version: string; kind: string }): Registry | undefined {
    return this.#registryOf("byKind", `${group}/${version}/${kind}`)
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

  #definitionOf(index: keyof Index, key: string): ResourceDefinition | undefined {
    builtIn ??= indexOf(builtInDefinitions())
    return builtIn[index].get(key) ?? this.#customIndex[index].get(key)
  }

  #registryOf(index: keyof Index, key: string): Registry | undefined {
    const definition = this.#definitionOf(index, key)
    if (definition === undefined) return undefined
    let registry = this.#registries.get(definition)
    if (registry === undefined) {
      const Made = definition.find === undefined ? GenericRegistry : ComputedRegistry
      registry = new Made(definition, this.#cache)
      this.#registries.set(definition, registry)
    }
    return registry
  }
}

function isShown({ customResource }: ResourceDefinition): boolean {
  return customResource?.undiscoverable !== true
}

function indexOf(definitions: readonly ResourceDefinition[]): Index {
  const byResource = new Map<string, ResourceDefinition>()
  const byKind = new Map<string, ResourceDefinition>()
  for (const definition of definitions) {
    const groupVersion = `${definition.group}/${definition.version}`
    byResource.set(`${groupVersion}/${definition.resource}`, definition)
    byKind.set(`${groupVersion}/${definition.kind}`, definition)
  }
  return { byResource, byKind }
}
