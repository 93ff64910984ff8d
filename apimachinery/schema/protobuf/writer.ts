// The writer of encode.ts: a buffer that is filled from its end towards its beginning. The length of a message is therefore known
// when its length prefix is written, and every byte is written once, without a separate pass that measures.

/** The initial buffer suffices for most objects; it is doubled when full. */
const firstBytes = 16 * 1024
/** Up to this length, writing a text character by character is faster than calling the engine. */
const shortText = 48

export class ReverseWriter {
  #buffer = Buffer.allocUnsafeSlow(firstBytes)
  /** Everything from here to the end has been written. */
  #at = firstBytes

  /** Number of bytes written so far: the length of a message is the difference of two such values. */
  get written(): number {
    return this.#buffer.length - this.#at
  }

  /** Size of the buffer in bytes: grows with the largest message. */
  get capacity(): number {
    return this.#buffer.length
  }

  /** Returns a copy of everything written, and empties the writer for reuse. */
  take(): Buffer {
    const bytes = Buffer.from(this.#buffer.subarray(this.#at))
    this.#at = this.#buffer.length
    return bytes
  }

  /** Discards the output of a failed call. */
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

  /** An integer; a negative one takes ten bytes, in 64-bit two's complement. */
  varint(value: number | bigint): void {
    if (this.#at < 10) this.#grow(10)
    if (typeof value === "bigint") {
      this.bytes(varint64(value))
      return
    }
    if (value >= 0 && value < 0x80) {
      this.#buffer[--this.#at] = value
      return
    }
    if (value < 0) {
      this.bytes(varint64(BigInt(value)))
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

  /** UTF-8 without a length. */
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

/** In 64-bit two's complement. */
export function varint64(value: bigint): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  bytes.push(Number(rest))
  return Uint8Array.from(bytes)
}
