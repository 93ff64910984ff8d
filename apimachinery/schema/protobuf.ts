// Kubernetes' protobuf, read by the schema: client-go and kubectl send built-in kinds in it. Only reading: answers are JSON,
// which those clients accept as well. Source: k8s.io/apimachinery/pkg/runtime/serializer/protobuf and generated.proto.
//
//   "k8s\0" │ Unknown { 1: TypeMeta { 1: apiVersion, 2: kind }, 2: raw = the object's message, 3: encoding, 4: type }

import type { Json } from "../object.ts"
import { badRequest } from "../status.ts"
import type { FieldSchema, Schema } from "./schema.ts"

export const protobufMediaType = "application/vnd.kubernetes.protobuf"

type JsonObject = { [key: string]: Json }

const magic = Buffer.from("k8s\0")
/** Messages within messages; deeper ones are no Kubernetes objects. */
const maxDepth = 200

class Malformed extends Error {}

/** The object as JSON would have it: nothing is checked beyond what the encoding needs. Throws BadRequest. */
export function parseProtobuf(bytes: Uint8Array, schema: Schema): Json {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!buffer.subarray(0, magic.length).equals(magic)) {
    throw badRequest("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
  }
  try {
    const unknown = fieldsOf(buffer.subarray(magic.length))
    const typeMeta = fieldsOf(bytesOf(unknown.find(({ number }) => number === 1)))
    const object = readMessage(schema, bytesOf(unknown.find(({ number }) => number === 2)), 0)
    const [apiVersion, kind] = [1, 2].map((wanted) =>
      bytesOf(typeMeta.find(({ number }) => number === wanted)).toString("utf8"),
    )
    if (apiVersion) object["apiVersion"] = apiVersion
    if (kind) object["kind"] = kind
    return object
  } catch (error) {
    if (error instanceof Malformed)
      throw badRequest(`the body is not a protobuf message of this kind: ${error.message}`, { cause: error })
    throw error
  }
}

interface WireField {
  number: number
  /** Varint and fixed values; undefined for bytes. */
  value: bigint
  bytes: Buffer | undefined
}

function fieldsOf(buffer: Buffer): WireField[] {
  const fields: WireField[] = []
  for (let at = 0; at < buffer.length;) {
    const tag = varint(buffer, at)
    at = tag.end
    const number = Number(tag.value >> 3n)
    switch (Number(tag.value & 7n)) {
      case 0: {
        const { value, end } = varint(buffer, at)
        fields.push({ number, value, bytes: undefined })
        at = end
        break
      }
      case 1:
        if (at + 8 > buffer.length) throw new Malformed("it ends within a number")
        fields.push({ number, value: buffer.readBigUInt64LE(at), bytes: undefined })
        at += 8
        break
      case 2: {
        const { value, end } = varint(buffer, at)
        const stop = end + Number(value)
        if (stop > buffer.length) throw new Malformed("a field is longer than the message")
        fields.push({ number, value: 0n, bytes: buffer.subarray(end, stop) })
        at = stop
        break
      }
      case 5:
        if (at + 4 > buffer.length) throw new Malformed("it ends within a number")
        fields.push({ number, value: BigInt(buffer.readUInt32LE(at)), bytes: undefined })
        at += 4
        break
      default:
        throw new Malformed("an unknown wire type")
    }
  }
  return fields
}

function varint(buffer: Buffer, start: number): { value: bigint; end: number } {
  let value = 0n
  for (let at = start, shift = 0n; at < buffer.length && shift < 70n; at++, shift += 7n) {
    const byte = buffer[at] ?? 0
    value |= BigInt(byte & 0x7f) << shift
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), end: at + 1 }
  }
  throw new Malformed("a number without end")
}

const nothing = Buffer.alloc(0)
const bytesOf = (field: WireField | undefined): Buffer => field?.bytes ?? nothing

interface Numbered {
  name: string
  field: FieldSchema
}

interface MessageLayout {
  own: ReadonlyMap<number, Numbered>
  /** Go structs embedded in this one are messages of their own on the wire. */
  embedded: ReadonlyMap<number, ReadonlyMap<number, Numbered>>
}

const layouts = new WeakMap<Schema, MessageLayout>()

function layoutOf(schema: Schema): MessageLayout {
  const known = layouts.get(schema)
  if (known !== undefined) return known
  const own = new Map<number, Numbered>()
  const embedded = new Map<number, Map<number, Numbered>>()
  const entries = Object.entries(schema.fields ?? {})
  const taken = new Set(
    entries
      .filter(([name]) => name !== "kind" && name !== "apiVersion")
      .map(([, field]) => (field.protobufIn === undefined ? field.protobuf : undefined)),
  )
  for (const [name, field] of entries) {
    const { protobuf, protobufIn } = field
    if (protobuf === undefined) continue
    // An object's own kind and apiVersion are not in its message; their numbers then belong to other fields.
    if ((name === "kind" || name === "apiVersion") && taken.has(protobuf)) continue
    if (protobufIn === undefined) own.set(protobuf, { name, field })
    else {
      const inner = embedded.get(protobufIn) ?? new Map<number, Numbered>()
      embedded.set(protobufIn, inner.set(protobuf, { name, field }))
    }
  }
  const layout = { own, embedded }
  layouts.set(schema, layout)
  return layout
}

function readMessage(schema: Schema, buffer: Buffer, depth: number): JsonObject {
  if (depth > maxDepth) throw new Malformed("it is nested too deeply")
  const object: JsonObject = {}
  const { own, embedded } = layoutOf(schema)
  for (const wire of fieldsOf(buffer)) {
    const inner = embedded.get(wire.number)
    if (inner !== undefined) {
      for (const nested of fieldsOf(bytesOf(wire))) readField(object, inner.get(nested.number), nested, depth)
    } else readField(object, own.get(wire.number), wire, depth)
  }
  return object
}

/** Numbers the schema does not know are of a newer client: left out, as Go's decoder does. */
function readField(object: JsonObject, numbered: Numbered | undefined, wire: WireField, depth: number): void {
  if (numbered === undefined) return
  const { name, field } = numbered
  const { schema } = field
  if (schema.type === "list" && schema.items !== undefined) {
    const list = (object[name] ??= []) as Json[]
    list.push(...readItems(schema.items, wire, depth))
  } else if (schema.type === "map" && schema.items !== undefined) {
    const map = (object[name] ??= {}) as JsonObject
    const entry = fieldsOf(bytesOf(wire))
    const key = bytesOf(entry.find(({ number }) => number === 1)).toString("utf8")
    const found = entry.find(({ number }) => number === 2) ?? { number: 2, value: 0n, bytes: nothing }
    // A list as a map's value is a message with the items as its first field (ExtraValue).
    const value =
      schema.items.type === "list"
        ? readWrapped(schema.items, bytesOf(found), depth)
        : readValue(schema.items, found, depth)
    Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true })
  } else object[name] = readValue(schema, wire, depth)
}

/** Repeated numbers may come packed: many in one field. */
function readItems(items: Schema, wire: WireField, depth: number): Json[] {
  if ((items.type !== "integer" && items.type !== "boolean") || wire.bytes === undefined)
    return [readValue(items, wire, depth)]
  const values: Json[] = []
  for (let at = 0; at < wire.bytes.length;) {
    const { value, end } = varint(wire.bytes, at)
    values.push(readValue(items, { number: wire.number, value, bytes: undefined }, depth))
    at = end
  }
  return values
}

function readWrapped(list: Schema, buffer: Buffer, depth: number): Json[] {
  const { items } = list
  return items === undefined
    ? []
    : fieldsOf(buffer)
        .filter(({ number }) => number === 1)
        .map((wire) => readValue(items, wire, depth))
}

function readValue(schema: Schema, wire: WireField, depth: number): Json {
  switch (schema.type) {
    case "integer":
      return Number(BigInt.asIntN(64, wire.value))
    case "boolean":
      return wire.value !== 0n
    case "number": {
      const bits = Buffer.alloc(8)
      bits.writeBigUInt64LE(wire.value)
      return bits.readDoubleLE()
    }
    case "string":
      return readText(schema, bytesOf(wire))
    case "intOrString": {
      const fields = fieldsOf(bytesOf(wire))
      const isText = fields.some(({ number, value }) => number === 1 && value === 1n)
      const number = fields.find((field) => field.number === 2)?.value ?? 0n
      return isText
        ? bytesOf(fields.find((field) => field.number === 3)).toString("utf8")
        : Number(BigInt.asIntN(32, number))
    }
    case "any":
      return readRaw(bytesOf(wire))
    default:
      return schema.preserveUnknown === true && schema.fields === undefined
        ? readRaw(bytesOf(wire))
        : readMessage(schema, bytesOf(wire), depth + 1)
  }
}

/** RawExtension and its like: JSON text in the first field. */
function readRaw(buffer: Buffer): Json {
  const text = bytesOf(fieldsOf(buffer).find(({ number }) => number === 1)).toString("utf8")
  try {
    return text === "" ? null : (JSON.parse(text) as Json)
  } catch (error) {
    throw new Malformed("an embedded object is not JSON", { cause: error })
  }
}

function readText(schema: Schema, buffer: Buffer): Json {
  const inner = (number: number): WireField | undefined => fieldsOf(buffer).find((field) => field.number === number)
  switch (schema.format) {
    case "byte":
      return buffer.toString("base64")
    case "quantity":
      return bytesOf(inner(1)).toString("utf8")
    case "duration":
      return `${Number(BigInt.asIntN(64, inner(1)?.value ?? 0n)) / 1e9}s`
    case "time":
    case "microTime": {
      const seconds = inner(1)?.value
      if (seconds === undefined) return null
      const micros = Math.floor(Number(inner(2)?.value ?? 0n) / 1000)
      const text = new Date(Number(BigInt.asIntN(64, seconds)) * 1000).toISOString().slice(0, 19)
      return schema.format === "time" ? `${text}Z` : `${text}.${String(micros).padStart(6, "0")}Z`
    }
    default:
      return buffer.toString("utf8")
  }
}
