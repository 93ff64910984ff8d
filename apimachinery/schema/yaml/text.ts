// The input of the scanner: the current position, and errors with their lines. Source: go.yaml.in/yaml/v2 (readerc.go,
// yamlprivateh.go, and decode.go's fail).

/** Has upstream's message, including "yaml: " if that begins with it. */
export class YamlFault extends Error {}

/** Code points of characters with a meaning in YAML. */
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

/** 0 marks the end: it is not allowed in texts. */
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
/** For names: letters, digits, "_" and "-". */
export const isNameCharacter = (char: number): boolean =>
  isDigit(char) || ((char | 0x20) >= 0x61 && (char | 0x20) <= 0x7a) || char === 0x5f || char === code.dash
export const isHex = (char: number): boolean => isDigit(char) || ((char | 0x20) >= 0x61 && (char | 0x20) <= 0x66)

export class YamlText {
  readonly text: string
  at = 0
  /** Counted from 0. */
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

  /** Called at a break. Returns what it represents in a scalar. */
  skipLine(): string {
    const char = this.peek()
    this.at += char === code.return && this.peek(1) === code.newline ? 2 : 1
    this.startLine()
    return char === lineSeparator || char === paragraphSeparator ? String.fromCharCode(char) : "\n"
  }

  /** Also called for the end of the text, which counts as a separate line. */
  startLine(): void {
    this.line++
    this.#lineStart = this.at
  }

  /** "---" or "..." at the beginning of a line and followed by a blank. */
  isIndicator(text: string): boolean {
    return this.column === 0 && this.text.startsWith(text, this.at) && isBlankOrEnd(this.peek(text.length))
  }

  /** Errors of the scanner contain their line, except on the first line. */
  fault(words: string): YamlFault {
    return lineFault(words, this.line === 0 ? 0 : this.line + 1)
  }
}

/** Line 0 is not printed. */
export function lineFault(words: string, line: number): YamlFault {
  return new YamlFault(`yaml: ${line === 0 ? "" : `line ${line}: `}${words}`)
}
