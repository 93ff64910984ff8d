// The counterpart of parse.ts: encodes a JSON object as Kubernetes' protobuf, with the same facts. The output is that of Go's
// generated code, byte for byte: fields by number, map entries by key; a field that is not a pointer is always written. Source:
// generated.pb.go and k8s.io/apimachinery/pkg/runtime/serializer/protobuf.

import type { Json } from "../../object.ts"
import { isGivenEmptyBytes } from "../decode/given.ts"
import { isObject } from "../json-object.ts"
import { verbsType } from "./parse.ts"
import { encodeUnion, isUnion } from "./unions.ts"
import {
  delimitedText,
  textOf,
  type Write,
  writeEscapedRaw,
  writeIntOrString,
  writeRaw,
  writerOfText,
} from "./encode-scalars.ts"
import { ReverseWriter } from "./writer.ts"
import type { FieldSchema, Schema } from "../schema.ts"

const fieldSet = "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"

/** The object's message without the envelope, as in the items of lists. */
export function encodeMessage(schema: Schema, object: Json): Buffer {
  return written((writer) => messageWriter(schema)(writer, object))
}

/** A complete response: the envelope with the message. Kind and version are taken from the object. */
export function encodeProtobuf(schema: Schema, object: Json): Buffer {
  const { kind, apiVersion } = isObject(object) ? object : {}
  return written((writer) => {
    writer.bytes(contentNotes)
    const before = writer.written
    messageWriter(schema)(writer, object)
    envelopeHead(writer, textOf(apiVersion), textOf(kind), writer.written - before)
  })
}

/** The bytes around a message of `length` bytes. */
export function envelope(apiVersion: string, kind: string, length: number): { head: Buffer; tail: Buffer } {
  return { head: written((writer) => envelopeHead(writer, apiVersion, kind, length)), tail: contentNotes }
}

function envelopeHead(writer: ReverseWriter, apiVersion: string, kind: string, length: number): void {
  writer.varint(length)
  writer.byte(0x12)
  const before = writer.written
  delimitedText(writer, 0x12, kind)
  delimitedText(writer, 0x0a, apiVersion)
  writer.varint(writer.written - before)
  writer.byte(0x0a)
  writer.bytes(magic)
}

/** The bytes before a message of `length` bytes that is the field `number` of another. */
export function fieldHead(number: number, length: number): Buffer {
  return written((writer) => {
    writer.varint(length)
    writer.varint(number * 8 + wireTypes.bytes)
  })
}

/** A watch event: its length in four bytes, then { 1: type, 2: { 1: the object in its envelope } }. */
export function encodeWatchEvent(type: string, object: Uint8Array): Buffer {
  return written((writer) => {
    writer.bytes(object)
    writer.varint(object.length)
    writer.byte(0x0a)
    writer.varint(writer.written)
    writer.byte(0x12)
    delimitedText(writer, 0x0a, type)
    const length = Buffer.allocUnsafe(4)
    length.writeUInt32BE(writer.written)
    writer.bytes(length)
  })
}

const magic = Buffer.from("k8s\0")
/** Content encoding and type: always present and empty. */
const contentNotes = Buffer.from([0x1a, 0, 0x22, 0])
/** A writer that has grown beyond this size is not reused. */
const keptBytes = 1024 * 1024
let spare = new ReverseWriter()

/** Returns the bytes that `write` has written. Encoding is synchronous, so one writer is shared. */
function written(write: (writer: ReverseWriter) => void): Buffer {
  const writer = spare
  try {
    write(writer)
    return writer.take()
  } finally {
    writer.reset()
    if (writer.capacity > keptBytes) spare = new ReverseWriter()
  }
}

const writers = new WeakMap<Schema, Write>()

/** Created once per type; recursive types look themselves up. */
function messageWriter(schema: Schema): Write {
  let write = writers.get(schema)
  if (write === undefined) {
    let fields: readonly WriteField[] | undefined
    write = (writer, value) => {
      fields ??= fieldWriters(Object.entries(schema.fields ?? {}), 0)
      const object = isObject(value) ? value : {}
      for (const field of fields) field(writer, object)
    }
    writers.set(schema, write)
  }
  return write
}

type WriteField = (writer: ReverseWriter, object: Readonly<Record<string, Json>>) => void

/** From the highest number to the lowest. `depth`: nesting of embedded Go structs, which are separate messages. */
function fieldWriters(fields: readonly [string, FieldSchema][], depth: number): readonly WriteField[] {
  const byNumber = new Map<number, [string, FieldSchema][]>()
  const own = new Map<number, [string, FieldSchema]>()
  for (const entry of fields) {
    const { protobuf, protobufIn } = entry[1]
    if (protobuf === undefined) continue
    const outer = [protobufIn ?? []].flat()[depth]
    if (outer === undefined) own.set(protobuf, entry)
    else byNumber.set(outer, [...(byNumber.get(outer) ?? []), entry])
  }
  const all = [
    ...[...own].map(([number, [name, field]]) => ({ number, write: fieldWriter(name, field, number) })),
    ...[...byNumber].map(([number, inner]) => ({ number, write: embeddedWriter(inner, number, depth + 1) })),
  ]
  return all.sort((a, b) => b.number - a.number).map(({ write }) => write)
}

function embeddedWriter(fields: readonly [string, FieldSchema][], number: number, depth: number): WriteField {
  const inner = fieldWriters(fields, depth)
  const tag = number * 8 + wireTypes.bytes
  return (writer, object) => {
    const before = writer.written
    for (const field of inner) field(writer, object)
    writer.varint(writer.written - before)
    writer.varint(tag)
  }
}

const wireTypes = { varint: 0, fixed64: 1, bytes: 2 } as const

function fieldWriter(name: string, field: FieldSchema, number: number): WriteField {
  const { schema } = field
  if (schema.type === "list" && field.goType === verbsType) {
    const write = listValueWriter(schema, number)
    return (writer, object) => {
      if (Array.isArray(object[name])) write(writer, object[name])
    }
  }
  if (schema.type === "list" && schema.items !== undefined) {
    const item = taggedWriter(schema.items, number)
    return (writer, object) => {
      const list = object[name]
      if (!Array.isArray(list)) return
      for (let index = list.length - 1; index >= 0; index--) item(writer, list[index] ?? null)
    }
  }
  if (schema.type === "map" && schema.items !== undefined) return mapWriter(name, schema.items, number)
  const write = taggedWriter(schema, number)
  // Pointers are only written if they are set, as are bytes, which are a slice in Go.
  const isBytes = schema.format === "byte"
  const isOptional = field.zero === undefined || field.pointer === true || isBytes
  // A pointer to a time that is not set.
  const hasNull = !isOptional || schema.format === "time"
  return (writer, object) => {
    const value = object[name]
    if (value !== undefined && value !== null) write(writer, value)
    else if (isBytes && isGivenEmptyBytes(object, name)) write(writer, "")
    else if (value === null ? hasNull : !isOptional) write(writer, null)
  }
}

function mapWriter(name: string, items: Schema, number: number): WriteField {
  const write = items.type === "list" ? listValueWriter(items, 2) : taggedWriter(items, 2)
  const skipsNull = items.format === "byte"
  const tag = number * 8 + wireTypes.bytes
  return (writer, object) => {
    const map = object[name]
    if (!isObject(map)) return
    const keys = sortedKeys(map)
    for (let index = keys.length - 1; index >= 0; index--) {
      const key = keys[index] ?? ""
      const value = map[key] ?? null
      const before = writer.written
      if (value !== null || !skipsNull) write(writer, value)
      delimitedText(writer, 0x0a, key)
      writer.varint(writer.written - before)
      writer.varint(tag)
    }
  }
}

/** A list that is the value of a map (ExtraValue), or has its own type, is a message with the items as its first field. */
function listValueWriter(list: Schema, number: number): Write {
  const item = taggedWriter(list.items ?? list, 1)
  const tag = number * 8 + wireTypes.bytes
  return (writer, value) => {
    const before = writer.written
    if (Array.isArray(value)) for (let index = value.length - 1; index >= 0; index--) item(writer, value[index] ?? null)
    writer.varint(writer.written - before)
    writer.varint(tag)
  }
}

/** Go sorts by bytes, which differs from the UTF-16 order only beyond the first plane. */
function sortedKeys(map: Readonly<Record<string, Json>>): string[] {
  const keys = Object.keys(map)
  if (keys.length < 2) return keys
  const hasSurrogates = keys.some((key) => /[\ud800-\udfff]/.test(key))
  return hasSurrogates ? keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))) : keys.sort()
}

/** Writes the value, its length if it has one, and its tag. */
function taggedWriter(schema: Schema, number: number): Write {
  const wireType = wireTypeOf(schema)
  const tag = number * 8 + wireTypes[wireType]
  const write = valueWriter(schema)
  if (wireType !== "bytes") {
    return (writer, value) => {
      write(writer, value)
      writer.varint(tag)
    }
  }
  return (writer, value) => {
    const before = writer.written
    write(writer, value)
    writer.varint(writer.written - before)
    writer.varint(tag)
  }
}

function wireTypeOf({ type }: Schema): keyof typeof wireTypes {
  return type === "integer" || type === "boolean" ? "varint" : type === "number" ? "fixed64" : "bytes"
}

function valueWriter(schema: Schema): Write {
  switch (schema.type) {
    case "integer":
      return (writer, value) => writer.varint(typeof value === "number" || typeof value === "bigint" ? value : 0)
    case "boolean":
      return (writer, value) => writer.byte(value === true ? 1 : 0)
    case "number":
      return (writer, value) => writer.double(typeof value === "number" ? value : 0)
    case "string":
      return writerOfText(schema)
    case "intOrString":
      return writeIntOrString
    case "any":
      return isUnion(schema)
        ? (writer, value) => encodeUnion(schema, value, writer, (props) => messageWriter(props))
        : writeEscapedRaw
    default:
      if (schema.preserveUnknown !== true || schema.fields !== undefined) return messageWriter(schema)
      return schema.name === fieldSet ? writeRaw : writeEscapedRaw
  }
}
