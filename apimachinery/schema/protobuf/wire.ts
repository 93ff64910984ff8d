// The wire format below parse.ts: a message is a sequence of fields, each with a number, a wire type and a value. Fields are read
// one by one, so that a body with a million unknown fields costs no more than its bytes.

/** The bytes are not a message, or not one of the expected type. */
export class Malformed extends Error {}

export type WireType = "varint" | "fixed64" | "bytes" | "fixed32"

export interface WireField {
  number: number
  type: WireType
  /** For varint and fixed types, unsigned. */
  value: bigint
  /** For type bytes. */
  bytes: Buffer
}

const nothing = Buffer.alloc(0)

export function* fieldsOf(buffer: Buffer): Generator<WireField, void> {
  for (let at = 0; at < buffer.length;) {
    const tag = readVarint(buffer, at)
    const number = Number(tag.value >> 3n)
    if (number < 1 || number > 0x1fffffff) throw new Malformed(`illegal field number ${number}`)
    at = tag.end
    switch (Number(tag.value & 7n)) {
      case 0: {
        const { value, end } = readVarint(buffer, at)
        yield { number, type: "varint", value, bytes: nothing }
        at = end
        break
      }
      case 1:
        if (at + 8 > buffer.length) throw new Malformed("unexpected EOF")
        yield { number, type: "fixed64", value: buffer.readBigUInt64LE(at), bytes: nothing }
        at += 8
        break
      case 2: {
        const { value, end } = readVarint(buffer, at)
        if (value > BigInt(buffer.length - end)) throw new Malformed("unexpected EOF")
        at = end + Number(value)
        yield { number, type: "bytes", value: 0n, bytes: buffer.subarray(end, at) }
        break
      }
      case 5:
        if (at + 4 > buffer.length) throw new Malformed("unexpected EOF")
        yield { number, type: "fixed32", value: BigInt(buffer.readUInt32LE(at)), bytes: nothing }
        at += 4
        break
      default:
        throw new Malformed(`proto: illegal wireType ${Number(tag.value & 7n)}`)
    }
  }
}

/** A field that is not repeated; if it occurs twice, the last one counts. */
export function fieldOf(buffer: Buffer, number: number, type: WireType): WireField | undefined {
  let found: WireField | undefined
  for (const field of fieldsOf(buffer)) if (field.number === number) found = expectType(field, type)
  return found
}

/** Empty if the field is absent. */
export function bytesOf(buffer: Buffer, number: number): Buffer {
  return fieldOf(buffer, number, "bytes")?.bytes ?? nothing
}

export function expectType(field: WireField, type: WireType): WireField {
  if (field.type !== type) throw new Malformed(`field ${field.number} is of a wrong wire type`)
  return field
}

/** At most ten bytes; bits beyond 64 are dropped, as in every decoder. */
export function readVarint(buffer: Buffer, start: number): { value: bigint; end: number } {
  let low = 0
  let value = 0n
  for (let index = 0; index < 10; index++) {
    const byte = buffer[start + index]
    if (byte === undefined) throw new Malformed("unexpected EOF")
    // Four groups of seven bits suffice for almost all numbers.
    if (index < 4) low += (byte & 0x7f) * 2 ** (7 * index)
    else value |= BigInt(byte & 0x7f) << BigInt(7 * index)
    if (byte < 0x80) return { value: BigInt.asUintN(64, value | BigInt(low)), end: start + index + 1 }
  }
  throw new Malformed("proto: integer overflow")
}
