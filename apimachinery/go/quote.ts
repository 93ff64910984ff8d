// Quotes strings like Go in messages (%q). Source: strconv.Quote.

import { dictionary } from "../dictionary.ts"
import { byteOf, bytesOfText } from "./text.ts"

export const shortEscapes: Readonly<Record<string, string>> = dictionary({
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
})
/** All characters except letters, marks, numbers, punctuation, symbols and the plain space; plus those that must be escaped. */
const special = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|["\\]/gu

export function goQuote(text: string): string {
  return text.search(special) < 0 ? `"${text}"` : `"${escaped(text)}"`
}

/** A list of strings (%q). */
export function goQuoteList(texts: readonly string[]): string {
  return `[${texts.map(goQuote).join(" ")}]`
}

/** A text of a client may consist of millions of special characters: each is looked up once. */
function escaped(text: string): string {
  const escapes = new Map<string, string>()
  return text.replace(special, (character) => {
    let known = escapes.get(character)
    if (known === undefined) escapes.set(character, (known = escape(character)))
    return known
  })
}

function escape(character: string): string {
  const known = shortEscapes[character]
  if (known !== undefined) return known
  const code = character.codePointAt(0) ?? 0
  const hex = (digits: number): string => code.toString(16).padStart(digits, "0")
  if (code < 0x80) return `\\x${hex(2)}`
  const byte = byteOf(code)
  if (byte !== undefined) return `\\x${byte.toString(16)}`
  return code > 0xffff ? `\\U${hex(8)}` : `\\u${hex(4)}`
}

/** Go's package time has a shorter form: everything but ASCII is escaped byte by byte. Source: quote in time/format.go. */
export function timeQuote(text: string): string {
  const escapedBytes = (characters: string): string =>
    characters === '"' || characters === "\\"
      ? `\\${characters}`
      : bytesOfText(characters).toString("hex").replace(/../g, "\\x$&")
  return `"${text.replace(/["\\]|[^ -\x7f]+/gu, escapedBytes)}"`
}
