// Go's strings are bytes that need not be UTF-8. In strings from clients (in paths) that are only compared and printed, a byte that
// is not part of a character is represented by half of a surrogate pair, which valid UTF-8 cannot contain: U+DC80 for 0x80 to
// U+DCFF for 0xff.

import { isUtf8 } from "node:buffer"

const offset = 0xdc00

/** Never throws: invalid bytes are kept one by one. */
export function textOfBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString()
  let text = ""
  for (let at = 0; at < bytes.length;) {
    const character = bytes.subarray(at, at + lengthOf(bytes[at] ?? 0))
    const isCharacter = isUtf8(character)
    text += isCharacter ? character.toString() : String.fromCharCode(offset + (bytes[at] ?? 0))
    at += isCharacter ? character.length : 1
  }
  return text
}

/** The length of the character that begins with this byte. */
function lengthOf(byte: number): number {
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
}

/** The bytes of such a string. */
export function bytesOfText(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text)
  const parts = Array.from(text, (character) => {
    const byte = byteOf(character.codePointAt(0) ?? 0)
    return byte === undefined ? Buffer.from(character) : Buffer.of(byte)
  })
  return Buffer.concat(parts)
}

/** The byte that a code point represents; undefined for a character. */
export function byteOf(code: number): number | undefined {
  return code >= offset + 0x80 && code <= offset + 0xff ? code - offset : undefined
}

/** Such a byte as JSON.stringify writes it, or another escape, whose backslash may stand before the letters of one. */
const escapesInJson = /\\(?:udc[89a-f][\da-f]|.)/g

/** JSON as Go writes it, which replaces each such byte. */
export function withoutBytes(json: string): string {
  return json.replace(escapesInJson, (escape) => (escape.startsWith("\\udc") ? "\\ufffd" : escape))
}

/** What Go does not escape in a path, besides letters and digits. Source: net/url (shouldEscape, encodePath). */
export const pathMarks = "-_.~$&+,/:;=@"

/** A path as Go writes it. */
export const escapePath = (path: string): string => percentEncoded(path, pathMarks)

/** Letters, digits and the marks stay what they are. Source: net/url (escape). */
export function percentEncoded(text: string, marks: string): string {
  return text.replaceAll(/[^A-Za-z0-9]/gu, (character) => {
    if (marks.includes(character)) return character
    return bytesOfText(character).toString("hex").toUpperCase().replaceAll(/../g, "%$&")
  })
}

/** `text`: bytes as Latin-1, whose escapes must be valid. */
export function percentDecoded(text: string): Buffer {
  const decoded = text.replaceAll(/%(..)/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
  return Buffer.from(decoded, "latin1")
}
