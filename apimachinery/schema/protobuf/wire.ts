// The wire format below parse.ts: a message is a sequence of fields, each with a number, a wire type and a value. It is read as by
// the code that gogo-protobuf generates for Kubernetes' types: what is accepted, and the words for what is not.
// Source: generated.pb.go of k8s.io/api and of k8s.io/apimachinery.
//
// With one exception: there, a key or value in the entry of a map may end behind the entry, and what is behind is read again. Entries in entries
// would then take exponential time, and long ones of many as much memory as all of them together.

/** The bytes are not a message, or not one of the expected type. */
export class Malformed extends Error {}

const [varintType, fixed64Type, bytesType, groupType, groupEndType, fixed32Type] = [0, 1, 2, 3, 4, 5]
const unexpectedEnd = "unexpected EOF"
const behindEntry = "proto: a key or value ends behind the entry of its map"
const negativeLength = "proto: negative length found during unmarshaling"
/** Lengths are Go's int. */
const endOfInts = 1n << 63n

/** Reads the fields of one message in turn: next() tells a number, and then exactly one of the other methods reads its value. */
export class MessageReader {
  readonly #buffer: Buffer
  readonly #message: string | undefined
  readonly #end: number
  #start: number
  #at: number
  /** Of the current field; 2 for bytes. */
  wireType = 0

  /** `message`: Go's name of its type, for errors. Without one it is the entry of a map, whose wire types are not looked at. */
  constructor(buffer: Buffer, message?: string, at = 0, end = buffer.length) {
    this.#buffer = buffer
    this.#message = message
    this.#start = at
    this.#at = at
    this.#end = end
  }

  /** The number of the next field; 0 if there is none. */
  next(): number {
    if (this.#at >= this.#end) return 0
    this.#start = this.#at
    const tag = this.#readVarint()
    this.wireType = Number(tag & 7n)
    const number = Number(BigInt.asIntN(32, tag >> 3n))
    if (this.#message === undefined) return number === 0 ? -1 : number
    if (this.wireType === groupEndType) throw new Malformed(`proto: ${this.#message}: wiretype end group for non-group`)
    if (number <= 0) throw new Malformed(`proto: ${this.#message}: illegal tag ${number} (wire type ${tag})`)
    return number
  }

  /** Unsigned. `field`: Go's name of it, for errors. */
  varint(field: string): bigint {
    this.#expect(varintType, field)
    return this.#readVarint()
  }

  double(field: string): number {
    this.#expect(fixed64Type, field)
    const at = this.#take(8)
    return this.#buffer.readDoubleLE(at)
  }

  bytes(field: string): Buffer {
    this.#expect(bytesType, field)
    const length = this.#readLength()
    const at = this.#take(length)
    return this.#buffer.subarray(at, at + length)
  }

  /** What is read in place: the entry of a map. */
  within(field: string): MessageReader {
    this.#expect(bytesType, field)
    const length = this.#readLength()
    const at = this.#take(length)
    return new MessageReader(this.#buffer, undefined, at, at + length)
  }

  /** Packed numbers. The last one may end behind the field: then what follows it is read from there. */
  *varints(field: string): Generator<bigint, void> {
    this.#expect(bytesType, field)
    const length = this.#readLength()
    this.#at = this.#take(length)
    const end = this.#at + length
    while (this.#at < end) yield this.#readVarint()
  }

  /** A field of newer clients, or a group of them. */
  skip(): void {
    this.#at = this.#start
    let depth = 0
    do {
      if (this.#at >= this.#buffer.length) throw new Malformed(unexpectedEnd)
      depth += this.#skipOne(depth)
    } while (depth > 0)
    if (this.#at > this.#end) throw new Malformed(unexpectedEnd)
  }

  /** By how much it is deeper in groups after the next field. */
  #skipOne(depth: number): -1 | 0 | 1 {
    const type = Number(this.#readVarint() & 7n)
    switch (type) {
      case varintType:
        this.#readVarint()
        return 0
      case fixed64Type:
        this.#at += 8
        return 0
      case bytesType:
        this.#passBytes()
        return 0
      case groupType:
        return 1
      case groupEndType:
        if (depth === 0) throw new Malformed("proto: unexpected end of group")
        return -1
      case fixed32Type:
        this.#at += 4
        return 0
      default:
        throw new Malformed(`proto: illegal wireType ${type}`)
    }
  }

  /** Their end is looked at when all is passed. */
  #passBytes(): void {
    const length = this.#readLength()
    this.#at += length
  }

  #expect(type: number, field: string): void {
    if (this.wireType !== type && this.#message !== undefined)
      throw new Malformed(`proto: wrong wireType = ${this.wireType} for field ${field}`)
  }

  #take(length: number): number {
    const at = this.#at
    if (length > this.#buffer.length - at) throw new Malformed(unexpectedEnd)
    if (length > this.#end - at) throw new Malformed(behindEntry)
    this.#at += length
    return at
  }

  #readLength(): number {
    const length = this.#readVarint()
    if (length + BigInt(this.#at) >= endOfInts) throw new Malformed(negativeLength)
    return Number(length)
  }

  /** At most ten bytes; bits beyond 64 are dropped. */
  #readVarint(): bigint {
    let low = 0
    let value = 0n
    for (let index = 0; index < 10; index++) {
      const byte = this.#buffer[this.#at]
      if (byte === undefined) throw new Malformed(unexpectedEnd)
      this.#at++
      // Four groups of seven bits suffice for almost all numbers.
      if (index < 4) low += (byte & 0x7f) * 2 ** (7 * index)
      else value |= BigInt(byte & 0x7f) << BigInt(7 * index)
      if (byte < 0x80) return BigInt.asUintN(64, value | BigInt(low))
    }
    throw new Malformed("proto: integer overflow")
  }
}
