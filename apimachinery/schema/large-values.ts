// Which values have too much in them to be walked in one step (apimachinery/steps.ts). What walks a value by its schema in steps counts
// each part first, and walks small ones at once: generators for all of them would cost more than the walk. Only what the walk
// comes to is counted, since to list the keys of an object takes milliseconds if it has very many.

import type { Json } from "../object.ts"
import type { Steps } from "../steps.ts"
import type { Schema } from "./schema.ts"

/** Values that are walked in one step, a quarter of a millisecond to one. */
const valuesAtOnce = 1000

/**
 * Levels below the root that are walked in steps: what is deeper is walked at once, whatever its size. Each step goes through the
 * generators of all levels above it: for values nested 500 deep that took a hundred times longer than the walk, and more of the
 * stack. No object that people write has more; made for it, what is walked at once is as long as a body may be.
 */
export const levelsInSteps = 32

/**
 * Objects made of long bodies, until they are stored: only of these it is worth the time to count what is in them. By identity,
 * since copies that are made on the way are not theirs.
 */
const long = new WeakSet<object>()

export function noteLong(object: object): void {
  long.add(object)
}

export function isLong(object: object): boolean {
  return long.has(object)
}

/** Whether there are {@link valuesAtOnce} values in it, or more. Of a value whose text is not at hand. */
export function isLarge(value: Json): boolean {
  return countUpTo(value, valuesAtOnce) >= valuesAtOnce
}

/** The number of values in it, itself included; or `enough`, or somewhat more. */
function countUpTo(value: Json | undefined, enough: number): number {
  if (typeof value !== "object" || value === null) return 1
  let count = 1
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && count < enough; index++)
      count += countUpTo(value[index], enough - count)
    return count
  }
  for (const key in value) {
    if (count >= enough) break
    count += countUpTo(value[key], enough - count)
  }
  return count
}

type Key = string | number

/** What a walk does with one member of a list, a map or an object: at once, or in steps because it is large. */
export interface Walker {
  walk(key: Key): void
  walking(key: Key): Steps<void>
}

/** Of one walk. */
export class LargeValues {
  readonly #isWalked: (schema: Schema) => boolean
  /** Large values, and the keys of objects. */
  readonly #found = new Map<Json, readonly string[] | undefined>()
  /** Levels above the members that are walked now. */
  #depth = 0
  /** Values walked since the last step. */
  #walked = 0

  /** `isWalked`: whether the walk looks into a list, a map or an object of this schema. */
  constructor(isWalked: (schema: Schema) => boolean) {
    this.#isWalked = isWalked
  }

  has(schema: Schema, value: Json): boolean {
    return this.#count(schema, value) >= valuesAtOnce
  }

  /**
   * Walks the members of a large value, with a step after each {@link valuesAtOnce} values. `keys`: the members, if they are not
   * all that it has, or in another order.
   */
  *walking(schema: Schema, value: Json, walker: Walker, keys?: Iterable<Key>): Steps<void> {
    const values = value as Readonly<Record<Key, Json | undefined>>
    for (const key of keys ?? this.#keysOf(value)) {
      const inner = schemaAt(schema, key)
      const size = inner === undefined ? 1 : this.#count(inner, values[key])
      if (size >= valuesAtOnce && this.#depth + 1 < levelsInSteps) {
        this.#depth++
        try {
          yield* walker.walking(key)
        } finally {
          this.#depth--
        }
        continue
      }
      this.#walked += size
      if (this.#walked > valuesAtOnce) {
        this.#walked = size
        yield
      }
      walker.walk(key)
    }
  }

  #keysOf(value: Json): Iterable<Key> {
    return Array.isArray(value) ? value.keys() : (this.#found.get(value) ?? Object.keys(value as object))
  }

  /**
   * The number of values in it, itself included; of a large one {@link valuesAtOnce} or somewhat more. Large members are found, too,
   * so that each value is counted for only one of those it is in.
   */
  #count(schema: Schema, value: Json | undefined): number {
    if (typeof value !== "object" || value === null || !this.#isWalked(schema)) return 1
    if (this.#found.has(value)) return valuesAtOnce
    const keys = Array.isArray(value) ? undefined : Object.keys(value)
    const values = value as Readonly<Record<Key, Json | undefined>>
    const length = keys?.length ?? (value as Json[]).length
    let count = 1 + length
    for (let index = 0; index < length && count < valuesAtOnce; index++) {
      const key = keys?.[index] ?? index
      const member = values[key]
      const inner = typeof member === "object" ? schemaAt(schema, key) : undefined
      if (inner !== undefined) count += this.#count(inner, member) - 1
    }
    if (count >= valuesAtOnce) this.#found.set(value, keys)
    return count
  }
}

function schemaAt({ type, fields, items }: Schema, key: Key): Schema | undefined {
  return type === "object" ? fields?.[key]?.schema : items
}
