// Encodes OpenAPI documents as protobuf messages, with tables of the field numbers of gnostic's openapi.v2 and openapi.v3, for
// the members that documents.ts generates. Extensions ("x-…") are encoded as YAML, of which JSON is a subset.

import type { Json } from "../../object.ts"
import { isObject, ownValue } from "../json-object.ts"
import { varint64 } from "../protobuf/writer.ts"
import type { Pieces } from "./documents.ts"

export type Encode = (value: Json) => Uint8Array

/** The encoding of a JSON member: its field number and the values of that field, several if it is repeated. */
type Rule = readonly [number: number, encode: (value: Json) => Uint8Array[]] | ScalarRule

/** Numbers and booleans are not length-delimited. */
interface ScalarRule {
  number: number
  kind: "bool" | "int" | "double"
}

export const empty = new Uint8Array(0)
const fixed64 = 1
const lengthDelimited = 2

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return Uint8Array.from(bytes)
}

/** As one of 64 bits, also if it is negative or no double can hold it. */
function integer(value: number | bigint): Uint8Array {
  return Number.isSafeInteger(value) && value >= 0 ? varint(Number(value)) : varint64(BigInt(value))
}

function tag(number: number, wireType: number): Uint8Array {
  return varint(number * 8 + wireType)
}

export function field(number: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([tag(number, lengthDelimited), varint(bytes.length), bytes])
}

const bytesOf = (value: Json): Uint8Array => Buffer.from(typeof value === "string" ? value : JSON.stringify(value))
/** An empty text is omitted. */
export const text = (value: Json): Uint8Array[] => (value === "" ? [] : [bytesOf(value)])
export const texts = (value: Json): Uint8Array[] => (Array.isArray(value) ? value : [value]).map(bytesOf)

export const bool = (number: number): ScalarRule => ({ number, kind: "bool" })
const int = (number: number): ScalarRule => ({ number, kind: "int" })
export const double = (number: number): ScalarRule => ({ number, kind: "double" })

export const one =
  (encode: Encode) =>
  (value: Json): Uint8Array[] => [encode(value)]
export const many =
  (encode: Encode) =>
  (value: Json): Uint8Array[] =>
    Array.isArray(value) ? value.map(encode) : []

/**
 * Encodes an object: members by name, written in order of their numbers; zero and false are omitted. `extensions`: the field for
 * members that begin with "x-".
 */
export function message(rules: Readonly<Record<string, Rule>>, extensions?: number): Encode {
  return (value) => {
    if (!isObject(value)) return empty
    const parts = Object.entries(value).flatMap(([name, inner]): Written[] => {
      const rule = ownValue(rules, name)
      if (rule !== undefined) return [written(rule, inner)]
      if (extensions === undefined || !name.startsWith("x-")) return []
      return [{ number: extensions, bytes: [field(extensions, namedAny(name, inner))] }]
    })
    return Buffer.concat(parts.sort((a, b) => a.number - b.number).flatMap(({ bytes }) => bytes))
  }
}

interface Written {
  number: number
  bytes: Uint8Array[]
}

function written(rule: Rule, value: Json): Written {
  if (!isScalar(rule)) return { number: rule[0], bytes: rule[1](value).map((bytes) => field(rule[0], bytes)) }
  return { number: rule.number, bytes: value === 0 || value === false ? [] : [scalarField(rule, value)] }
}

function isScalar(rule: Rule): rule is ScalarRule {
  return "kind" in rule
}

export function scalarField({ number, kind }: ScalarRule, value: Json): Uint8Array {
  if (kind === "double") {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(Number(value))
    return Buffer.concat([tag(number, fixed64), bytes])
  }
  return Buffer.concat([tag(number, 0), integer(typeof value === "bigint" ? value : Math.trunc(Number(value)))])
}

/** The constraints of a value: in both versions they have the same order and consecutive numbers. */
export function bounds(first: number): Readonly<Record<string, Rule>> {
  return {
    multipleOf: double(first),
    maximum: double(first + 1),
    exclusiveMaximum: bool(first + 2),
    minimum: double(first + 3),
    exclusiveMinimum: bool(first + 4),
    maxLength: int(first + 5),
    minLength: int(first + 6),
    pattern: [first + 7, text],
    maxItems: int(first + 8),
    minItems: int(first + 9),
    uniqueItems: bool(first + 10),
    maxProperties: int(first + 11),
    minProperties: int(first + 12),
    required: [first + 13, texts],
    enum: [first + 14, many(any)],
  }
}

/** The operations of a path: like bounds(), with consecutive numbers. */
export function methods(first: number, operation: Encode): Readonly<Record<string, Rule>> {
  const names = ["get", "put", "post", "delete", "options", "head", "patch"]
  return Object.fromEntries(names.map((name, index) => [name, [first + index, one(operation)]]))
}

/** externalDocs. */
export const documentation = message({ description: [1, text], url: [2, text] })

/** Any value, encoded as text. */
export function any(value: Json): Uint8Array {
  return field(2, Buffer.from(JSON.stringify(value)))
}

function namedAny(name: string, value: Json): Uint8Array {
  return namedValue(name, any(value))
}

export function namedValue(name: string, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([field(1, Buffer.from(name)), field(2, bytes)])
}

/** Encodes a map as a message with a list of named values at field `number`. */
export function named(number: number, encode: Encode): Encode {
  return (value) =>
    isObject(value)
      ? Buffer.concat(Object.entries(value).map(([name, inner]) => field(number, namedValue(name, encode(inner)))))
      : empty
}

/** The position of a piece in the message: the field of the document, nested fields, and the encoding. */
export interface Place {
  path: readonly number[]
  encode: (name: string, value: Json) => Uint8Array
}

/** Encodes a document in pieces. Most of the output comes at the end, because a message begins with its length. */
export function* encodePieces(
  pieces: Pieces,
  placeOf: (within: readonly string[], name: string) => Place | undefined,
): Generator<Uint8Array> {
  const root = new Message()
  for (const piece of pieces) {
    const place = piece === undefined ? undefined : placeOf(piece.within, piece.name)
    if (piece !== undefined && place !== undefined) root.at(place.path).add(place.encode(piece.name, piece.value))
    yield empty
  }
  yield* root.parts()
}

/** A message under construction; its fields are written in order of addition. */
class Message {
  readonly #parts: (Uint8Array | { number: number; message: Message })[] = []
  readonly #inner = new Map<number, Message>()

  add(bytes: Uint8Array): void {
    this.#parts.push(bytes)
  }

  at([number, ...rest]: readonly number[]): Message {
    if (number === undefined) return this
    let inner = this.#inner.get(number)
    if (inner === undefined) {
      this.#inner.set(number, (inner = new Message()))
      this.#parts.push({ number, message: inner })
    }
    return inner.at(rest)
  }

  parts(): Uint8Array[] {
    return this.#parts.flatMap((part) => {
      if (part instanceof Uint8Array) return [part]
      const inner = part.message.parts()
      const length = inner.reduce((sum, one) => sum + one.length, 0)
      return [tag(part.number, lengthDelimited), varint(length), ...inner]
    })
  }
}
