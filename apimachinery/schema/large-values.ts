// Which values have too much in them to be walked in one step (apimachinery/steps.ts). What walks a value by its schema in steps counts
// each part first, and walks small ones at once: generators for all of them would cost more than the walk. Only what the walk
// comes to is counted, since to list the keys of an object takes milliseconds if it has very many.

import type { Json } from "../object.ts"
import type { Steps } from "../steps.ts"
import type { Schema } from "./schema.ts"

/** Values that are walked in one step, a quarter of a millisecond to one. */
export const valuesAtOnce = 1000

/** Objects from long texts, while they are worked on: only of these it is worth the time to count what is in them. */
const long = new WeakSet<object>()

export function noteLong(object: object): void {
  long.add(object)
}

export function isLong(object: object): boolean {
  return long.has(object)
}

type Key = string | number

/** What a walk does with one member of a list, a map or an object: at once, or in steps because it is large. */
export interface Walker {
  walk(key: Key): void
  walking(key: Key): Steps<void>
}

export class LargeValues {
  readonly #isWalked: (schema: Schema) => boolean
  /** Large values, and the keys of objects. */
  readonly #found = new Map<Json, readonly string[] | undefined>()

  /** `isWalked`: whether the walk looks into a list, a map or an object of this schema. */
  constructor(isWalked: (schema: Schema) => boolean) {
    this.#isWalked = isWalked
  }

  has(schema: Schema, value: Json): boolean {
    return this.#count(schema, value) >= valuesAtOnce
  }

  /** Walks the members of a large value, with a step after each {@link valuesAtOnce} values. */
  *walking(schema: Schema, value: Json, walker: Walker): Steps<void> {
    const values = value as Readonly<Record<Key, Json | undefined>>
    const keys: Iterable<Key> = Array.isArray(value) ? value.keys() : (this.#found.get(value) ?? Object.keys(values))
    let count = 0
    for (const key of keys) {
      const inner = schemaAt(schema, key)
      const size = inner === undefined ? 1 : this.#count(inner, values[key])
      count += size
      if (count > valuesAtOnce) {
        count = size
        yield
      }
      if (size >= valuesAtOnce) yield* walker.walking(key)
      else walker.walk(key)
    }
  }

  /** The number of values in it, itself included, counted up to this many. */
  #count(schema: Schema, value: Json | undefined, most = valuesAtOnce): number {
    if (typeof value !== "object" || value === null || !this.#isWalked(schema)) return 1
    if (this.#found.has(value)) return valuesAtOnce
    const keys = Array.isArray(value) ? undefined : Object.keys(value)
    const values = value as Readonly<Record<Key, Json | undefined>>
    const length = keys?.length ?? (value as Json[]).length
    let count = 1 + length
    for (let index = 0; index < length && count < most; index++) {
      const key = keys?.[index] ?? index
      const member = values[key]
      const inner = typeof member === "object" ? schemaAt(schema, key) : undefined
      if (inner !== undefined) count += this.#count(inner, member, most - count) - 1
    }
    if (count >= valuesAtOnce) this.#found.set(value, keys)
    return count
  }
}

function schemaAt({ type, fields, items }: Schema, key: Key): Schema | undefined {
  return type === "object" ? fields?.[key]?.schema : items
}
