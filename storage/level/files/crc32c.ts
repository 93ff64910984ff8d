// CRC-32C (Castagnoli, RFC 3720), which Node does not have. LevelDB stores it masked.

const polynomial = 0x82_f6_3b_78

/** tables[n][byte]: what `byte` contributes when n more bytes follow it. Four bytes at a time are half a gigabyte per second. */
const tables: readonly Int32Array[] = createTables()

function createTables(): Int32Array[] {
  const first = Int32Array.from({ length: 256 }, (_, byte) => {
    let value = byte
    for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ polynomial : value >>> 1
    return value
  })
  const all = [first]
  for (let n = 1; n < 4; n++) all.push(all[n - 1]!.map((value) => (value >>> 8) ^ first[value & 255]!))
  return all
}

const [none, one, two, three] = tables as [Int32Array, Int32Array, Int32Array, Int32Array]

/** Of data[start] to data[end - 1]. `before`: the checksum of what precedes them. */
export function crc32c(data: Uint8Array, start = 0, end = data.length, before = 0): number {
  let value = ~before
  let at = start
  for (; at + 4 <= end; at += 4) {
    value =
      three[(value ^ data[at]!) & 255]! ^
      two[((value >>> 8) ^ data[at + 1]!) & 255]! ^
      one[((value >>> 16) ^ data[at + 2]!) & 255]! ^
      none[((value >>> 24) ^ data[at + 3]!) & 255]!
  }
  for (; at < end; at++) value = (value >>> 8) ^ none[(value ^ data[at]!) & 255]!
  return ~value >>> 0
}

/** As LevelDB stores it, so that a checksum of data with checksums in it is no worse. */
export function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa2_82_ea_d8) >>> 0
}
