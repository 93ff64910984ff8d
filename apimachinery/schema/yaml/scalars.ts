// Scans scalars: plain, quoted, and block scalars. Line breaks within them are folded. Source: go.yaml.in/yaml/v2 (scannerc.go).

import { code, isBlank, isBlankOrEnd, isBreak, isBreakOrEnd, isDigit, isHex, type YamlText } from "./text.ts"

/** White space between the parts of a scalar. */
interface Gap {
  blanks: string
  /** The break at the end of the first line; "" if there is none. */
  first: string
  more: string
}

/** One break becomes a space, several become one less. */
function folded({ blanks, first, more }: Gap): string {
  if (first === "") return blanks
  return first === "\n" ? more || " " : first + more
}

/** `checkTab` throws for a tab in the indentation. */
function scanGap(text: YamlText, begun: boolean, checkTab?: () => void): Gap {
  const gap: Gap = { blanks: "", first: "", more: "" }
  let inLines = begun
  for (let char = text.peek(); isBlank(char) || isBreak(char); char = text.peek()) {
    if (isBlank(char)) {
      if (inLines) checkTab?.()
      else gap.blanks += String.fromCharCode(char)
      text.skip()
    } else if (inLines) gap.more += text.skipLine()
    else {
      gap.first = text.skipLine()
      inLines = true
    }
  }
  return gap
}

/** `multiline`: it ends at the end of a line, so that a key may follow. */
export function scanPlain(text: YamlText, indent: number, inFlow: boolean): { value: string; multiline: boolean } {
  let value = ""
  let gap: Gap | undefined
  const checkTab = (): void => {
    if (text.column < indent && text.peek() === code.tab)
      throw text.fault("found a tab character that violates indentation")
  }
  for (;;) {
    if (text.isIndicator("---") || text.isIndicator("...") || text.peek() === code.hash) break
    const start = text.at
    while (!endsPlain(text, inFlow)) text.skip()
    if (text.at > start) {
      value += (gap === undefined ? "" : folded(gap)) + text.text.slice(start, text.at)
      gap = undefined
    }
    if (!isBlank(text.peek()) && !isBreak(text.peek())) break
    gap = scanGap(text, false, checkTab)
    if (!inFlow && text.column < indent) break
  }
  return { value, multiline: gap !== undefined && gap.first !== "" }
}

function endsPlain(text: YamlText, inFlow: boolean): boolean {
  const char = text.peek()
  if (isBlankOrEnd(char)) return true
  if (char === code.colon) return isBlankOrEnd(text.peek(1))
  return inFlow && (char === code.question || isFlowIndicator(char))
}

export const isFlowIndicator = (char: number): boolean =>
  char === code.comma ||
  char === code.openList ||
  char === code.closeList ||
  char === code.openMap ||
  char === code.closeMap

export function scanQuoted(text: YamlText, quote: number): string {
  let value = ""
  text.skip()
  for (;;) {
    if (text.isIndicator("---") || text.isIndicator("...")) throw text.fault("found unexpected document indicator")
    if (text.peek() === 0) throw text.fault("found unexpected end of stream")
    const { part, isContinued } = quote === code.quote ? singleQuoted(text) : doubleQuoted(text)
    value += part
    if (text.peek() === quote) break
    const gap = scanGap(text, isContinued)
    value += isContinued ? gap.more : folded(gap)
  }
  text.skip()
  return value
}

interface Part {
  part: string
  /** The end of its line is escaped. */
  isContinued: boolean
}

function singleQuoted(text: YamlText): Part {
  let part = ""
  for (;;) {
    part += text.skipWhile((char) => char !== code.quote && !isBlankOrEnd(char))
    if (text.peek() !== code.quote || text.peek(1) !== code.quote) return { part, isContinued: false }
    part += "'"
    text.skip(2)
  }
}

function doubleQuoted(text: YamlText): Part {
  let part = ""
  for (;;) {
    part += text.skipWhile((char) => char !== code.doubleQuote && char !== code.backslash && !isBlankOrEnd(char))
    if (text.peek() !== code.backslash) return { part, isContinued: false }
    if (isBreak(text.peek(1))) {
      text.skip()
      text.skipLine()
      return { part, isContinued: true }
    }
    part += scanEscape(text)
  }
}

const escapes = new Map(
  Object.entries({
    "0": "\0",
    a: "\u0007",
    b: "\b",
    t: "\t",
    "\t": "\t",
    n: "\n",
    v: "\v",
    f: "\f",
    r: "\r",
    e: "\u001b",
    " ": " ",
    '"': '"',
    "'": "'",
    "\\": "\\",
    N: "\u0085",
    _: "\u00a0",
    L: "\u2028",
    P: "\u2029",
  }),
)
const hexDigits = new Map(Object.entries({ x: 2, u: 4, U: 8 }))

function scanEscape(text: YamlText): string {
  const char = text.text[text.at + 1] ?? ""
  const simple = escapes.get(char)
  const digits = hexDigits.get(char)
  if (simple === undefined && digits === undefined) throw text.fault("found unknown escape character")
  text.skip(2)
  if (digits === undefined) return simple ?? ""
  // The message has upstream's spelling.
  for (let index = 0; index < digits; index++)
    if (!isHex(text.peek(index))) throw text.fault("did not find expected hexdecimal number")
  const value = Number.parseInt(text.text.slice(text.at, text.at + digits), 16)
  if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff)
    throw text.fault("found invalid Unicode character escape code")
  text.skip(digits)
  return String.fromCodePoint(value)
}

interface BlockHeader {
  chomping: "clip" | "keep" | "strip"
  /** 0: determined by the first line. */
  increment: number
}

/** `outer`: indentation of the parent; -1 if there is none. */
export function scanBlock(text: YamlText, isLiteral: boolean, outer: number): string {
  text.skip()
  const { chomping, increment } = scanHeader(text)
  const given = increment === 0 ? 0 : Math.max(outer, 0) + increment
  let { indent, breaks } = scanBreaks(text, given, outer)
  let value = ""
  let lineEnd = ""
  let beganBlank = false
  while (text.column === indent && text.peek() !== 0) {
    const beginsBlank = isBlank(text.peek())
    const folds = !isLiteral && !beganBlank && !beginsBlank && lineEnd === "\n"
    value += (folds ? (breaks === "" ? " " : "") : lineEnd) + breaks
    beganBlank = beginsBlank
    value += text.skipWhile((char) => !isBreak(char))
    // The end of the text also ends the last line, without a break.
    lineEnd = text.peek() === 0 ? "" : text.skipLine()
    ;({ indent, breaks } = scanBreaks(text, indent, outer))
  }
  return value + (chomping === "strip" ? "" : lineEnd) + (chomping === "keep" ? breaks : "")
}

function scanHeader(text: YamlText): BlockHeader {
  let chomping = scanChomping(text)
  let increment = 0
  if (isDigit(text.peek())) {
    increment = text.peek() - code.zero
    if (increment === 0) throw text.fault("found an indentation indicator equal to 0")
    text.skip()
    chomping ??= scanChomping(text)
  }
  text.skipWhile(isBlank)
  text.skipComment()
  if (!isBreakOrEnd(text.peek())) throw text.fault("did not find expected comment or line break")
  if (isBreak(text.peek())) text.skipLine()
  return { chomping: chomping ?? "clip", increment }
}

function scanChomping(text: YamlText): BlockHeader["chomping"] | undefined {
  const char = text.peek()
  if (char !== code.plus && char !== code.dash) return undefined
  text.skip()
  return char === code.plus ? "keep" : "strip"
}

/** Skips empty lines, and determines the indentation of the first line that is not empty. */
function scanBreaks(text: YamlText, given: number, outer: number): { indent: number; breaks: string } {
  let breaks = ""
  let widest = 0
  for (;;) {
    while ((given === 0 || text.column < given) && text.peek() === code.space) text.skip()
    widest = Math.max(widest, text.column)
    if ((given === 0 || text.column < given) && text.peek() === code.tab)
      throw text.fault("found a tab character where an indentation space is expected")
    if (!isBreak(text.peek())) break
    breaks += text.skipLine()
  }
  return { indent: given === 0 ? Math.max(widest, outer + 1, 1) : given, breaks }
}
