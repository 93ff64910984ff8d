// Decodes Kubernetes' protobuf by the schema: client-go and kubectl send built-in kinds in this format. encode.ts encodes it.
// Source: k8s.io/apimachinery/pkg/runtime/serializer/protobuf and generated.proto.
//
//   "k8s\0" │ Unknown { 1: TypeMeta { 1: apiVersion, 2: kind }, 2: raw = the object's message, 3: encoding, 4: type }

import type { Json } from "../../object.ts"
import { badRequest } from "../../status.ts"
import { narrowest, parseJson } from "../exact-integers.ts"
import { setOwn, type JsonObject } from "../json-object.ts"
import { survey } from "../json/survey.ts"
import { unrecognized } from "../json/parse.ts"
import { bytesOf, expectType, fieldOf, fieldsOf, Malformed, readVarint, type WireField } from "./wire.ts"
import { readUnion } from "./unions.ts"
import type { FieldSchema, Schema } from "../schema.ts"

export const protobufMediaType = "application/vnd.kubernetes.protobuf"

const magic = Buffer.from("k8s\0")
/** Maximum nesting of messages, and of JSON within a message; real Kubernetes objects are not deeper. */
const maxDepth = 200

/** The object in its JSON form; only the encoding is checked. Throws BadRequest. */
export function parseProtobuf(
  bytes: Uint8Array,
  schema: Schema,
  kind?: string,
  check?: (given: { apiVersion: string; kind: string }) => void,
): Json {
  const refused = (detail: string): Error =>
    kind === undefined ? badRequest(detail) : unrecognized(bytes, { kind }, detail)
  if (bytes.length === 0) throw refused("empty data")
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!buffer.subarray(0, magic.length).equals(magic)) {
    throw refused("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
  }
  if (buffer.length === magic.length) throw refused("empty body")
  try {
    const { typeMeta, raw } = readEnvelope(buffer.subarray(magic.length), refused)
    const [apiVersion = "", kind = ""] = [1, 2].map((number) => bytesOf(typeMeta, number).toString("utf8"))
    check?.({ apiVersion, kind })
    const object = readMessage(schema, raw, 0)
    if (apiVersion) object["apiVersion"] = apiVersion
    if (kind) object["kind"] = kind
    return object
  } catch (error) {
    if (error instanceof Malformed)
      throw badRequest(`the body is not a protobuf message of this kind: ${error.message}`, { cause: error })
    throw error
  }
}

/** Decodes the envelope of every object: its type and its message. */
function readEnvelope(unknown: Buffer, refused: (detail: string) => Error): { typeMeta: Buffer; raw: Buffer } {
  try {
    return { typeMeta: bytesOf(unknown, 1), raw: bytesOf(unknown, 2) }
  } catch (error) {
    throw error instanceof Malformed ? refused(error.message) : error
  }
}

/** The meaning of the field numbers of a message. */
type Layout = ReadonlyMap<number, Slot>

/** A field; or an embedded Go struct, which is a separate message on the wire and flat in JSON. */
type Slot = { name: string; field: FieldSchema } | { embedded: Map<number, Slot> }

const layouts = new WeakMap<Schema, Layout>()

function layoutOf(schema: Schema): Layout {
  const known = layouts.get(schema)
  if (known !== undefined) return known
  const layout = new Map<number, Slot>()
  for (const [name, field] of Object.entries(schema.fields ?? {})) {
    const { protobuf, protobufIn } = field
    if (protobuf === undefined) continue
    let slots = layout
    for (const outer of [protobufIn ?? []].flat()) {
      const slot = slots.get(outer) ?? { embedded: new Map<number, Slot>() }
      if (!("embedded" in slot)) throw new Error(`${schema.name ?? "a type"} has two fields numbered ${outer}`)
      slots.set(outer, slot)
      slots = slot.embedded
    }
    slots.set(protobuf, { name, field })
  }
  layouts.set(schema, layout)
  return layout
}

/** `depth`: number of enclosing messages. */
function readMessage(schema: Schema, buffer: Buffer, depth: number): JsonObject {
  const object: JsonObject = {}
  readInto(object, layoutOf(schema), buffer, depth)
  return object
}

function readInto(object: JsonObject, layout: Layout, buffer: Buffer, depth: number): void {
  if (depth > maxDepth) throw new Malformed("it is nested too deeply")
  for (const wire of fieldsOf(buffer)) {
    const slot = layout.get(wire.number)
    // Unknown numbers come from newer clients: they are ignored, as in Go's decoder.
    if (slot === undefined) continue
    if ("embedded" in slot) readInto(object, slot.embedded, expectType(wire, "bytes").bytes, depth + 1)
    else if (slot.field.goType === verbsType)
      object[slot.name] = readListMessage(slot.field.schema, expectType(wire, "bytes").bytes, depth)
    else readField(object, slot.name, slot.field.schema, wire, depth)
  }
}

function readField(object: JsonObject, name: string, schema: Schema, wire: WireField, depth: number): void {
  if (schema.type === "list" && schema.items !== undefined) {
    const list = (object[name] ??= []) as Json[]
    for (const item of readItems(schema.items, wire, depth)) list.push(item)
  } else if (schema.type === "map" && schema.items !== undefined) {
    const map = (object[name] ??= {}) as JsonObject
    const entry = expectType(wire, "bytes").bytes
    setOwn(map, bytesOf(entry, 1).toString("utf8"), readMapValue(schema.items, entry, depth))
  } else object[name] = readValue(schema, wire, depth)
}

const absent: WireField = { number: 2, type: "bytes", value: 0n, bytes: Buffer.alloc(0) }

function readMapValue(schema: Schema, entry: Buffer, depth: number): Json {
  if (schema.type !== "list" || schema.items === undefined)
    return readValue(schema, fieldOf(entry, 2, "bytes") ?? absent, depth)
  return readListMessage(schema, bytesOf(entry, 2), depth)
}

/** Used by discovery: the only list besides ExtraValue that has its own type in Go, and is therefore a message. */
export const verbsType = "v1.Verbs"

/** A list that is the value of a map (ExtraValue), or has such a type, is a message with the items as its first field. */
function readListMessage({ items = {} as Schema }: Schema, message: Buffer, depth: number): Json[] {
  const list: Json[] = []
  for (const wire of fieldsOf(message)) if (wire.number === 1) list.push(readValue(items, wire, depth))
  return list
}

/** Repeated numbers may be packed: several in one field. */
function readItems(items: Schema, wire: WireField, depth: number): Json[] {
  if ((items.type !== "integer" && items.type !== "boolean") || wire.type !== "bytes")
    return [readValue(items, wire, depth)]
  const values: Json[] = []
  for (let at = 0; at < wire.bytes.length;) {
    const { value, end } = readVarint(wire.bytes, at)
    values.push(readValue(items, { ...wire, type: "varint", value }, depth))
    at = end
  }
  return values
}

function readValue(schema: Schema, wire: WireField, depth: number): Json {
  switch (schema.type) {
    case "integer":
      return narrowest(BigInt.asIntN(64, expectType(wire, "varint").value))
    case "boolean":
      return expectType(wire, "varint").value !== 0n
    case "number": {
      const bits = Buffer.alloc(8)
      bits.writeBigUInt64LE(expectType(wire, "fixed64").value)
      return bits.readDoubleLE()
    }
    case "string":
      return readText(schema, expectType(wire, "bytes").bytes)
    case "intOrString": {
      const { bytes } = expectType(wire, "bytes")
      if (fieldOf(bytes, 1, "varint")?.value === 1n) return bytesOf(bytes, 3).toString("utf8")
      return Number(BigInt.asIntN(32, fieldOf(bytes, 2, "varint")?.value ?? 0n))
    }
    case "any": {
      const { bytes } = expectType(wire, "bytes")
      return readUnion(schema, bytes, (props, inner) => readMessage(props, inner, depth + 1)) ?? readRaw(bytes)
    }
    default: {
      const { bytes } = expectType(wire, "bytes")
      return schema.preserveUnknown === true && schema.fields === undefined
        ? readRaw(bytes)
        : readMessage(schema, bytes, depth + 1)
    }
  }
}

/** RawExtension and similar: JSON text in the first field. */
function readRaw(buffer: Buffer): Json {
  const text = bytesOf(buffer, 1)
  if (text.length === 0) return null
  if (survey(text).depth > maxDepth) throw new Malformed("an embedded object is nested too deeply")
  try {
    return parseJson(text)
  } catch (error) {
    throw new Malformed("an embedded object is not JSON", { cause: error })
  }
}

function readText(schema: Schema, buffer: Buffer): Json {
  switch (schema.format) {
    case "byte":
      return buffer.toString("base64")
    case "quantity":
      return bytesOf(buffer, 1).toString("utf8")
    case "time":
      return readTime(buffer, false)
    case "microTime":
      return readTime(buffer, true)
    default:
      return buffer.toString("utf8")
  }
}

/** The range of years with four digits, as supported by RFC 3339. */
const [minSeconds, maxSeconds] = [-62167219200, 253402300799]

/** Seconds and nanoseconds since 1970. A message without both is Go's zero time: null. */
function readTime(buffer: Buffer, micro: boolean): Json {
  const given = fieldOf(buffer, 1, "varint")
  if (given === undefined) return null
  const seconds = Number(BigInt.asIntN(64, given.value))
  const nanos = BigInt.asIntN(32, fieldOf(buffer, 2, "varint")?.value ?? 0n)
  if (seconds < minSeconds || seconds > maxSeconds || nanos < 0n || nanos > 999_999_999n)
    throw new Malformed("a time is out of range")
  const text = new Date(seconds * 1000).toISOString().slice(0, 19)
  return micro ? `${text}.${String(nanos / 1000n).padStart(6, "0")}Z` : `${text}Z`
}
