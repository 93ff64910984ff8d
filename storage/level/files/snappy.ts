// Snappy's format, read only. LevelDB compresses blocks with it. Source: snappy's format_description.txt.

import { VarintReader } from "./varint.ts"

/** Throws RangeError for what is not in this format. */
export function uncompress(data: Buffer): Buffer {
  const reader = new VarintReader(data)
  const output = Buffer.alloc(reader.integer())
  let length = 0
  while (!reader.atEnd) {
    const tag = reader.bytes(1).readUInt8()
    if ((tag & 3) === 0) {
      const literal = reader.bytes(literalLength(tag >>> 2, reader))
      if (length + literal.length > output.length) throw new RangeError("more bytes than announced")
      literal.copy(output, length)
      length += literal.length
    } else {
      const { offset, count } = copyOf(tag, reader)
      if (offset === 0 || offset > length || length + count > output.length) throw new RangeError("a copy of nothing")
      // Byte by byte, since a copy may include what it has just written.
      for (const end = length + count; length < end; length++) output[length] = output[length - offset]!
    }
  }
  if (length < output.length) throw new RangeError("fewer bytes than announced")
  return output
}

/** Up to 60 in the tag itself, else in the one to four bytes that follow. */
function literalLength(field: number, reader: VarintReader): number {
  return field < 60 ? field + 1 : reader.bytes(field - 59).readUIntLE(0, field - 59) + 1
}

function copyOf(tag: number, reader: VarintReader): { offset: number; count: number } {
  switch (tag & 3) {
    case 1:
      return { count: ((tag >>> 2) & 7) + 4, offset: ((tag >>> 5) << 8) | reader.bytes(1).readUInt8() }
    case 2:
      return { count: (tag >>> 2) + 1, offset: reader.bytes(2).readUInt16LE() }
    default:
      return { count: (tag >>> 2) + 1, offset: reader.bytes(4).readUInt32LE() }
  }
}
