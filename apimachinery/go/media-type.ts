// Media types as Go reads them. Source: mime.ParseMediaType. Pure.

/** Characters of a token. Source: RFC 2045, section 5.1. */
const token = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y
/** A backslash is only an escape before a character that needs one. */
const quotedText = /"(?:[^"\\\r\n]|\\[()<>@,;:\\"/[\]?=]|\\(?![()<>@,;:\\"/[\]?=]))*"/y
const space = /\s*/y

/** `type`: in lower case, without parameters. `fault`: Go's error. */
type ParsedMediaType = { type: string; fault?: never } | { type?: never; fault: string }

export function parseMediaType(text: string): ParsedMediaType {
  const end = text.indexOf(";")
  const type = (end < 0 ? text : text.slice(0, end)).trim().toLowerCase()
  const fault = faultOfType(type) ?? (end < 0 ? undefined : faultOfParameters(text, end))
  return fault === undefined ? { type } : { fault: `mime: ${fault}` }
}

function faultOfType(type: string): string | undefined {
  const main = match(token, type, 0)
  if (main === "") return "no media type"
  if (main === type) return undefined
  if (type[main.length] !== "/") return "expected slash after first token"
  const sub = match(token, type, main.length + 1)
  if (sub === "") return "expected token after slash"
  return main.length + 1 + sub.length === type.length ? undefined : "unexpected content after media subtype"
}

function faultOfParameters(text: string, start: number): string | undefined {
  const values = new Map<string, string>()
  let at = start
  while ((at = afterSpace(text, at)) < text.length) {
    const parameter = parameterAt(text, at)
    // A trailing semicolon is allowed.
    if (parameter === undefined) return text.slice(at).trim() === ";" ? undefined : "invalid media parameter"
    const { name, value, end } = parameter
    if ((values.get(name) ?? value) !== value) return "duplicate parameter name"
    values.set(name, value)
    at = end
  }
  return undefined
}

function parameterAt(text: string, start: number): { name: string; value: string; end: number } | undefined {
  if (text[start] !== ";") return undefined
  const nameAt = afterSpace(text, start + 1)
  const name = match(token, text, nameAt)
  const equalsAt = afterSpace(text, nameAt + name.length)
  if (name === "" || text[equalsAt] !== "=") return undefined
  const valueAt = afterSpace(text, equalsAt + 1)
  const written = match(text[valueAt] === '"' ? quotedText : token, text, valueAt)
  if (written === "") return undefined
  const value = written.startsWith('"') ? written.slice(1, -1).replaceAll(/\\([()<>@,;:\\"/[\]?=])/g, "$1") : written
  return { name: name.toLowerCase(), value, end: valueAt + written.length }
}

const afterSpace = (text: string, at: number): number => at + match(space, text, at).length

/** What matches at this place, or nothing. */
function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ""
}
