// What waits in a stream because nobody takes it. Node limits its bytes, to 64 KiB, but not its pieces: 65,536 of one byte hold 13 MiB.

import { Readable, type Writable } from "node:stream"
import { GatheredBytes, isSmall } from "./gathered-bytes.ts"

type Push = (piece: unknown, encoding?: BufferEncoding) => boolean

/**
 * Small pieces that come while others still wait to be taken are copied together from now on. The stream is to be read by "data" events, an
 * iterator, or read() of all that is there. `push`: that of the stream, which this one comes before.
 */
export function gatherSmallPieces(stream: Readable, push: Push = stream.push.bind(stream)): void {
  const read = stream.read.bind(stream)
  /** They come behind those that wait, of which there is one at least. */
  const gathered = new GatheredBytes()
  const pushGathered = (): void => {
    if (gathered.length > 0) push(gathered.take())
  }
  Object.assign(stream, {
    push(piece: unknown, encoding?: BufferEncoding): boolean {
      if (!isSmall(piece) || stream.readableLength === 0) {
        pushGathered()
        return push(piece, encoding)
      }
      gathered.add(piece)
      return stream.readableLength + gathered.length < stream.readableHighWaterMark
    },
    read(size?: number): unknown {
      // Of nothing, it only makes Node read ahead.
      if (size === 0) return read(size)
      if (!stream.destroyed) pushGathered()
      const piece: unknown = read(size)
      // What a destroyed stream has is still read, but it accepts nothing more.
      return piece === null && stream.destroyed && gathered.length > 0 ? gathered.take() : piece
    },
  } satisfies Partial<Readable>)
}

/**
 * The `push` of a stream that is read at once as a rule: begins to gather when a small piece has to wait. Bodies of requests and answers
 * wait in one, in tens of thousands of pieces if whoever sends them likes.
 */
export function pushOrGather(this: Readable, piece: unknown, encoding?: BufferEncoding): boolean {
  if (this.readableLength === 0 || !isSmall(piece)) return Readable.prototype.push.call(this, piece, encoding)
  gatherSmallPieces(this, Readable.prototype.push.bind(this)) // in place of this method
  return this.push(piece, encoding)
}

/** Beyond, small pieces are written together without waiting longer. */
const maxGatheredBytes = 16 * 1024

/** Small pieces that are written or piped to it while others are not taken yet are copied together from now on. */
export function gatherSmallWrites(stream: Writable): void {
  const write = stream.write.bind(stream) as (piece: unknown, ...rest: readonly unknown[]) => boolean
  const end = stream.end.bind(stream) as (...given: readonly unknown[]) => Writable
  const gathered = new GatheredBytes()
  let untaken = 0
  const taken = (): void => {
    if (--untaken === 0) writeGathered()
  }
  const writeCounted = (piece: unknown): boolean => {
    untaken++
    return write(piece, taken)
  }
  const writeGathered = (): boolean => {
    if (gathered.length === 0) return true
    const piece = gathered.take()
    return !stream.writable || writeCounted(piece)
  }
  Object.assign(stream, {
    write(piece: unknown, ...rest: readonly unknown[]): boolean {
      if (untaken > 0 && rest.length === 0 && isSmall(piece)) {
        gathered.add(piece)
        return gathered.length < maxGatheredBytes || writeGathered()
      }
      writeGathered()
      return rest.length === 0 ? writeCounted(piece) : write(piece, ...rest)
    },
    end(...given: readonly unknown[]): Writable {
      writeGathered()
      return end(...given)
    },
  })
}
