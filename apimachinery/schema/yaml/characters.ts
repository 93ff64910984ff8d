// Decodes the bytes of a YAML text: UTF-8, or UTF-16 with a byte order mark. Rejects what upstream's reader rejects before
// parsing: invalid encodings, and characters that are not allowed. Messages are those of Kubernetes' parser. Source:
// go.yaml.in/yaml/v2 (readerc.go).

import { isUtf8 } from "node:buffer"

/** All except tab, line breaks and printable characters; U+FFFE and above in the first plane are not characters. */
const notAllowed = /[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

const control = "control characters are not allowed"

interface Characters {
  text: string
  /** The error, if there is one. */
  fault?: string
}

/** A byte order mark at the beginning is not part of the text. */
const decoder = new TextDecoder("utf-8")

export function readCharacters(bytes: Uint8Array): Characters {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return readUnits(Buffer.from(bytes.subarray(2)))
  if (first === 0xfe && second === 0xff) return readUnits(swapped(bytes.subarray(2)))
  const text = decoder.decode(bytes)
  if (!isUtf8(bytes)) return { text, fault: byteFault(bytes) }
  return notAllowed.test(text) ? { text, fault: control } : { text }
}

function swapped(bytes: Uint8Array): Buffer {
  const even = bytes.length - (bytes.length % 2)
  return Buffer.concat([Buffer.from(bytes.subarray(0, even)).swap16(), bytes.subarray(even)])
}

/** UTF-16, little-endian. */
function readUnits(bytes: Buffer): Characters {
  const text = bytes.toString("utf16le")
  const found = notAllowed.exec(text)
  if (found !== null) return { text, fault: unitFault(text, found.index, bytes.length) }
  return bytes.length % 2 === 0 ? { text } : { text, fault: "incomplete UTF-16 character" }
}

const isHighSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xd800
const isLowSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xdc00

function unitFault(text: string, at: number, bytes: number): string {
  const unit = text.charCodeAt(at)
  if (isLowSurrogate(unit)) return "unexpected low surrogate area"
  if (!isHighSurrogate(unit)) return control
  return bytes < 2 * at + 4 ? "incomplete UTF-16 surrogate pair" : "expected low surrogate area"
}

/** The first error in bytes that are not valid UTF-8. */
function byteFault(bytes: Uint8Array): string {
  let at = 0
  let fault: string | undefined
  while (fault === undefined && at < bytes.length) {
    const width = utf8Width(bytes[at] ?? 0)
    fault = octetFault(bytes.subarray(at, at + width), width)
    if (fault === undefined) at += width
  }
  return notAllowed.test(decoder.decode(bytes.subarray(0, at))) ? control : (fault ?? "invalid Unicode character")
}

function octetFault(character: Uint8Array, width: number): string | undefined {
  if (width === 0) return "invalid leading UTF-8 octet"
  if (character.length < width) return "incomplete UTF-8 octet sequence"
  if (!character.subarray(1).every(isTrailing)) return "invalid trailing UTF-8 octet"
  if (isUtf8(character)) return undefined
  return isOverlong(character) ? "invalid length of a UTF-8 sequence" : "invalid Unicode character"
}

/** The length of a character by its first byte; 0 if none begins like this. */
export function utf8Width(byte: number): number {
  if (byte < 0x80) return 1
  if ((byte & 0xe0) === 0xc0) return 2
  if ((byte & 0xf0) === 0xe0) return 3
  return (byte & 0xf8) === 0xf0 ? 4 : 0
}

export const isTrailing = (byte: number): boolean => (byte & 0xc0) === 0x80

/** Whether fewer bytes could represent the character. */
function isOverlong([first = 0, second = 0, ...rest]: Uint8Array): boolean {
  if (rest.length === 0) return first < 0xc2
  return rest.length === 1 ? first === 0xe0 && second < 0xa0 : first === 0xf0 && second < 0x90
}
