// Where encode.ts writes: a buffer that fills from its end towards its beginning. So the length of a message is known
// when its length prefix is due, and every byte is written once, without a first walk that only measures.

/** A first buffer holds most objects; a larger one doubles it. */
const firstBytes = 16 * 1024
/** Up to this length a text is written character by character, which is faster than asking the engine. */
const shortText = 48

export class ReverseWriter {
  #buffer = Buffer.allocUnsafeSlow(firstBytes)
  /** Everything from here to the end is written. */
  #at = firstBytes

  /** Bytes written so far: a message's length is the difference of two of these. */
  get written(): number {
    return this.#buffer.length - this.#at
  }

  /** Bytes held: grows with the largest message. */
  get capacity(): number {
    return this.#buffer.length
  }

  /** A copy of all that is written; the writer is empty then and can be used again. */
  take(): Buffer {
    const bytes = Buffer.from(this.#buffer.subarray(this.#at))
    this.#at = this.#buffer.length
    return bytes
  }

  /** Gives up what was written by somebody who failed. */
  reset(): void {
    this.#at = this.#buffer.length
  }

  byte(value: number): void {
    if (this.#at === 0) this.#grow(1)
    this.#buffer[--this.#at] = value
  }

  bytes(value: Uint8Array): void {
    if (this.#at < value.length) this.#grow(value.length)
    this.#at -= value.length
    this.#buffer.set(value, this.#at)
  }

  /** A whole number; a negative one takes ten bytes, as two's complement of 64 bits. */
  varint(value: number | bigint): void {
    if (this.#at < 10) this.#grow(10)
    if (typeof value === "bigint") {
      this.#bigVarint(BigInt.asUintN(64, value))
      return
    }
    if (value >= 0 && value < 0x80) {
      this.#buffer[--this.#at] = value
      return
    }
    if (value < 0) {
      this.#bigVarint(BigInt.asUintN(64, BigInt(value)))
      return
    }
    let length = 1
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++
    let at = (this.#at -= length)
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#buffer[at++] = (rest % 0x80) | 0x80
    this.#buffer[at] = rest
  }

  double(value: number): void {
    if (this.#at < 8) this.#grow(8)
    this.#at -= 8
    this.#buffer.writeDoubleLE(value, this.#at)
  }

  /** UTF-8, without a length. */
  text(value: string): void {
    const { length } = value
    if (length <= shortText) {
      if (this.#at < length) this.#grow(length)
      let at = this.#at
      let index = length
      while (index > 0) {
        const code = value.charCodeAt(--index)
        if (code >= 0x80) {
          this.#longText(value)
          return
        }
        this.#buffer[--at] = code
      }
      this.#at = at
    } else this.#longText(value)
  }

  #longText(value: string): void {
    const bytes = Buffer.byteLength(value)
    if (this.#at < bytes) this.#grow(bytes)
    this.#at -= bytes
    this.#buffer.write(value, this.#at, bytes, "utf8")
  }

  #bigVarint(value: bigint): void {
    const bytes: number[] = []
    let rest = value
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
    bytes.push(Number(rest))
    this.bytes(Uint8Array.from(bytes))
  }

  #grow(need: number): void {
    const { written } = this
    let size = this.#buffer.length * 2
    while (size < written + need) size *= 2
    const larger = Buffer.allocUnsafeSlow(size)
    this.#buffer.copy(larger, size - written, this.#at)
    this.#buffer = larger
    this.#at = size - written
  }
}
