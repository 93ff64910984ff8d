// LevelDB's log files (its write-ahead logs and manifests): blocks of 32 KiB with fragments of records. Source: LevelDB's
// doc/log_format.md.
//
//   fragment   checksum(4) length(2) type(1) data    little endian; the checksum is the masked CRC-32C of type and data
//
// What remains of a block and is too short for the head of a fragment is not used.

import { crc32c, masked } from "./crc32c.ts"

const blockBytes = 32 * 1024
const headBytes = 7
const sectorBytes = 512
/** More zeros than these are no data, where a sector or a record ends in them. */
const fewZeros = 2

const fragmentTypes = { full: 1, first: 2, middle: 3, last: 4 } as const

interface Fragment {
  offset: number
  /** Behind the last byte. It may be beyond the end of the file, and beyond that of the block if the length is damaged. */
  end: number
  blockEnd: number
  type: number
}

/** The fragments as their heads describe them. A block whose rest is zeros was never written. */
function* fragmentsOf(file: Buffer): Generator<Fragment> {
  for (let blockEnd = blockBytes; blockEnd < file.length + blockBytes; blockEnd += blockBytes) {
    let offset = blockEnd - blockBytes
    while (offset + headBytes <= Math.min(blockEnd, file.length)) {
      if (isZero(file, offset, offset + headBytes)) break
      const end = endOf(file, offset)
      yield { offset, end, blockEnd, type: file[offset + 6]! }
      offset = end
    }
  }
}

const endOf = (file: Buffer, offset: number): number => offset + headBytes + file.readUInt16LE(offset + 4)

const hasChecksum = (file: Buffer, offset: number, end: number): boolean =>
  masked(crc32c(file, offset + 6, end)) === file.readUInt32LE(offset)

const isIntact = (file: Buffer, { offset, end, blockEnd }: Fragment): boolean =>
  end <= blockEnd && end <= file.length && hasChecksum(file, offset, end)

/**
 * The offset of the first damage: data that LevelDB would skip, with all that follows in its block. Undefined if there is none, or
 * only what a power loss leaves of writes that had not been flushed: they end too early, or have zeros where sectors are missing.
 */
export function damageIn(file: Buffer): number | undefined {
  let torn = 0 // the end of a block whose rest is lost
  for (const fragment of fragmentsOf(file)) {
    const { offset, blockEnd } = fragment
    if (blockEnd === torn || isIntact(file, fragment)) continue
    if (!isLost(file, fragment)) return offset
    torn = blockEnd
  }
  return undefined
}

/** Whether it was not written completely. Its length may be damaged, and its true end before another fragment that seems to be in it. */
function isLost(file: Buffer, { offset, end, blockEnd, type }: Fragment): boolean {
  const limit = Math.min(blockEnd, file.length)
  if (isWholeWithOtherLength(file, offset, limit)) return false
  const next = nextIntact(file, offset + headBytes, limit)
  const isCut = end <= blockEnd && end > file.length
  // Without a type, the last byte of its head, its length is not known.
  return (isCut && next === undefined) || isTorn(file, offset, next ?? (type === 0 ? limit : Math.min(end, limit)))
}

function isWholeWithOtherLength(file: Buffer, offset: number, limit: number): boolean {
  const checksum = file.readUInt32LE(offset)
  let found = crc32c(file, offset + 6, offset + headBytes)
  for (let at = offset + headBytes; at < limit && masked(found) !== checksum; at++)
    found = crc32c(file, at, at + 1, found)
  return masked(found) === checksum
}

/** Where the next fragment that is intact begins. */
function nextIntact(file: Buffer, start: number, limit: number): number | undefined {
  for (let at = start; at + headBytes <= limit; at++) {
    const isType = file[at + 6]! >= fragmentTypes.full && file[at + 6]! <= fragmentTypes.last
    const end = endOf(file, at)
    if (isType && end <= limit && hasChecksum(file, at, end)) return at
  }
  return undefined
}

/** Whether a sector of it is missing, or its beginning or its end. */
function isTorn(file: Buffer, offset: number, end: number): boolean {
  for (let at = offset; at < end;) {
    const next = Math.min(end, (Math.floor(at / sectorBytes) + 1) * sectorBytes)
    if (next - at > fewZeros && isZero(file, at, next)) return true
    at = next
  }
  return lacksBeginning(file, offset, end) || lacksEnd(file, offset, end)
}

/** Whether the first bytes of its checksum are zeros, where a sector ends, and the others are right. */
function lacksBeginning(file: Buffer, offset: number, end: number): boolean {
  const missing = sectorBytes - (offset % sectorBytes)
  if (missing > fewZeros || !isZero(file, offset, offset + missing)) return false
  const right = masked(crc32c(file, offset + 6, end))
  return right >>> (8 * missing) === file.readUInt32LE(offset) >>> (8 * missing)
}

/** Whether it ends in zeros that are not meant. A few may be: then they are, unless others give the right checksum. */
function lacksEnd(file: Buffer, offset: number, end: number): boolean {
  let start = end
  while (start > offset + headBytes && file[start - 1] === 0) start--
  const count = end - start
  if (count > fewZeros) return true
  const checksum = file.readUInt32LE(offset)
  const before = crc32c(file, offset + 6, start)
  const other = Buffer.alloc(count)
  for (let value = 1; value < 256 ** count; value++) {
    other.writeUIntLE(value, 0, count)
    if (masked(crc32c(other, 0, count, before)) === checksum) return true
  }
  return false
}

function isZero(data: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (data[at] !== 0) return false
  return true
}

/** Behind the last record of an intact log that may have been given space ahead. If there is other data behind it, the end of the file. */
export function endOfLog(file: Buffer): number {
  let end = 0
  for (const fragment of fragmentsOf(file)) end = fragment.end
  return end <= file.length && isZero(file, end, file.length) ? end : file.length
}

/** The records up to the first one that is not whole, or was not written: others may follow. */
export function* recordsOf(file: Buffer): Generator<Buffer> {
  let parts: Buffer[] = []
  let end = 0
  for (const fragment of fragmentsOf(file)) {
    // At most what is too short for a head is left out.
    if (fragment.offset - end >= headBytes || !isIntact(file, fragment)) return
    const { type } = fragment
    end = fragment.end
    if (type === fragmentTypes.full || type === fragmentTypes.first) parts = []
    // In the last blocks of a file it has no beginning.
    else if (parts.length === 0) continue
    parts.push(file.subarray(fragment.offset + headBytes, fragment.end))
    if (type === fragmentTypes.full || type === fragmentTypes.last)
      yield parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  }
}

/** The last blocks, from the beginning of a block. */
export function lastBlocks(file: Buffer, count: number): Buffer {
  return file.subarray(Math.max(0, Math.ceil(file.length / blockBytes) - count) * blockBytes)
}
