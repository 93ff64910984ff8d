// Decodes Kubernetes' protobuf by the schema: client-go and kubectl send built-in kinds in this format. encode.ts encodes it.
// Source: k8s.io/apimachinery/pkg/runtime/serializer/protobuf and generated.proto. envelope.ts reads what is around an object.

import { parseGroupVersion, type Json } from "../../object.ts"
import { goQuote } from "../../go/quote.ts"
import { badRequest } from "../../status.ts"
import { narrowest, parseJson } from "../exact-integers.ts"
import { isObject, setOwn, type JsonObject } from "../json-object.ts"
import { survey } from "../json/survey.ts"
import { unrecognized } from "../json/parse.ts"
import { readEnvelope } from "./envelope.ts"
import { Malformed, MessageReader } from "./wire.ts"
import { readUnion, type ReadProps } from "./unions.ts"
import type { FieldSchema, Schema } from "../schema.ts"

export const protobufMediaType = "application/vnd.kubernetes.protobuf"

const magic = Buffer.from("k8s\0")
/** Maximum nesting of messages, and of JSON within a message; real Kubernetes objects are not deeper. */
const maxDepth = 200

/** What the path expects, for messages. */
interface Expected {
  kind: string
  version: string
}

/**
 * The object in its JSON form; only the encoding is checked. `check` is called with the type that the body names before the rest
 * is read. Throws BadRequest.
 */
export function parseProtobuf(
  bytes: Uint8Array,
  schema: Schema,
  expected?: Expected,
  check?: (given: { apiVersion: string; kind: string }) => void,
): Json {
  const refused = (detail: string): Error =>
    expected === undefined ? badRequest(detail) : unrecognized(bytes, expected, detail)
  if (bytes.length === 0) throw refused("empty data")
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!buffer.subarray(0, magic.length).equals(magic)) {
    throw refused("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
  }
  if (buffer.length === magic.length) throw refused("empty body")
  const { apiVersion, kind, raw } = translated(refused, () => readEnvelope(buffer.subarray(magic.length)))
  check?.({ apiVersion, kind })
  const unhandled = (detail: string): Error => {
    if (expected === undefined) return badRequest(detail)
    const version = apiVersion === "" ? expected.version : parseGroupVersion(apiVersion).version
    return badRequest(
      `${kind || expected.kind} in version ${goQuote(version)} cannot be handled as a ${expected.kind}: ${detail}`,
    )
  }
  const object = translated(unhandled, () => readMessage(schema, raw, 0))
  if (apiVersion) object["apiVersion"] = apiVersion
  if (kind) object["kind"] = kind
  return object
}

function translated<T>(refused: (detail: string) => Error, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof Malformed ? refused(error.message) : error
  }
}

/** The meaning of the field numbers of a message. */
type Layout = ReadonlyMap<number, Slot>

/** A field; or an embedded Go struct, which is a separate message on the wire and flat in JSON. `goName`: for errors. */
type Slot = { goName: string } & ({ name: string; field: FieldSchema } | { embedded: Map<number, Slot> })

const layouts = new WeakMap<Schema, Layout>()

function layoutOf(schema: Schema): Layout {
  const known = layouts.get(schema)
  if (known !== undefined) return known
  const layout = new Map<number, Slot>()
  for (const [name, field] of Object.entries(schema.fields ?? {})) {
    const { protobuf, protobufIn, goName = capitalized(name) } = field
    if (protobuf === undefined) continue
    let slots = layout
    const structs = field.in?.split(".") ?? []
    for (const [level, outer] of [protobufIn ?? []].flat().entries()) {
      const slot = slots.get(outer) ?? { goName: structs[level] ?? "", embedded: new Map<number, Slot>() }
      if (!("embedded" in slot)) throw new Error(`${schema.name ?? "a type"} has two fields numbered ${outer}`)
      slots.set(outer, slot)
      slots = slot.embedded
    }
    slots.set(protobuf, { goName, name, field })
  }
  layouts.set(schema, layout)
  return layout
}

/**
 * `depth`: number of enclosing messages. `before`: what an earlier message of the same field said, to which this one adds.
 */
function readMessage(schema: Schema, buffer: Buffer, depth: number, before?: Json): JsonObject {
  const object = isObject(before) ? before : {}
  readInto(object, layoutOf(schema), new MessageReader(buffer, lastName(schema.name)), depth)
  return object
}

const lastName = (name = ""): string => name.slice(name.lastIndexOf(".") + 1)

function readInto(object: JsonObject, layout: Layout, reader: MessageReader, depth: number): void {
  if (depth > maxDepth) throw new Malformed("it is nested too deeply")
  for (let number = reader.next(); number > 0; number = reader.next()) {
    const slot = layout.get(number)
    // Unknown numbers come from newer clients: they are ignored, as in Go's decoder.
    if (slot === undefined) reader.skip()
    else if ("embedded" in slot)
      readInto(object, slot.embedded, new MessageReader(reader.bytes(slot.goName), slot.goName), depth + 1)
    else readField(object, slot.name, slot.field, slot.goName, reader, depth)
  }
}

function readField(
  object: JsonObject,
  name: string,
  { schema, goType }: FieldSchema,
  goName: string,
  reader: MessageReader,
  depth: number,
): void {
  const { items } = schema
  if (schema.type === "list" && items !== undefined) {
    const list = (object[name] ??= []) as Json[]
    if (goType === verbsType) readListMessage(list, items, new MessageReader(reader.bytes(goName), "Verbs"))
    else readItems(list, items, goName, reader, depth)
  } else if (schema.type === "map" && items !== undefined) {
    readEntry((object[name] ??= {}) as JsonObject, items, reader.within(goName), depth)
  } else object[name] = readValue(schema, goName, reader, depth, object[name])
}

/** The wire types in an entry are not looked at. */
function readEntry(map: JsonObject, items: Schema, entry: MessageReader, depth: number): void {
  let key = ""
  let value: Json | undefined
  for (let number = entry.next(); number !== 0; number = entry.next()) {
    if (number === 1) key = entry.bytes("").toString("utf8")
    else if (number === 2) value = readMapValue(items, entry, depth)
    else entry.skip()
  }
  setOwn(map, key, value ?? readMapValue(items, new MessageReader(emptyValue), depth))
}

/** A length of zero, or a number of it. */
const emptyValue = Buffer.of(0)

function readMapValue(schema: Schema, reader: MessageReader, depth: number): Json {
  if (schema.type !== "list" || schema.items === undefined) return readValue(schema, "", reader, depth)
  return readListMessage([], schema.items, new MessageReader(reader.bytes(""), "ExtraValue"))
}

/** Used by discovery: the only list besides ExtraValue that has its own type in Go, and is therefore a message. */
export const verbsType = "v1.Verbs"

/** A list that is the value of a map (ExtraValue), or has such a type, is a message with the items as its first field. */
function readListMessage(list: Json[], items: Schema, reader: MessageReader): Json[] {
  for (let number = reader.next(); number > 0; number = reader.next()) {
    if (number === 1) list.push(readValue(items, "Items", reader, 0))
    else reader.skip()
  }
  return list
}

/** Repeated numbers may be packed: several in one field. */
function readItems(list: Json[], items: Schema, goName: string, reader: MessageReader, depth: number): void {
  const isPacked = (items.type === "integer" || items.type === "boolean") && reader.wireType === 2
  if (!isPacked) list.push(readValue(items, goName, reader, depth))
  else for (const value of reader.varints(goName)) list.push(numberOf(items, value))
}

function numberOf({ type, format }: Schema, value: bigint): Json {
  if (type === "boolean") return value !== 0n
  return narrowest(BigInt.asIntN(format === "int32" ? 32 : 64, value))
}

/** `before`: what the field was given before in this message. */
function readValue(schema: Schema, goName: string, reader: MessageReader, depth: number, before?: Json): Json {
  switch (schema.type) {
    case "integer":
    case "boolean":
      return numberOf(schema, reader.varint(goName))
    case "number":
      return reader.double(goName)
    case "string":
      return readText(schema, reader.bytes(goName), before)
    case "intOrString":
      return readIntOrString(reader.bytes(goName), before)
    case "any": {
      const bytes = reader.bytes(goName)
      const ofProps: ReadProps = (props, inner, earlier) => readMessage(props, inner, depth + 1, earlier)
      return readUnion(schema, bytes, ofProps, before) ?? readRaw(schema, bytes, before)
    }
    default: {
      const bytes = reader.bytes(goName)
      return schema.preserveUnknown === true && schema.fields === undefined
        ? readRaw(schema, bytes, before)
        : readMessage(schema, bytes, depth + 1, before)
    }
  }
}

/** Of what an earlier message said, only the value of its type counts; in Go, the other one is kept, too. */
function readIntOrString(message: Buffer, before?: Json): Json {
  let type = typeof before === "string" ? 1n : 0n
  let number = typeof before === "number" ? BigInt(before) : 0n
  let text = typeof before === "string" ? before : ""
  const reader = new MessageReader(message, "IntOrString")
  for (let field = reader.next(); field > 0; field = reader.next()) {
    if (field === 1) type = reader.varint("Type")
    else if (field === 2) number = reader.varint("IntVal")
    else if (field === 3) text = reader.bytes("StrVal").toString("utf8")
    else reader.skip()
  }
  return type === 1n ? text : Number(BigInt.asIntN(32, number))
}

/** RawExtension and similar: JSON text in the first field. */
function readRaw({ name }: Schema, message: Buffer, before: Json = null): Json {
  const text = readFirst(message, lastName(name), "Raw")
  if (text === undefined) return before
  if (text.length === 0) return null
  if (survey(text).depth > maxDepth) throw new Malformed("an embedded object is nested too deeply")
  try {
    return parseJson(text)
  } catch (error) {
    throw new Malformed("an embedded object is not JSON", { cause: error })
  }
}

/** The last bytes of a message's only field. */
function readFirst(message: Buffer, type: string, goName: string): Buffer | undefined {
  let found: Buffer | undefined
  const reader = new MessageReader(message, type)
  for (let number = reader.next(); number > 0; number = reader.next()) {
    if (number === 1) found = reader.bytes(goName)
    else reader.skip()
  }
  return found
}

function readText(schema: Schema, buffer: Buffer, before: Json = "0"): Json {
  switch (schema.format) {
    case "byte":
      return buffer.toString("base64")
    case "quantity":
      return readFirst(buffer, "Quantity", "String_")?.toString("utf8") ?? before
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
/** Go's zero time: year 1. */
const zeroTime = -62135596800

/** Seconds and nanoseconds since 1970. An empty message is Go's zero time: null. */
function readTime(buffer: Buffer, micro: boolean): Json {
  if (buffer.length === 0) return null
  let [seconds, nanos] = [0, 0]
  const reader = new MessageReader(buffer, "Timestamp")
  for (let number = reader.next(); number > 0; number = reader.next()) {
    if (number === 1) seconds = Number(BigInt.asIntN(64, reader.varint("Seconds")))
    else if (number === 2) nanos = Number(BigInt.asIntN(32, reader.varint("Nanos")))
    else reader.skip()
  }
  // Go's JSON of a time has whole seconds, and so has what it reads here.
  const micros = micro ? Math.trunc(nanos / 1000) : 0
  seconds += Math.floor(micros / 1_000_000)
  if (seconds < minSeconds || seconds > maxSeconds) throw new Malformed("a time is out of range")
  if (seconds === zeroTime && micros === 0) return null
  const text = new Date(seconds * 1000).toISOString().slice(0, 19)
  const fraction = micros - Math.floor(micros / 1_000_000) * 1_000_000
  return micro ? `${text}.${String(fraction).padStart(6, "0")}Z` : `${text}Z`
}

const capitalized = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1)
