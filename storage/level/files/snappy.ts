// Snappy's format, read only. LevelDB compresses blocks with it. Source: snappy's format_description.txt.

import { VarintReader } from "./varint.ts"

/** Literals from here on are copied by the system, which takes as long as copying so many bytes one by one. */
const longBytes = 32

/** Throws RangeError for what is not in this format. */
export function uncompress(data: Buffer): Buffer {
  const reader = new VarintReader(data)
  const output = Buffer.alloc(reader.integer())
  let from = reader.position
  let length = 0
  while (from < data.length) {
    const tag = data[from++]!
    const kind = tag & 3
    if (kind === 0) {
      const extra = extraBytes(tag)
      const count = extra === 0 ? (tag >>> 2) + 1 : data.readUIntLE(from, extra) + 1
      from += extra
      if (from + count > data.length) throw new RangeError("a literal is cut")
      if (length + count > output.length) throw new RangeError("more bytes than announced")
      copy(data, from, output, length, count)
      from += count
      length += count
    } else {
      const count = kind === 1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1
      const size = offsetBytes(kind)
      const offset = data.readUIntLE(from, size) + (kind === 1 ? (tag >>> 5) << 8 : 0)
      from += size
      if (offset === 0 || offset > length || length + count > output.length) throw new RangeError("a copy of nothing")
      // Byte by byte, since a copy may include what it has just written.
      for (const end = length + count; length < end; length++) output[length] = output[length - offset]!
    }
  }
  if (length < output.length) throw new RangeError("fewer bytes than announced")
  return output
}

/** In which the length of a literal follows, if it is above 60. */
const extraBytes = (tag: number): number => Math.max(0, (tag >>> 2) - 59)

const offsetBytes = (kind: number): number => (kind === 3 ? 4 : kind)

function copy(from: Buffer, start: number, to: Buffer, at: number, count: number): void {
  if (count >= longBytes) from.copy(to, at, start, start + count)
  else for (let index = 0; index < count; index++) to[at + index] = from[start + index]!
}
