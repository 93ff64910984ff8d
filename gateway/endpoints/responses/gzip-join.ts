// Joins separately compressed parts into one gzip stream, so that compressed parts can be reused. DEFLATE blocks that end on a byte
// boundary and do not refer to earlier data can be concatenated, and the checksum of the whole is computed from those of the parts.
// Sources: RFC 1951, RFC 1952; the arithmetic of checksums is zlib's crc32_combine.

import { constants, crc32, deflateRaw } from "node:zlib"

export interface Deflated {
  /** Complete blocks; none is marked as the last. */
  blocks: Buffer
  /** Of the uncompressed data. */
  length: number
  crc: number
}

/** Runs a job that compresses, possibly delayed; see RequestContext.aside. */
export type Aside = (job: () => Promise<Deflated>) => Promise<Deflated>

/** Runs in the thread pool, so compression does not block other requests. */
export function deflate(bytes: Uint8Array): Promise<Deflated> {
  return new Promise((resolve, reject) => {
    deflateRaw(bytes, { level: 1, finishFlush: constants.Z_SYNC_FLUSH }, (error, blocks) => {
      if (error) reject(error)
      else resolve({ blocks, length: bytes.length, crc: crc32(bytes) })
    })
  })
}

export type Allocate = (length: number) => Buffer

export const newBuffer: Allocate = (length) => Buffer.allocUnsafe(length)

/**
 * Memory for what is compressed, used again and again: V8 collects all garbage after some tens of megabytes of large buffers, even
 * if none of them is needed any more (measured: half of the processor time of lists).
 */
const spares: Buffer[] = []
const spareBytes = 1024 * 1024
/** Shorter texts are not worth one. */
const minSpareBytes = 16 * 1024
/** As many as are compressed at the same time: threads of libuv. */
const maxSpares = 4

/** Compresses what `make` writes into the buffer that it allocates. Its result is used no longer than until then. */
export async function deflateMade(make: (allocate: Allocate) => Uint8Array): Promise<Deflated> {
  let spare: Buffer | undefined
  const allocate = (length: number): Buffer => {
    if (length < minSpareBytes || length > spareBytes) return newBuffer(length)
    spare = spares.pop() ?? Buffer.allocUnsafeSlow(spareBytes)
    return spare.subarray(0, length)
  }
  try {
    return await deflate(make(allocate))
  } finally {
    if (spare !== undefined && spares.length < maxSpares) spares.push(spare)
  }
}

const head = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
/** An empty last block. */
const lastBlock = Buffer.from([0x03, 0x00])
/** Maximum size of an uncompressed block. */
const storedBytes = 0xffff

export class GzipJoin {
  #crc = 0
  #length = 0

  begin(): Buffer {
    return head
  }

  /** Returns the bytes to send for a compressed part. */
  deflated({ blocks, length, crc }: Deflated): Buffer {
    this.#count(crc, length)
    return blocks
  }

  /** Returns the bytes to send for a small part, uncompressed. */
  stored(bytes: Uint8Array): Buffer {
    this.#count(crc32(bytes), bytes.length)
    const blocks: Uint8Array[] = []
    for (let from = 0; from < bytes.length; from += storedBytes) {
      const part = bytes.subarray(from, from + storedBytes)
      const before = Buffer.alloc(5)
      before.writeUInt16LE(part.length, 1)
      before.writeUInt16LE(part.length ^ 0xffff, 3)
      blocks.push(before, part)
    }
    return Buffer.concat(blocks)
  }

  end(): Buffer {
    const sums = Buffer.alloc(8)
    sums.writeUInt32LE(this.#crc, 0)
    sums.writeUInt32LE(this.#length % 2 ** 32, 4)
    return Buffer.concat([lastBlock, sums])
  }

  #count(crc: number, length: number): void {
    this.#crc = combined(this.#crc, crc, length)
    this.#length += length
  }
}

/** The checksum of the concatenation of two texts, from their checksums; `length` is that of the second text. */
function combined(first: number, second: number, length: number): number {
  return (product(powerOfX(length * 8), first) ^ second) >>> 0
}

/** Polynomials over GF(2) with the highest coefficient in the lowest bit. */
const polynomial = 0xedb88320
const one = 0x80000000

/** The product modulo the CRC polynomial. */
function product(a: number, b: number): number {
  let sum = 0
  let shifted = b
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) sum ^= shifted
    shifted = (shifted & 1) !== 0 ? (shifted >>> 1) ^ polynomial : shifted >>> 1
  }
  return sum >>> 0
}

/** x^(2^n), by n. */
const squares: readonly number[] = Array.from({ length: 53 }).reduce<number[]>(
  (powers) => [...powers, powers.length === 0 ? one >>> 1 : product(powers.at(-1) ?? one, powers.at(-1) ?? one)],
  [],
)

function powerOfX(exponent: number): number {
  let power = one
  for (let rest = exponent, bit = 0; rest > 0; rest = Math.floor(rest / 2), bit++)
    if (rest % 2 === 1) power = product(squares[bit] ?? one, power)
  return power
}
