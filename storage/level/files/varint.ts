// LevelDB's variable-length integers: seven bits per byte, the lowest first. All of its numbers here are safe integers.

export class VarintReader {
  readonly #data: Buffer
  position: number

  constructor(data: Buffer, position = 0) {
    this.#data = data
    this.position = position
  }

  get atEnd(): boolean {
    return this.position >= this.#data.length
  }

  /** Throws RangeError if there is none. */
  integer(): number {
    let value = 0
    for (let factor = 1; factor <= 2 ** 49; factor *= 128) {
      const byte = this.#data[this.position++]
      if (byte === undefined) break
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
    throw new RangeError("no integer")
  }

  /** Throws RangeError if they are not there. */
  bytes(length: number): Buffer {
    const end = this.position + length
    if (end > this.#data.length) throw new RangeError(`no ${length} bytes`)
    const bytes = this.#data.subarray(this.position, end)
    this.position = end
    return bytes
  }

  /** Bytes behind their number. */
  text(): Buffer {
    return this.bytes(this.integer())
  }
}
