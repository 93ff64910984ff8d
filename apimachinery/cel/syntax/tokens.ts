// A stream of tokens, with the error handling and messages of cel-go's generated parser: an extraneous token is skipped, a
// missing one is assumed, and anything else ends the parsing.

import type { Issue } from "./issues.ts"
import { type Token, visible } from "./scanner.ts"

/** Ends the parsing; the issue has already been recorded. */
export class ParsingStopped extends Error {}

/** In the order of the grammar's token numbers, in which sets of expected tokens are printed. */
const order = [
  "'['",
  "']'",
  "'{'",
  "'}'",
  "'('",
  "')'",
  "'.'",
  "','",
  "'-'",
  "'!'",
  "'?'",
  "':'",
  "'true'",
  "'false'",
  "'null'",
  "NUM_FLOAT",
  "NUM_INT",
  "NUM_UINT",
  "STRING",
  "BYTES",
  "IDENTIFIER",
  "ESC_IDENTIFIER",
]
/** Stands for the end of the text. */
const end = "<EOF>"
/** What may follow an operand anywhere. */
const infix = new Set(["==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&&", "||", "?", ".", "[", "in"])
const expressionStarts = new Set([
  "'['",
  "'{'",
  "'('",
  "'.'",
  "'-'",
  "'!'",
  "'true'",
  "'false'",
  "'null'",
  "NUM_FLOAT",
  "NUM_INT",
  "NUM_UINT",
  "STRING",
  "BYTES",
  "IDENTIFIER",
])

export class TokenStream {
  readonly #tokens: readonly Token[]
  readonly #issues: Issue[]
  readonly #source: string
  #next = 0
  /** Nothing is told between an error that was recovered from and the next token that fits. */
  #isRecovering = false
  /** Of the innermost brackets or condition: what may stand behind an operand, besides operators. */
  #ends: readonly string[] = [end]
  /** Of all brackets and conditions. */
  #outerEnds: readonly string[] = []

  constructor(tokens: readonly Token[], issues: Issue[], source: string) {
    this.#tokens = tokens
    this.#issues = issues
    this.#source = source
  }

  /** The next token, or a later one. */
  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)] as Token
  }

  take(): Token {
    const token = this.peek()
    if (token.kind !== "end") this.#next++
    this.#isRecovering = false
    return token
  }

  is(operator: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token.kind === "operator" && token.text === operator
  }

  isNumber(ahead: number): boolean {
    const { kind } = this.peek(ahead)
    return kind === "int" || kind === "double"
  }

  /** Whether the token may follow a minus sign. */
  mayBeNegated(ahead: number): boolean {
    return startsExpression(this.peek(ahead)) && !this.is("!", ahead)
  }

  /** `ends`: what may end an expression in there. */
  within<T>(ends: readonly string[], parse: () => T): T {
    const [inner, outer] = [this.#ends, this.#outerEnds]
    this.#ends = ends
    this.#outerEnds = [...outer, ...ends]
    const result = parse()
    this.#ends = inner
    this.#outerEnds = outer
    return result
  }

  /** Whether nothing is missing between an operand and this token. */
  #mayFollow(token: Token): boolean {
    if (token.kind === "end") return this.#ends.includes(end)
    if (token.kind === "identifier") return token.text === "in"
    return token.kind === "operator" && (infix.has(token.text) || this.#ends.includes(token.text))
  }

  takeIf(operator: string): Token | undefined {
    return this.is(operator) ? this.take() : undefined
  }

  issue(at: number, message: string): void {
    this.#issues.push({ at, message })
  }

  syntax(at: number, message: string): void {
    if (!this.#isRecovering) this.issue(at, `Syntax error: ${message}`)
  }

  /** Takes a closing token, or the colon before an expression. It is assumed if the next token fits what follows it. */
  expect(operator: ")" | "]" | "}" | ":"): Token {
    if (this.is(operator)) return this.take()
    const found = this.peek()
    if (this.is(operator, 1)) {
      this.syntax(found.at, `extraneous input ${named(found)} expecting '${operator}'`)
      this.take()
      return this.take()
    }
    if (operator === ":" ? startsExpression(found) : this.#mayFollow(found)) {
      this.syntax(found.at, `missing '${operator}' at ${named(found)}`)
      return found
    }
    return this.stop(`mismatched input ${named(found)} expecting '${operator}'`)
  }

  expectEnd(): void {
    const found = this.peek()
    if (found.kind === "end") return
    const what = this.peek(1).kind === "end" ? "extraneous" : "mismatched"
    this.stop(`${what} input ${named(found)} expecting <EOF>`)
  }

  /**
   * Called before an expression: skips one extraneous token. False if the expression is missing before what may follow it. `also`:
   * other allowed tokens.
   */
  beforeExpression(also: readonly string[] = []): boolean {
    const found = this.peek()
    if (startsExpression(found)) return true
    const expected = setOf([...expressionStarts, ...also])
    if (startsExpression(this.peek(1))) {
      this.syntax(found.at, `extraneous input ${named(found)} expecting ${expected}`)
      this.take()
      return true
    }
    const message = `mismatched input ${named(found)} expecting ${expected}`
    const isEnd = found.kind === "operator" && this.#outerEnds.includes(found.text)
    if (found.kind === "end" || !(isEnd || this.#mayFollow(found))) this.stop(message)
    this.recover(found.at, message)
    return false
  }

  /** Called after a sign: skips everything up to an operand, or to what may follow one. False if there is none. */
  afterSign(): boolean {
    const found = this.peek()
    if (startsExpression(found)) return true
    this.recover(found.at, `extraneous input ${named(found)} expecting ${setOf([...expressionStarts])}`)
    while (!startsExpression(this.peek()) && this.peek().kind !== "end" && !this.#mayFollow(this.peek())) this.#next++
    return startsExpression(this.peek())
  }

  /** The parsing goes on with the next token. */
  recover(at: number, message: string): void {
    this.syntax(at, message)
    this.#isRecovering = true
  }

  /** Called where an expression or the end of a call is allowed: skips one extraneous token before the end. */
  skipsTo(close: ")"): boolean {
    const found = this.peek()
    if (startsExpression(found) || !this.is(close, 1)) return false
    this.syntax(found.at, `extraneous input ${named(found)} expecting ${setOf([...expressionStarts, `'${close}'`])}`)
    this.take()
    this.take()
    return true
  }

  /** a.b.C if a brace follows; takes the tokens up to the brace. */
  takeMessageName(first: string): string | undefined {
    let ahead = 0
    let name = first
    while (this.is(".", ahead) && isName(this.peek(ahead + 1))) {
      name += `.${this.peek(ahead + 1).text}`
      ahead += 2
    }
    if (!this.is("{", ahead)) return undefined
    for (let count = 0; count < ahead; count++) this.take()
    return name
  }

  /** Items separated by commas; a trailing comma is allowed. `starts`: what an item may begin with. */
  takeItems(close: "]" | "}", starts: "expression" | "field", item: () => void): void {
    let isFirst = true
    while (!this.is(close)) {
      if (isFirst) this.#skipBeforeItems(close, starts)
      if (isFirst && this.is(close)) break
      if (this.takeIf(",") !== undefined) {
        if (isFirst || !this.#startsItem(this.peek(), starts)) break
      } else if (!isFirst) {
        const expected = [`'${close}'`, "','"]
        if (!this.is(close, 1) && !this.is(",", 1)) this.mismatch(expected)
        this.syntax(this.peek().at, `extraneous input ${named(this.peek())} expecting ${setOf(expected)}`)
        this.take()
        // The items have ended, and so has a trailing comma.
        this.takeIf(",")
        break
      }
      item()
      isFirst = false
    }
    this.expect(close)
  }

  /** Skips one extraneous token. */
  #skipBeforeItems(close: "]" | "}", starts: "expression" | "field"): void {
    const found = this.peek()
    const fits = (token: Token): boolean =>
      this.#startsItem(token, starts) || (token.kind === "operator" && [close, ","].includes(token.text))
    if (fits(found)) return
    const firsts = starts === "field" ? ["IDENTIFIER", "ESC_IDENTIFIER"] : [...expressionStarts]
    const expected = [`'${close}'`, "','", "'?'", ...firsts]
    if (!fits(this.peek(1))) this.mismatch(expected)
    this.syntax(found.at, `extraneous input ${named(found)} expecting ${setOf(expected)}`)
    this.take()
  }

  #startsItem(token: Token, starts: "expression" | "field"): boolean {
    if (token.kind === "operator" && token.text === "?") return true
    return starts === "field" ? isName(token) || token.kind === "escaped" : startsExpression(token)
  }

  /** A token, by default the next one, fits no rule that begins with `first`: the message contains the text from there. */
  noAlternative(first: Token, found = this.peek()): string {
    const start = first.at + first.text.length
    const skipped = new Set(this.#issues.map(({ at }) => at))
    const between = Array.from(this.#source)
      .slice(start, found.at)
      .filter((_, index) => !skipped.has(start + index))
      .join("")
    const seen = first.text + between + (found.kind === "end" ? "" : found.text)
    return `no viable alternative at input '${visible(seen)}'`
  }

  /** The next token is none of those expected. */
  mismatch(expected: readonly string[]): never {
    return this.stop(`mismatched input ${named(this.peek())} expecting ${setOf(expected)}`)
  }

  stop(message: string): never {
    this.syntax(this.peek().at, message)
    throw new ParsingStopped()
  }
}

export function named(token: Token): string {
  return `'${visible(token.text)}'`
}

/** true, false and null are keywords. */
export function isName(token: Token): boolean {
  return token.kind === "identifier" && !["true", "false", "null"].includes(token.text)
}

function startsExpression(token: Token): boolean {
  return token.kind === "operator"
    ? expressionStarts.has(`'${token.text}'`)
    : token.kind !== "end" && token.kind !== "escaped"
}

function setOf(expected: readonly string[]): string {
  const sorted = order.filter((one) => expected.includes(one))
  return sorted.length === 1 ? (sorted[0] ?? "") : `{${sorted.join(", ")}}`
}
