// What YAML's reader refuses before anything is parsed: bytes that are no UTF-8, and characters that may not be written. In the
// words of the parser that Kubernetes has. Source: go.yaml.in/yaml/v2 (readerc.go).

import { isUtf8 } from "node:buffer"

/** All but tab, line ends and what prints; U+FFFE and what is beyond it in the first plane are no characters. */
const notAllowed = /[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

/** Undefined: nothing is wrong with them. `text` is what the bytes say. */
export function characterFault(bytes: Uint8Array, text: string): string | undefined {
  if (!isUtf8(bytes)) return byteFault(bytes)
  return notAllowed.test(text) ? "control characters are not allowed" : undefined
}

function byteFault(bytes: Uint8Array): string {
  for (let at = 0; at < bytes.length;) {
    const width = utf8Width(bytes[at] ?? 0)
    if (width === 0) return "invalid leading UTF-8 octet"
    const character = bytes.subarray(at, at + width)
    if (character.length < width) return "incomplete UTF-8 octet sequence"
    if (!character.subarray(1).every(isTrailing)) return "invalid trailing UTF-8 octet"
    if (!isUtf8(character))
      return isOverlong(character) ? "invalid length of a UTF-8 sequence" : "invalid Unicode character"
    at += width
  }
  return "invalid Unicode character"
}

/** Of a character, by its first byte; 0: none begins so. */
export function utf8Width(byte: number): number {
  if (byte < 0x80) return 1
  if ((byte & 0xe0) === 0xc0) return 2
  if ((byte & 0xf0) === 0xe0) return 3
  return (byte & 0xf8) === 0xf0 ? 4 : 0
}

export const isTrailing = (byte: number): boolean => (byte & 0xc0) === 0x80

/** What fewer bytes could have said. */
function isOverlong([first = 0, second = 0, ...rest]: Uint8Array): boolean {
  if (rest.length === 0) return first < 0xc2
  return rest.length === 1 ? first === 0xe0 && second < 0xa0 : first === 0xf0 && second < 0x90
}
