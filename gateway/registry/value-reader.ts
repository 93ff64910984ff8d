// From what the store answers to values in a definition's own version. Usually the bytes are that already, which their
// first bytes tell; then nothing is parsed. Otherwise the object is converted (events of two groups, autoscaling, custom
// resources stored in another version), or what is not shown of it is left out. Custom resources older than their schema are made to
// fit it.

import { type KubeObject, printGroupVersion } from "../../apimachinery/object.ts"
import type { KeyValue } from "../../storage/types.ts"
import type { ResourceDefinition } from "./rest.ts"
import { ComputedValue, type KubeValue, storedHead, StoredText, StoredValue } from "./value.ts"
import type { ValueCache } from "./value-cache.ts"

type Labels = Readonly<Record<string, string>>

export class ValueReader {
  readonly #definition: ResourceDefinition
  readonly #apiVersion: string
  readonly #head: Buffer
  readonly #cache: ValueCache

  constructor(definition: ResourceDefinition, cache: ValueCache) {
    this.#definition = definition
    this.#apiVersion = printGroupVersion(definition)
    this.#head = headOf(definition, this.#apiVersion)
    this.#cache = cache
  }

  /** One object that somebody asked for by name: it is kept for the next who asks. At once where nothing is converted. */
  one(stored: KeyValue): KubeValue | Promise<KubeValue> {
    const value = this.#cache.of(stored)
    return this.#isOwn(value) ? this.#fitting(value, stored.modRevision) : this.#convertOne(value, stored)
  }

  /** The same with what is stored and not shown: what a write begins with. */
  whole(stored: KeyValue): KubeValue | Promise<KubeValue> {
    if (this.#definition.strategy.shown === undefined) return this.one(stored)
    const value = this.#cache.of(stored)
    return this.#isOwn(value) ? value : new ComputedValue(this.#relabelled(value.object()))
  }

  /** Of what {@link whole} has answered. */
  shown(value: KubeValue): KubeValue {
    const { strategy } = this.#definition
    if (strategy.shown === undefined) return value
    const object = value.object()
    const shown = strategy.shown(object)
    return shown === object ? value : new ComputedValue(shown)
  }

  async #convertOne(value: StoredValue, stored: KeyValue): Promise<KubeValue> {
    const [converted] = await this.#convert([value])
    if (converted === undefined) throw new Error(`conversion of ${stored.key} answered nothing`)
    return converted
  }

  /** An old state, shown with another revision than it was written at. */
  async past({ value: bytes, modRevision }: KeyValue, revision: number): Promise<KubeValue> {
    const value = new StoredValue(new StoredText({ value: bytes }, revision))
    if (this.#isOwn(value)) return this.#fitting(value, modRevision)
    const [converted] = await this.#convert([value])
    return converted ?? value
  }

  /** What is stored is no longer how a custom resource would be written today, though nobody has changed it. */
  isOutdated(stored: KeyValue): boolean {
    const { customResource, kind, storageVersion } = this.#definition
    if (customResource === undefined) return false
    const head = storedHead(kind, storageVersion)
    if (head.compare(stored.value, 0, head.length) !== 0) return true
    const value = this.#cache.of(stored)
    return this.#isOwn(value) && this.#fitting(value, stored.modRevision) !== value
  }

  /** Without those whose labels tell that they are not meant. What has to be converted first is left to who has converted it. */
  candidates(stored: readonly KeyValue[], isMeant: (labels: Labels) => boolean): readonly KeyValue[] {
    return stored.filter((item) => {
      const text = this.#cache.textOf(item)
      return !text.beginsWith(this.#head) || isMeant(text.labels)
    })
  }

  /** Many: what is not known yet is not kept. */
  many(stored: readonly KeyValue[]): readonly KubeValue[] | Promise<readonly KubeValue[]> {
    const values = stored.map((item) => this.#cache.passing(item))
    if (!values.every((value) => this.#isOwn(value))) return this.#convertSome(stored, values)
    const { aged } = this.#definition.customResource ?? {}
    if (aged === undefined || stored.every((item) => item.modRevision > aged.until)) return values
    return values.map((value, index) => this.#fitting(value, stored[index]?.modRevision ?? 0))
  }

  #isOwn(value: StoredValue): boolean {
    return value.identity.beginsWith(this.#head)
  }

  async #convertSome(stored: readonly KeyValue[], values: readonly StoredValue[]): Promise<readonly KubeValue[]> {
    const foreign = values.filter((value) => !this.#isOwn(value))
    const converted = (await this.#convert(foreign))[Symbol.iterator]()
    return values.map((value, index) => {
      if (this.#isOwn(value)) return this.#fitting(value, stored[index]?.modRevision ?? 0)
      return converted.next().value ?? value
    })
  }

  #fitting(value: StoredValue, modRevision: number): KubeValue {
    const { aged } = this.#definition.customResource ?? {}
    if (aged === undefined || modRevision > aged.until) return value
    const object = value.object()
    const read = aged.read(object)
    return read === object ? value : new ComputedValue(read)
  }

  async #convert(values: readonly StoredValue[]): Promise<readonly KubeValue[]> {
    const { conversion, customResource, kind, strategy } = this.#definition
    const objects = values.map((value) => value.object())
    const converted = conversion
      ? await conversion.fromStored(objects)
      : objects.map((object) => {
          const read = this.#relabelled(customResource?.aged?.read(object) ?? object)
          return strategy.shown?.(read) ?? read
        })
    if (converted.length !== objects.length) {
      throw new Error(`conversion to ${this.#apiVersion} ${kind} answered ${converted.length} of ${objects.length}`)
    }
    return converted.map((object) => new ComputedValue(object))
  }

  #relabelled(object: KubeObject): KubeObject {
    const { kind: _, apiVersion: __, ...rest } = object
    return { kind: this.#definition.kind, apiVersion: this.#apiVersion, ...rest }
  }
}

/** The same for all control planes that serve the definition. */
const heads = new WeakMap<ResourceDefinition, Buffer>()

function headOf(definition: ResourceDefinition, apiVersion: string): Buffer {
  let head = heads.get(definition)
  if (head === undefined) heads.set(definition, (head = storedHead(definition.kind, apiVersion)))
  return head
}
