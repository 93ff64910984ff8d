// Texts of Go are bytes, which need not be UTF-8. Where one comes from a client (in a path) and is only compared and printed, a
// byte that is part of no character is kept as half of a surrogate pair, which no character of UTF-8 is: U+DC80 for 0x80 to
// U+DCFF for 0xff.

import { isUtf8 } from "node:buffer"

const offset = 0xdc00

/** Never throws: what is no UTF-8 stays as it is, byte by byte. */
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

/** Of the character that begins with this byte. */
function lengthOf(byte: number): number {
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
}

/** Which byte a code point stands for; undefined: it is a character. */
export function byteOf(code: number): number | undefined {
  return code >= offset + 0x80 && code <= offset + 0xff ? code - offset : undefined
}
