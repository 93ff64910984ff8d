// The part of ASN.1 DER (ITU-T X.690) that X.509 certificates need: values are built as buffers, inside out, and parsed by walking
// over the tags. Every new tenant needs two certificates, which a general ASN.1 library creates twenty times slower.

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

function encode(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  let size = 0
  for (const content of contents) size += content.length
  const sizeBytes = size < 0x80 ? 0 : size < 0x100 ? 1 : size < 0x1_0000 ? 2 : 3
  const bytes = Buffer.allocUnsafe(2 + sizeBytes + size)
  bytes[0] = tag
  bytes[1] = sizeBytes === 0 ? size : 0x80 | sizeBytes
  if (sizeBytes > 0) bytes.writeUIntBE(size, 2, sizeBytes)
  let at = 2 + sizeBytes
  for (const content of contents) {
    bytes.set(content, at)
    at += content.length
  }
  return bytes
}

export const der = {
  sequence: (...items: readonly Uint8Array[]) => encode(tags.sequence, ...items),
  set: (...items: readonly Uint8Array[]) => encode(tags.set, ...items),
  true: encode(tags.boolean, Buffer.from([0xff])),
  /** Unsigned, big endian: a leading zero is added if the first bit would be read as a sign. */
  integer(bytes: Uint8Array): Buffer {
    const negative = ((bytes[0] ?? 0) & 0x80) !== 0
    return encode(tags.integer, negative ? Buffer.concat([Buffer.from([0]), bytes]) : bytes)
  },
  /** `unused`: number of unused bits at the end of the last byte. */
  bitString: (bytes: Uint8Array, unused = 0) => encode(tags.bitString, Buffer.from([unused]), bytes),
  octetString: (bytes: Uint8Array) => encode(tags.octetString, bytes),
  utf8: (text: string) => encode(tags.utf8String, Buffer.from(text)),
  /** "2.5.29.15" */
  oid(text: string): Buffer {
    const [first = 0, second = 0, ...rest] = text.split(".").map(Number)
    const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
      const digits = [arc & 0x7f]
      for (let left = arc >>> 7; left > 0; left >>>= 7) digits.unshift(0x80 | (left & 0x7f))
      return digits
    })
    return encode(tags.objectIdentifier, Buffer.from(bytes))
  },
  /** RFC 5280 §4.1.2.5: years before 2050 have two digits. */
  time(date: Date): Buffer {
    const digits = date.toISOString().replace(/[-:T]|\.\d+/g, "")
    return date.getUTCFullYear() < 2050
      ? encode(tags.utcTime, Buffer.from(digits.slice(2)))
      : encode(tags.generalizedTime, Buffer.from(digits))
  },
  /** [n], around a value (explicit). */
  explicit: (number: number, content: Uint8Array) => encode(0xa0 | number, content),
  /** [n], instead of the tag of a primitive value (implicit). */
  implicit: (number: number, content: Uint8Array) => encode(0x80 | number, content),
}

export interface Element {
  tag: number
  /** Including tag and length. */
  whole: Buffer
  content: Buffer
}

/** Parses the elements in the content of a constructed value. Throws if a length exceeds the content. */
export function readElements(bytes: Buffer): Element[] {
  const elements: Element[] = []
  for (let at = 0; at < bytes.length;) {
    const element = readElement(bytes, at)
    elements.push(element)
    at += element.whole.length
  }
  return elements
}

/** Parses the element that begins there, whatever follows it. */
export function readElement(bytes: Buffer, at = 0): Element {
  const tag = bytes.readUInt8(at)
  const first = bytes.readUInt8(at + 1)
  const long = first < 0x80 ? 0 : first & 0x7f
  const size = long === 0 ? first : bytes.readUIntBE(at + 2, long)
  const start = at + 2 + long
  if (start + size > bytes.length) throw new RangeError("a DER element is longer than what holds it")
  return { tag, whole: bytes.subarray(at, start + size), content: bytes.subarray(start, start + size) }
}

export const childrenOf = (element: Element | undefined): Element[] =>
  element === undefined ? [] : readElements(element.content)
