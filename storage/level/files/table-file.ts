// LevelDB's table files. Source: LevelDB's doc/table_format.md.
//
//   data blocks, blocks with other facts, a block that lists those, the index: a block that lists the data blocks, footer(48)
//   block    data type(1) checksum(4)         type 0 plain, 1 snappy; the checksum is the masked CRC-32C of data and type
//   footer   handle of the list, handle of the index, padding, magic(8)
//   handle   offset, length of the data       variable-length integers
//   list     entries (sharedLength ownLength valueLength key value), restarts(4 each), their number(4); a value is a handle

import { crc32c, masked } from "./crc32c.ts"
import { uncompress } from "./snappy.ts"
import { VarintReader } from "./varint.ts"

const footerBytes = 48
const magic = 0xdb_47_75_24_8b_80_fb_57n
const trailerBytes = 5
const snappy = 1

/** Reads every block of a table. Throws RangeError for the first one that is damaged. */
export function verifyTable(file: Buffer): void {
  const footer = file.length - footerBytes
  if (footer < 0 || file.readBigUInt64LE(file.length - 8) !== magic) throw new RangeError("its end is damaged")
  const reader = new VarintReader(file, footer)
  for (const list of [blockAt(file, reader), blockAt(file, reader)])
    for (const handle of valuesOf(list)) blockAt(file, new VarintReader(handle))
}

/** Its data, as it was before it was compressed, if it is intact. */
function blockAt(file: Buffer, handle: VarintReader): () => Buffer {
  const offset = handle.integer()
  const type = offset + handle.integer()
  if (type + trailerBytes > file.length - footerBytes) throw new RangeError(`its block at ${offset} is not there`)
  if (masked(crc32c(file, offset, type + 1)) !== file.readUInt32LE(type + 1))
    throw new RangeError(`its block at ${offset} is damaged`)
  return () => {
    const data = file.subarray(offset, type)
    return file[type] === snappy ? uncompress(data) : data
  }
}

function* valuesOf(list: () => Buffer): Generator<Buffer> {
  const data = list()
  const end = data.length - 4 * (1 + data.readUInt32LE(data.length - 4))
  const reader = new VarintReader(data)
  while (reader.position < end) {
    reader.integer() // what the key shares with the one before
    const key = reader.integer()
    const value = reader.integer()
    reader.position += key
    yield reader.bytes(value)
  }
}
