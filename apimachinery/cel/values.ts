// The values of expressions. Ints are bigints within 64 bits, doubles are numbers; everything else JavaScript has no type for is a
// class here. Errors are values too: && and || look past them. Source: cel-spec/doc/langdef.md#values.

/** unsigned 64 bits */
export class UInt {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

export class Timestamp {
  /** Since 1970. */
  readonly nanos: bigint
  /** Minutes east of UTC it was written with: it is printed so, too. */
  readonly offset: number

  constructor(nanos: bigint, offset = 0) {
    this.nanos = nanos
    this.offset = offset
  }
}

/** Nanoseconds. */
export class Duration {
  readonly nanos: bigint

  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

export class TypeValue {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

export class Optional {
  static readonly none = new Optional(undefined)
  readonly value: Value | undefined

  constructor(value: Value | undefined) {
    this.value = value
  }
}

/** Not thrown: it is the result of what failed. */
export class CelError {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

export abstract class ListValue {
  abstract readonly size: number
  /** Within bounds. */
  abstract at(index: number): Value
  /** Lists of a schema with x-kubernetes-list-type compare and add in their own way. */
  equals?(other: ListValue): boolean
  concat?(other: ListValue): Value
}

export abstract class MapValue {
  abstract readonly size: number
  abstract readonly typeName: string
  /** Undefined: there is no such key. */
  abstract get(key: Value): Value | undefined
  abstract keys(): Value[]
  /** Objects of a schema compare in their own way. */
  equals?(other: MapValue): boolean
}

/** Values of libraries: compared by their own rule, seen by nothing else. */
export abstract class OpaqueValue {
  abstract readonly typeName: string
  abstract equals(other: OpaqueValue): boolean
  /** What a traversal of it costs. */
  get size(): number {
    return 1
  }
}

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | UInt
  | Uint8Array
  | Timestamp
  | Duration
  | TypeValue
  | Optional
  | ListValue
  | MapValue
  | OpaqueValue
  | CelError

export class ArrayList extends ListValue {
  readonly items: readonly Value[]

  constructor(items: readonly Value[]) {
    super()
    this.items = items
  }

  get size(): number {
    return this.items.length
  }

  at(index: number): Value {
    return this.items[index] as Value
  }
}

/** What a comprehension adds one by one: the added element is seen through a longer prefix of one shared array. */
export class GrowingList extends ListValue {
  readonly #items: Value[]
  readonly size: number

  constructor(items: Value[]) {
    super()
    this.#items = items
    this.size = items.length
  }

  at(index: number): Value {
    return this.#items[index] as Value
  }

  /** Undefined when something else was added to this list before. */
  grow(added: ListValue): GrowingList | undefined {
    if (this.#items.length !== this.size) return undefined
    for (let index = 0; index < added.size; index++) this.#items.push(added.at(index))
    return new GrowingList(this.#items)
  }
}

/** A map made by an expression. Keys are found across the numeric types: 1, 1u and 1.0 are one key. */
export class EntryMap extends MapValue {
  readonly typeName = "map"
  readonly #entries: ReadonlyMap<unknown, readonly [Value, Value]>

  constructor(entries: Iterable<readonly [Value, Value]>) {
    super()
    this.#entries = new Map(Array.from(entries, (entry) => [keyOf(entry[0]), entry]))
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(keyOf(key))?.[1]
  }

  keys(): Value[] {
    return Array.from(this.#entries.values(), ([key]) => key)
  }
}

/** What a comprehension inserts into, in place: nothing else sees its accumulator. */
export class GrowingMap extends MapValue {
  readonly typeName = "map"
  readonly #entries = new Map<unknown, readonly [Value, Value]>()

  constructor(start: MapValue) {
    super()
    for (const key of start.keys()) this.#entries.set(keyOf(key), [key, start.get(key) ?? null])
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(keyOf(key))?.[1]
  }

  keys(): Value[] {
    return Array.from(this.#entries.values(), ([key]) => key)
  }

  /** False when the key is there already. */
  insert(key: Value, value: Value): boolean {
    const known = keyOf(key)
    if (this.#entries.has(known)) return false
    this.#entries.set(known, [key, value])
    return true
  }
}

/** Keys that are equal have one form; a string is no number, so all stand for themselves. */
export function keyOf(key: Value): unknown {
  if (key instanceof UInt) return key.value
  return typeof key === "number" && Number.isInteger(key) ? BigInt(key) : key
}

/** What may be a key of a map that is written. */
export function isKey(key: Value): boolean {
  return typeof key === "string" || typeof key === "boolean" || typeof key === "bigint" || key instanceof UInt
}

export function isError(value: Value): value is CelError {
  return value instanceof CelError
}

export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case "boolean":
      return "bool"
    case "bigint":
      return "int"
    case "number":
      return "double"
    case "string":
      return "string"
  }
  if (value === null) return "null_type"
  if (value instanceof UInt) return "uint"
  if (value instanceof Uint8Array) return "bytes"
  if (value instanceof Timestamp) return "google.protobuf.Timestamp"
  if (value instanceof Duration) return "google.protobuf.Duration"
  if (value instanceof TypeValue) return "type"
  if (value instanceof Optional) return "optional_type"
  if (value instanceof ListValue) return "list"
  if (value instanceof CelError) return "error"
  return value.typeName
}

/** Elements of a list, characters of a string, …: what costs are reckoned with. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return codePoints(value)
  if (value instanceof Uint8Array) return value.length
  if (value instanceof ListValue || value instanceof MapValue) return value.size
  if (value instanceof Optional) return value.value === undefined ? 1 : sizeOf(value.value)
  return value instanceof OpaqueValue ? value.size : 1
}

/** Second halves of pairs. Where a text is one byte per character, the engine need not look for them. */
const halves = /[\udc00-\udfff]/

export function codePoints(text: string): number {
  if (!halves.test(text)) return text.length
  let count = text.length
  for (let index = 0; index < text.length; index++) {
    // The second half of a pair.
    if ((text.charCodeAt(index) & 0xfc00) === 0xdc00) count--
  }
  return count
}

export function* itemsOf(list: ListValue): Generator<Value> {
  for (let index = 0; index < list.size; index++) yield list.at(index)
}
