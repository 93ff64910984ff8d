// Bodies in Kubernetes' protobuf, decoded only by the wire format, without the product's field numbers, since the product is
// being tested. Fields are named by their numbers; only metadata has names, which normalize.ts needs.

import { Malformed, MessageReader } from "../../../apimachinery/schema/protobuf/wire.ts"

export type Decoded = string | number | Message | Decoded[]
interface Message {
  [field: string]: Decoded
}

const magic = "k8s\0"
/** Field names of ObjectMeta and ListMeta, as far as their values necessarily differ. */
const objectMeta: Readonly<Record<string, string>> = {
  1: "name",
  2: "generateName",
  3: "namespace",
  5: "uid",
  6: "resourceVersion",
}
const listMeta: Readonly<Record<string, string>> = { 2: "resourceVersion", 3: "continue" }
const status: Readonly<Record<string, string>> = { 2: "status", 3: "message", 4: "reason", 5: "details", 6: "code" }
/** The range of timestamps in seconds since 1970 that servers and scenarios write: 2020 to 2100. */
const [firstSecond, lastSecond] = [1_577_836_800, 4_102_444_800]

/** A body as `{kind, apiVersion, object}`. */
export function decodeProtobuf(body: Buffer): unknown {
  if (body.toString("latin1", 0, magic.length) !== magic) return body.toString()
  const unknown = body.subarray(magic.length)
  const typeMeta = bytesAt(unknown, 1) ?? Buffer.alloc(0)
  const [apiVersion = "", kind = ""] = [1, 2].map((number) => bytesAt(typeMeta, number)?.toString())
  const raw = decodeMessage(bytesAt(unknown, 2) ?? Buffer.alloc(0))
  // In the older list of metadata the items come first.
  const isOlder = apiVersion === "meta.k8s.io/v1beta1" && kind === "PartialObjectMetadataList"
  const object = isOlder && raw !== undefined ? renamed(raw, { 1: "2", 2: "1" }) : raw
  if (object !== undefined) nameMetadata(object, kind.endsWith("List") || kind === "Status")
  if (object !== undefined && kind === "Status") {
    const { details, ...said } = renamed(object, status)
    return { kind, apiVersion, ...said, ...(isMessage(details) ? { details: withCauses(details) } : {}) }
  }
  return { kind, apiVersion, object: object ?? "malformed" }
}

/** An event of a watch as `{type, object}`. */
export function decodeProtobufEvent(event: Buffer): unknown {
  const [type, object] = [1, 2].map((number) => bytesAt(event, number))
  return { type: type?.toString(), object: object && decodeProtobuf(bytesAt(object, 1) ?? Buffer.alloc(0)) }
}

function bytesAt(message: Buffer, number: number): Buffer | undefined {
  let found: Buffer | undefined
  for (const field of fieldsOf(message))
    if (field.number === number && Buffer.isBuffer(field.value)) found = field.value
  return found
}

/** Varints, numbers and bytes, whatever they mean. */
function* fieldsOf(message: Buffer): Generator<{ number: number; value: bigint | number | Buffer }, void> {
  const reader = new MessageReader(message, "any message")
  for (let number = reader.next(); number > 0; number = reader.next()) {
    if (reader.wireType === 0) yield { number, value: reader.varint("any") }
    else if (reader.wireType === 1) yield { number, value: reader.double("any") }
    else yield { number, value: reader.bytes("any") }
  }
}

function nameMetadata(object: Message, isList: boolean): void {
  const metadata = object["1"]
  if (isMessage(metadata)) object["1"] = renamed(metadata, isList ? listMeta : objectMeta)
  if (!isList) return
  for (const item of [object["2"] ?? []].flat()) if (isMessage(item)) nameMetadata(item, false)
}

/** Always a list, without repetitions. */
function withCauses(details: Message): Message {
  const { causes, ...others } = renamed(details, { 4: "causes" })
  return causes === undefined ? others : { ...others, causes: [causes].flat() }
}

function renamed(message: Message, names: Readonly<Record<string, string>>): Message {
  return Object.fromEntries(Object.entries(message).map(([number, value]) => [names[number] ?? number, value]))
}

export function isMessage(value: Decoded | undefined): value is Message {
  return typeof value === "object" && !Array.isArray(value)
}

/** Undefined if the bytes are not a message. */
export function decodeMessage(bytes: Buffer): Message | undefined {
  const message: Message = {}
  try {
    for (const field of fieldsOf(bytes)) {
      const value = decodeValue(field.value)
      const before = message[field.number]
      message[field.number] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
    }
  } catch (error) {
    if (error instanceof Malformed) return undefined
    throw error
  }
  return isTime(message) ? { time: "<time>" } : message
}

function isTime(message: Message): boolean {
  const seconds = message["1"]
  if (typeof seconds !== "number" || seconds < firstSecond || seconds > lastSecond) return false
  return Object.keys(message).every((number) => number === "1" || number === "2")
}

/** Printable bytes are treated as text, others as a message if possible: the same heuristic for both sides. */
function decodeValue(bytes: bigint | number | Buffer): Decoded {
  if (typeof bytes === "bigint") return Number(BigInt.asIntN(64, bytes))
  if (typeof bytes === "number") return bytes
  const text = bytes.toString()
  // oxlint-disable-next-line no-control-regex -- they tell messages from texts
  if (!/[\u0000-\u0008\u000b-\u001f\ufffd]/.test(text) && !/^\n[^\n]/.test(text)) return text
  return decodeMessage(bytes) ?? `bytes ${bytes.toString("hex")}`
}
