// String functions for client input of any length up to that of a body, in linear time, which regular expressions do not guarantee.

/** Go's strings.TrimRight: removes trailing characters of `cutset`. */
export function trimRight(text: string, cutset: string): string {
  let end = text.length
  while (end > 0 && cutset.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** Go's strings.Trim: removes leading and trailing characters of `cutset`. */
export function trim(text: string, cutset: string): string {
  let start = 0
  while (start < text.length && cutset.includes(text.charAt(start))) start++
  return trimRight(text.slice(start), cutset)
}

/** White space according to Go: U+0085 is, U+FEFF is not, unlike in JavaScript. Source: unicode.IsSpace. */
const goSpaces =
  "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"

/** Go's strings.TrimSpace. */
export function trimSpace(text: string): string {
  return trim(text, goSpaces)
}

const spaces = new RegExp(`[${goSpaces}]+`)

/** Go's strings.Fields: the parts between white space. */
export function fieldsOf(text: string): string[] {
  return text.split(spaces).filter((part) => part !== "")
}

/** The text between the first `start` and the last `end`; undefined if there is none. */
export function between(text: string, start: string, end: string): string | undefined {
  const from = text.indexOf(start) + start.length
  const to = text.lastIndexOf(end)
  return from < start.length || to < from ? undefined : text.slice(from, to)
}

/** The text after all `parts`, each found after the previous one; the whole text if one is missing. */
export function after(text: string, parts: readonly string[]): string {
  let at = 0
  for (const part of parts) {
    const found = text.indexOf(part, at)
    if (found < 0) return text
    at = found + part.length
  }
  return text.slice(at)
}

/** The first characters, as a copy: a part of a string that V8 made by slicing retains the whole string. */
export function beginningOf(text: string, characters: number): string {
  if (text.length <= characters) return text
  return Buffer.from(text.slice(0, characters), "utf16le").toString("utf16le")
}

/** Go's strings.ToLower: every character by itself becomes one character, wherever it is. */
export function toLower(text: string): string {
  return Array.from(text, (char) => (char === "İ" ? "i" : char.toLowerCase())).join("")
}
