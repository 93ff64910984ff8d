// Parses quoted strings like Go, with either kind of quotes. Source: strconv.UnquoteChar.

import { shortEscapes } from "../../../apimachinery/go/quote.ts"

const short = new Map(Object.entries(shortEscapes).map(([char, escape]) => [escape, char]))
const escapes = /\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-7]{3}|[^])|["'\\]/g

/** Returns undefined for an invalid string. */
export function unquoteGo(text: string): string | undefined {
  const quote = text.charAt(0)
  const inside = text.slice(1, -1)
  let isValid = text.length >= 2 && text.endsWith(quote)
  const value = inside.replace(escapes, (found) => {
    const char = found.length === 1 && found !== quote ? found : charOf(found, quote)
    isValid &&= char !== undefined
    return char ?? ""
  })
  return isValid ? value : undefined
}

function charOf(escape: string, quote: string): string | undefined {
  if (escape === `\\${quote}`) return quote
  if (escape === '\\"' || escape === "\\'") return undefined
  const known = short.get(escape)
  if (known !== undefined) return known
  if (!/^\\[xuU0-7]./.test(escape)) return undefined
  const code = /^\\[0-7]/.test(escape) ? Number.parseInt(escape.slice(1), 8) : Number.parseInt(escape.slice(2), 16)
  return code > 0x10ffff ? undefined : String.fromCodePoint(code)
}
