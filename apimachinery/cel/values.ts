// The values of expressions. Ints are bigints within 64 bits, doubles are numbers; types without a JavaScript equivalent are
// classes. Errors are values too, because && and || may ignore them. Source: cel-spec/doc/langdef.md#values.

/** Unsigned 64-bit integer. */
export class UInt {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

export class Timestamp {
  /** Since 1970. */
  readonly nanos: bigint
  /** Minutes east of UTC in the source text, which are used when it is printed. */
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

/** Not thrown: it is the result of a failed operation. */
export class CelError {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

export const noOverload = new CelError("no such overload")

/** What a function does; undefined if it has no overload for the arguments. */
export type Implementation = (args: readonly Value[]) => Value | undefined

export abstract class ListValue {
  abstract readonly size: number
  /** `index` must be within bounds. */
  abstract at(index: number): Value
  /** Lists of a schema with x-kubernetes-list-type have their own equality and concatenation. */
  equals?(other: ListValue): boolean | CelError
  concat?(other: ListValue): Value
  /** The same as a Go value, which has no schema. */
  withoutSchema?(): Value
}

export abstract class MapValue {
  abstract readonly size: number
  abstract readonly typeName: string
  /** Undefined if there is no such key. */
  abstract get(key: Value): Value | undefined
  abstract keys(): Value[]
  /** Objects of a schema have their own equality. */
  equals?(other: MapValue): boolean | CelError
  /** The same as a Go value, which has no schema. */
  withoutSchema?(): Value
}

/** Values of library types, with their own equality. */
export abstract class OpaqueValue {
  abstract readonly typeName: string
  /** What it is in Go, if it cannot become a value again from that. */
  readonly goType: string | undefined = undefined

  toString(): string {
    return this.typeName
  }

  abstract equals(other: OpaqueValue): boolean
  /** The cost of traversing it. */
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

/** For comprehensions that append one by one: lists are prefixes of growing length of one shared array. */
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

  /** Undefined if something else was appended to this list before. */
  grow(added: ListValue): GrowingList | undefined {
    if (this.#items.length !== this.size) return undefined
    for (let index = 0; index < added.size; index++) this.#items.push(added.at(index))
    return new GrowingList(this.#items)
  }
}

/** A map created by an expression. Keys are equal across numeric types: 1, 1u and 1.0 are the same key. */
export class EntryMap extends MapValue {
  readonly typeName = "map"
  protected readonly entries: Map<unknown, readonly [Value, Value]>

  constructor(entries: Iterable<readonly [Value, Value]>) {
    super()
    this.entries = new Map(Array.from(entries, (entry) => [keyOf(entry[0]), entry]))
  }

  get size(): number {
    return this.entries.size
  }

  get(key: Value): Value | undefined {
    return this.entries.get(keyOf(key))?.[1]
  }

  keys(): Value[] {
    return Array.from(this.entries.values(), ([key]) => key)
  }
}

/** For comprehensions, which insert in place: nothing else can see their accumulator. */
export class GrowingMap extends EntryMap {
  constructor(start: MapValue) {
    super(Array.from(start.keys(), (key) => [key, start.get(key) ?? null]))
  }

  /** Returns false if the key exists. */
  insert(key: Value, value: Value): boolean {
    const known = keyOf(key)
    if (this.entries.has(known)) return false
    this.entries.set(known, [key, value])
    return true
  }
}

/** The canonical form of equal keys. Strings never equal numbers, so all keys can share a map. */
export function keyOf(key: Value): unknown {
  if (key instanceof UInt) return key.value
  if (typeof key !== "number") return key
  if (Number.isNaN(key)) return Symbol("NaN") // equals nothing
  return Number.isInteger(key) ? BigInt(key) : key
}

/** Whether it is allowed as a key of a map literal. */
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

/** Number of elements of a list, characters of a string, …, for costs. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return codePoints(value)
  if (value instanceof Uint8Array) return value.length
  if (value instanceof ListValue || value instanceof MapValue) return value.size
  if (value instanceof Optional) return value.value === undefined ? 1 : sizeOf(value.value)
  return value instanceof OpaqueValue ? value.size : 1
}

/** Low surrogates. For strings with one byte per character, the engine can skip the search. */
const halves = /[\udc00-\udfff]/

export function codePoints(text: string): number {
  if (!halves.test(text)) return text.length
  let count = text.length
  for (let index = 0; index < text.length; index++) {
    // A low surrogate.
    if ((text.charCodeAt(index) & 0xfc00) === 0xdc00) count--
  }
  return count
}

export function* itemsOf(list: ListValue): Generator<Value> {
  for (let index = 0; index < list.size; index++) yield list.at(index)
}
