// JSON that says something else, or nothing, as YAML: escapes that only JSON has (a slash, and halves of a character); characters that only
// JSON allows or takes as they are; keys that are not on the line of their colon, or too long.

import { isAscii } from "node:buffer"

// In UTF-8, of which each byte is a character here. Searched for one after the other, since most texts have none of the bytes that the
// first three need.
const jsonEscapes = /(?<!\\)(?:\\\\)*\\(?:\/|u[dD][89a-fA-F])/
// eslint-disable-next-line no-control-regex
const jsonCharacters = /\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef(?:\xbb\xbf|\xbf[\xbe\xbf])/
const keysBeforeBreaks = /"[ \t]*[\r\n]\s*:/

/** Bytes of a key. YAML allows 1,024 characters with quotes and escapes. */
const longKey = 1000
const quote = 0x22
const colon = 0x3a

/** May also be true of a text that is the same as YAML. */
export function isOtherInYaml({ buffer, byteOffset, length }: Uint8Array): boolean {
  const bytes = Buffer.from(buffer, byteOffset, length)
  const has = (character: string): boolean => bytes.includes(character, 0, "latin1")
  const matches = (pattern: RegExp): boolean => pattern.test(bytes.toString("latin1"))
  return (
    (has("\\") && matches(jsonEscapes)) ||
    ((!isAscii(bytes) || has("\x7f")) && matches(jsonCharacters)) ||
    ((has("\n") || has("\r")) && matches(keysBeforeBreaks)) ||
    hasLongKey(bytes)
  )
}

/** Looks only at places before which there is no quote for half of the length. */
function hasLongKey(bytes: Buffer): boolean {
  const stride = longKey / 2
  for (let at = stride; at < bytes.length; at += stride) {
    const start = bytes.lastIndexOf(quote, at)
    if (at - start < stride) continue
    const end = bytes.indexOf(quote, at + 1)
    if (end < 0) return false
    if (end - start > longKey && isBeforeColon(bytes, end + 1)) return true
    at = end
  }
  return false
}

function isBeforeColon(bytes: Buffer, at: number): boolean {
  const isBlank = (byte = 0): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
  let next = at
  while (isBlank(bytes[next])) next++
  return bytes[next] === colon
}
