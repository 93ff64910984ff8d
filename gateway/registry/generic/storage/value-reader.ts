// Converts stored entries to values in a definition's version. Usually the stored bytes have that version already, which their
// first bytes show, so nothing is parsed. Otherwise the object is converted (events of two groups, autoscaling, custom resources
// stored in another version), or hidden fields are removed. Custom resources older than their schema are adapted to it, and get
// the defaults of their stored version that they were stored without.

import { type KubeObject, printGroupVersion } from "../../../../apimachinery/object.ts"
import type { KeyValue } from "../../../../storage/types.ts"
import type { RequestContext } from "../../../request/context.ts"
import type { ResourceDefinition } from "../../rest.ts"
import { withoutEmptyBytes } from "../empty-bytes.ts"
import { storedHead } from "./stored-form.ts"
import { StoredText, StoredValue } from "./stored-value.ts"
import { ComputedValue, type KubeValue, type MayMatch } from "./value.ts"
import type { ValueCache } from "./value-cache.ts"

type Pause = RequestContext["pause"]

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

  /** The value of an object that was requested by name, which is cached. Synchronous if no conversion is needed. */
  one(stored: KeyValue): KubeValue | Promise<KubeValue> {
    const value = this.#cache.of(stored)
    return this.#isOwn(value) ? this.#fitting(value, stored.modRevision) : this.#convertOne(value, stored)
  }

  /** The same with the hidden fields, as the start of a write. */
  whole(stored: KeyValue): KubeValue | Promise<KubeValue> {
    if (this.#definition.strategy.shown === undefined) return this.one(stored)
    const value = this.#cache.of(stored)
    return this.#isOwn(value) ? value : new ComputedValue(this.#relabelled(value.object()))
  }

  /** The object in the version in which it is stored. */
  unconverted(stored: KeyValue): KubeObject {
    return this.#cache.of(stored).object()
  }

  /** The shown form of a result of {@link whole}. */
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

  /** An old state with another revision than that of its write. */
  async past({ value: bytes, modRevision }: KeyValue, revision: number): Promise<KubeValue> {
    const value = new StoredValue(new StoredText({ value: bytes }, revision))
    if (this.#isOwn(value)) return this.#fitting(value, modRevision)
    const [converted] = await this.#convert([value])
    return converted ?? value
  }

  /**
   * Whether the object would be stored differently today, although it has not been modified. `converted`: what would be stored, if it has
   * been converted to that: then it lacks the same defaults.
   */
  isOutdated(stored: KeyValue, converted?: KubeObject): boolean {
    const { customResource, kind, storageVersion, strategy } = this.#definition
    if (customResource === undefined && strategy.defaultOnRead === undefined) return false
    const head = storedHead(kind, storageVersion)
    if (head.compare(stored.value, 0, head.length) !== 0)
      return converted === undefined || customResource?.lacksDefaults?.(converted) !== true
    const value = this.#cache.of(stored)
    return this.#isOwn(value) && this.#fitting(value, stored.modRevision) !== value
  }

  /** Whether the entry is of a custom resource that was written before its schema. */
  isAged({ modRevision }: KeyValue): boolean {
    const { aged } = this.#definition.customResource ?? {}
    return aged !== undefined && modRevision <= aged.until
  }

  /** Whether the object may not be of its type: it was written before its schema, or maybe in a version with another one. */
  isUnchecked(stored: KeyValue): boolean {
    return this.isAged(stored) || this.#definition.customResource?.isVaried?.() === true
  }

  /** Excludes entries without parsing them. Entries that must be converted are kept, and filtered after the conversion. */
  candidates(stored: readonly KeyValue[], mayMatch: MayMatch): readonly KeyValue[] {
    return stored.filter((item) => {
      const text = this.#cache.textOf(item)
      return !text.beginsWith(this.#head) || mayMatch(text, !this.isAged(item))
    })
  }

  /** The text of an entry, if it need not be converted. */
  ownText(stored: KeyValue): StoredText | undefined {
    const text = this.#cache.textOf(stored)
    return text.beginsWith(this.#head) && !this.isAged(stored) ? text : undefined
  }

  /** Values of many entries; new ones are not cached. `pause`: called between those that must be parsed, which may be large. */
  many(stored: readonly KeyValue[], pause?: Pause): readonly KubeValue[] | Promise<readonly KubeValue[]> {
    const values = stored.map((item) => this.#cache.passing(item))
    const isRead = values.every((value) => this.#isOwn(value)) && !stored.some((item) => this.isAged(item))
    return isRead ? values : this.#readMany(stored, values, pause)
  }

  #isOwn(value: StoredValue): boolean {
    return value.identity.beginsWith(this.#head)
  }

  async #readMany(
    stored: readonly KeyValue[],
    values: readonly StoredValue[],
    pause: Pause,
  ): Promise<readonly KubeValue[]> {
    const foreign = values.filter((value) => !this.#isOwn(value))
    const converted = (await this.#convert(foreign, pause))[Symbol.iterator]()
    const read: KubeValue[] = []
    for (const [index, value] of values.entries()) {
      await pause?.()
      const own = this.#isOwn(value) ? this.#fitting(value, stored[index]?.modRevision ?? 0) : undefined
      read.push(own ?? converted.next().value ?? value)
    }
    return read
  }

  #fitting(value: StoredValue, modRevision: number): KubeValue {
    const { aged } = this.#definition.customResource ?? {}
    if (aged === undefined || modRevision > aged.until) return value
    const object = value.object()
    const read = aged.read(object)
    return read === object ? value : new ComputedValue(read)
  }

  async #convert(values: readonly StoredValue[], pause?: Pause): Promise<readonly KubeValue[]> {
    const { conversion, kind } = this.#definition
    const objects: KubeObject[] = []
    for (const value of values) {
      await pause?.()
      objects.push(conversion === undefined ? this.#adapted(value.object()) : value.object())
    }
    const converted = (await conversion?.fromStored(objects, pause)) ?? objects
    if (converted.length !== objects.length) {
      throw new Error(`conversion to ${this.#apiVersion} ${kind} answered ${converted.length} of ${objects.length}`)
    }
    return converted.map((object) => new ComputedValue(object))
  }

  /** Of a version that differs in its apiVersion, or in what its schema has. */
  #adapted(object: KubeObject): KubeObject {
    const { customResource, strategy } = this.#definition
    const read = this.#relabelled(customResource?.aged?.read(object) ?? withoutEmptyBytes(this.#definition, object))
    return strategy.shown?.(read) ?? read
  }

  #relabelled(object: KubeObject): KubeObject {
    const { kind: _, apiVersion: __, ...rest } = object
    return { kind: this.#definition.kind, apiVersion: this.#apiVersion, ...rest }
  }
}

/** Shared by all control planes that serve the definition. */
const heads = new WeakMap<ResourceDefinition, Buffer>()

function headOf(definition: ResourceDefinition, apiVersion: string): Buffer {
  let head = heads.get(definition)
  if (head === undefined) heads.set(definition, (head = storedHead(definition.kind, apiVersion)))
  return head
}
