// From what the store answers to values in a definition's own version. Usually the bytes are that already, which their
// first bytes tell; then nothing is parsed. Otherwise the object is converted (events of two groups, autoscaling, custom
// resources stored in another version).

import { type KubeObject, printGroupVersion } from "../../apimachinery/object.ts"
import type { KeyValue } from "../../storage/types.ts"
import type { ResourceDefinition } from "./rest.ts"
import { ComputedValue, type KubeValue, storedHead, StoredValue } from "./value.ts"
import type { ValueCache } from "./value-cache.ts"

export class ValueReader {
  readonly #definition: ResourceDefinition
  readonly #apiVersion: string
  readonly #head: Buffer
  readonly #cache: ValueCache

  constructor(definition: ResourceDefinition, cache: ValueCache) {
    this.#definition = definition
    this.#apiVersion = printGroupVersion(definition)
    this.#head = storedHead(definition.kind, this.#apiVersion)
    this.#cache = cache
  }

  /** One object that somebody asked for by name: it is kept for the next who asks. */
  async one(stored: KeyValue): Promise<KubeValue> {
    const value = this.#cache.of(stored)
    if (this.#isOwn(stored.value)) return value
    const [converted] = await this.#convert([value.object()])
    if (converted === undefined) throw new Error(`conversion of ${stored.key} answered nothing`)
    return converted
  }

  /** An old state, shown with another revision than it was written at. */
  async past({ value: bytes }: KeyValue, revision: number): Promise<KubeValue> {
    const value = new StoredValue(bytes, revision)
    if (this.#isOwn(bytes)) return value
    const [converted] = await this.#convert([value.object()])
    return converted ?? value
  }

  /** Many: what is not known yet is not kept. */
  many(stored: readonly KeyValue[]): readonly KubeValue[] | Promise<readonly KubeValue[]> {
    const values = stored.map((item) => this.#cache.peek(item) ?? new StoredValue(item.value, item.modRevision))
    if (stored.every((item) => this.#isOwn(item.value))) return values
    return this.#convertSome(stored, values)
  }

  #isOwn(stored: Uint8Array): boolean {
    return this.#head.compare(stored, 0, this.#head.length) === 0
  }

  async #convertSome(stored: readonly KeyValue[], values: readonly StoredValue[]): Promise<readonly KubeValue[]> {
    const foreign = values.filter((_, index) => !this.#isOwn(stored[index]?.value ?? this.#head))
    const converted = (await this.#convert(foreign.map((value) => value.object())))[Symbol.iterator]()
    return values.map((value, index) => {
      if (this.#isOwn(stored[index]?.value ?? this.#head)) return value
      return converted.next().value ?? value
    })
  }

  async #convert(objects: readonly KubeObject[]): Promise<readonly KubeValue[]> {
    const { conversion, kind } = this.#definition
    const converted = conversion
      ? await conversion.fromStored(objects)
      : objects.map((object) => ({ ...object, kind, apiVersion: this.#apiVersion }))
    if (converted.length !== objects.length) {
      throw new Error(`conversion to ${this.#apiVersion} ${kind} answered ${converted.length} of ${objects.length}`)
    }
    return converted.map((object) => new ComputedValue(object))
  }
}
