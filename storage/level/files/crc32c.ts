// CRC-32C (Castagnoli, RFC 3720), which Node does not have. LevelDB stores it masked.

const polynomial = 0x82_f6_3b_78

/** tables[n][byte]: what `byte` contributes when n more bytes follow it. Eight bytes at a time are nearly two gigabytes per second. */
const tables: readonly Int32Array[] = createTables()

function createTables(): Int32Array[] {
  const first = Int32Array.from({ length: 256 }, (_, byte) => {
    let value = byte
    for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ polynomial : value >>> 1
    return value
  })
  const all = [first]
  for (let n = 1; n < 8; n++) all.push(all[n - 1]!.map((value) => (value >>> 8) ^ first[value & 255]!))
  return all
}

type Table = Int32Array
const [none, one, two, three, four, five, six, seven] = tables as [
  Table,
  Table,
  Table,
  Table,
  Table,
  Table,
  Table,
  Table,
]

/** Of data[start] to data[end - 1]. `before`: the checksum of what precedes them. */
export function crc32c(data: Uint8Array, start = 0, end = data.length, before = 0): number {
  let value = ~before
  const at = start + ((end - start) & ~7)
  if (at > start) value = ofEights(data, start, at, value)
  for (let each = at; each < end; each++) value = (value >>> 8) ^ none[(value ^ data[each]!) & 255]!
  return ~value >>> 0
}

function ofEights(data: Uint8Array, start: number, end: number, before: number): number {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  let value = before
  for (let at = start; at < end; at += 8) {
    const first = value ^ view.getInt32(at, true)
    const second = view.getInt32(at + 4, true)
    value =
      seven[first & 255]! ^
      six[(first >>> 8) & 255]! ^
      five[(first >>> 16) & 255]! ^
      four[first >>> 24]! ^
      three[second & 255]! ^
      two[(second >>> 8) & 255]! ^
      one[(second >>> 16) & 255]! ^
      none[second >>> 24]!
  }
  return value
}

/** As LevelDB stores it, so that a checksum of data with checksums in it is no worse. */
export function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa2_82_ea_d8) >>> 0
}
