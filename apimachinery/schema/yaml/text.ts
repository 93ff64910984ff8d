// A YAML text being read: where its scanner is, what stands there, and faults with their lines. Source: go.yaml.in/yaml/v2
// (readerc.go, yamlprivateh.go, and decode.go's fail).

/** In upstream's words, with "yaml: " where they begin so. */
export class YamlFault extends Error {}

/** Code points of characters that say something. */
export const code = {
  tab: 0x09,
  newline: 0x0a,
  return: 0x0d,
  space: 0x20,
  doubleQuote: 0x22,
  hash: 0x23,
  percent: 0x25,
  quote: 0x27,
  plus: 0x2b,
  comma: 0x2c,
  dash: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  colon: 0x3a,
  question: 0x3f,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  openMap: 0x7b,
  closeMap: 0x7d,
} as const

/** 0 is the end: no text has it in itself. */
const nextLine = 0x85
const lineSeparator = 0x2028
const paragraphSeparator = 0x2029

export const isBlank = (char: number): boolean => char === code.space || char === code.tab
export const isBreak = (char: number): boolean =>
  char === code.newline ||
  char === code.return ||
  char === nextLine ||
  char === lineSeparator ||
  char === paragraphSeparator
export const isBreakOrEnd = (char: number): boolean => char === 0 || isBreak(char)
export const isBlankOrEnd = (char: number): boolean => isBlank(char) || isBreakOrEnd(char)
export const isDigit = (char: number): boolean => char >= code.zero && char <= 0x39
/** Of names: letters, digits, "_" and "-". */
export const isNameCharacter = (char: number): boolean =>
  isDigit(char) || ((char | 0x20) >= 0x61 && (char | 0x20) <= 0x7a) || char === 0x5f || char === code.dash
export const isHex = (char: number): boolean => isDigit(char) || ((char | 0x20) >= 0x61 && (char | 0x20) <= 0x66)

export class YamlText {
  readonly text: string
  at = 0
  /** From 0. */
  line = 0
  #lineStart = 0

  constructor(text: string) {
    this.text = text
  }

  get column(): number {
    return this.at - this.#lineStart
  }

  peek(ahead = 0): number {
    const at = this.at + ahead
    return at < this.text.length ? this.text.charCodeAt(at) : 0
  }

  skip(count = 1): void {
    this.at += count
  }

  skipWhile(isOne: (char: number) => boolean): string {
    const start = this.at
    while (this.at < this.text.length && isOne(this.text.charCodeAt(this.at))) this.at++
    return this.text.slice(start, this.at)
  }

  skipComment(): void {
    if (this.peek() === code.hash) this.skipWhile((char) => !isBreak(char))
  }

  /** At a break. What it stands for in a scalar. */
  skipLine(): string {
    const char = this.peek()
    this.at += char === code.return && this.peek(1) === code.newline ? 2 : 1
    this.startLine()
    return char === lineSeparator || char === paragraphSeparator ? String.fromCharCode(char) : "\n"
  }

  /** The end of the text is on a line of its own. */
  startLine(): void {
    this.line++
    this.#lineStart = this.at
  }

  /** "---" or "...", alone in its place. */
  isIndicator(text: string): boolean {
    return this.column === 0 && this.text.startsWith(text, this.at) && isBlankOrEnd(this.peek(text.length))
  }

  /** What the scanner finds is told with its line, but for the first, of which the line of `context` is told. */
  fault(words: string): YamlFault {
    return lineFault(words, this.line === 0 ? 0 : this.line + 1)
  }
}

/** 0: it is not said. */
export function lineFault(words: string, line: number): YamlFault {
  return new YamlFault(`yaml: ${line === 0 ? "" : `line ${line}: `}${words}`)
}
