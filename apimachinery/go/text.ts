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

/** The byte that a code point represents; undefined for a character. */
export function byteOf(code: number): number | undefined {
  return code >= offset + 0x80 && code <= offset + 0xff ? code - offset : undefined
}

/** A path as Go writes it. Source: net/url (escape, encodePath). */
export function escapePath(path: string): string {
  return path.replaceAll(/[^\w\-.~$&+,/:;=@]/gu, (character) => {
    const byte = byteOf(character.codePointAt(0) ?? 0)
    const bytes = byte === undefined ? Buffer.from(character) : Buffer.of(byte)
    return bytes.toString("hex").toUpperCase().replaceAll(/../g, "%$&")
  })
}
