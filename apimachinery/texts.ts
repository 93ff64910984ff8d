// Parts of texts that clients may make as long as a body: in time that grows with their length, which regular expressions do not promise.

/** As Go's strings.TrimRight: without the characters of `cutset` at the end. */
export function trimRight(text: string, cutset: string): string {
  let end = text.length
  while (end > 0 && cutset.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** As Go's strings.Trim: without the characters of `cutset` at both ends. */
export function trim(text: string, cutset: string): string {
  let start = 0
  while (start < text.length && cutset.includes(text.charAt(start))) start++
  return trimRight(text.slice(start), cutset)
}

/** What is between the first `start` and the last `end`; undefined: there is no such place. */
export function between(text: string, start: string, end: string): string | undefined {
  const from = text.indexOf(start) + start.length
  const to = text.lastIndexOf(end)
  return from < start.length || to < from ? undefined : text.slice(from, to)
}

/** What comes after all of `parts`, each found after the one before it; the text itself where one is missing. */
export function after(text: string, parts: readonly string[]): string {
  let at = 0
  for (const part of parts) {
    const found = text.indexOf(part, at)
    if (found < 0) return text
    at = found + part.length
  }
  return text.slice(at)
}
