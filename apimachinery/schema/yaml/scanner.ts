// Scans a YAML text into tokens on demand. Changes of the indentation produce tokens; a key without a question mark is detected
// at its colon, and its token is inserted before the tokens scanned since. Source: go.yaml.in/yaml/v2 (scannerc.go).

import { isFlowIndicator, scanBlock, scanPlain, scanQuoted } from "./scalars.ts"
import { scanAnchor, scanDirective, scanTag } from "./tags.ts"
import { code, isBlank, isBlankOrEnd, isBreak, YamlText } from "./text.ts"
import type { Mark, Token } from "./tokens.ts"

/** A token that may turn out to begin a key. */
interface PossibleKey {
  /** Number of its first token, counted from the beginning of the text. */
  number: number
  at: number
  line: number
  column: number
  isPossible: boolean
  /** No other token is valid at this position. */
  isRequired: boolean
}

/** Maximum length of a key without a question mark. */
const longestKey = 1024
const maxNesting = 10_000

export class Scanner {
  readonly #text: YamlText
  /** Tokens that were scanned and not taken. */
  #tokens: Token[] = []
  #head = 0
  #taken = 0
  /** Indentation of the current block collection; -1 outside of all. */
  #indent = -1
  readonly #indents: number[] = []
  /** One per flow collection, and one for the outside. */
  readonly #keys: PossibleKey[]
  /** Tokens that must not be taken before it is known whether they begin keys. */
  readonly #awaited = new Map<number, PossibleKey>()
  #mayBeKey = true

  constructor(text: string) {
    this.#text = new YamlText(text)
    this.#keys = [this.#keyHere(false, false)]
  }

  /** Returns the next token without taking it. */
  peek(): Token {
    while (this.#head === this.#tokens.length || this.#isPossibleKey()) this.#scanNext()
    return this.#tokens[this.#head] as Token
  }

  take(): Token {
    const token = this.peek()
    this.#head++
    this.#taken++
    if (this.#head === this.#tokens.length) {
      this.#tokens = []
      this.#head = 0
    }
    return token
  }

  get #inFlow(): boolean {
    return this.#keys.length > 1
  }

  #isPossibleKey(): boolean {
    const key = this.#awaited.get(this.#taken)
    return key !== undefined && this.#isStillPossible(key)
  }

  #isStillPossible(key: PossibleKey): boolean {
    if (!key.isPossible) return false
    const { line, at } = this.#text
    if (key.line >= line && key.at + longestKey >= at) return true
    if (key.isRequired) throw this.#text.fault("could not find expected ':'")
    key.isPossible = false
    return false
  }

  #keyHere(isPossible: boolean, isRequired: boolean): PossibleKey {
    const { at, line, column } = this.#text
    return { number: this.#next, at, line, column, isPossible, isRequired }
  }

  get #key(): PossibleKey {
    return this.#keys.at(-1) as PossibleKey
  }

  #saveKey(): void {
    if (!this.#mayBeKey) return
    const key = this.#keyHere(true, !this.#inFlow && this.#indent === this.#text.column)
    this.#dropKey()
    this.#keys[this.#keys.length - 1] = key
    this.#awaited.set(key.number, key)
  }

  #dropKey(): void {
    if (!this.#key.isPossible) return
    if (this.#key.isRequired) throw this.#text.fault("could not find expected ':'")
    this.#endKey()
  }

  #endKey(): void {
    this.#key.isPossible = false
    this.#awaited.delete(this.#key.number)
  }

  /** Number of the token that is scanned next. */
  get #next(): number {
    return this.#taken + this.#tokens.length - this.#head
  }

  #add(token: Token): void {
    this.#tokens.push(token)
  }

  /** A token cannot be inserted before tokens that were already taken. */
  #insert(number: number, token: Token): void {
    if (number < this.#taken) this.#add(token)
    else this.#tokens.splice(this.#head + number - this.#taken, 0, token)
  }

  /** Starts a block collection if the column is indented further. */
  #roll(column: number, number: number, token: Token): void {
    if (this.#inFlow || this.#indent >= column) return
    this.#indents.push(this.#indent)
    this.#indent = column
    if (this.#indents.length > maxNesting) throw this.#text.fault(`exceeded max depth of ${maxNesting}`)
    this.#insert(number, token)
  }

  #unroll(column: number): void {
    if (this.#inFlow) return
    for (; this.#indent > column; this.#indent = this.#indents.pop() ?? -1)
      this.#add({ is: "block end", line: this.#text.line })
  }

  #scanNext(): void {
    const text = this.#text
    this.#skipToToken()
    this.#unroll(text.column)
    const char = text.peek()
    if (char === 0) return this.#end()
    if (text.column === 0 && char === code.percent) return this.#directive()
    if (text.isIndicator("---")) return this.#document("document start")
    if (text.isIndicator("...")) return this.#document("document end")
    if (isFlowIndicator(char)) return this.#flow(char)
    const next = text.peek(1)
    if (char === code.dash && isBlankOrEnd(next)) return this.#entry()
    if (char === code.question && (this.#inFlow || isBlankOrEnd(next))) return this.#explicitKey()
    if (char === code.colon && (this.#inFlow || isBlankOrEnd(next))) return this.#value()
    return this.#node(char)
  }

  #skipToToken(): void {
    const text = this.#text
    for (;;) {
      const mayTab = this.#inFlow || !this.#mayBeKey
      text.skipWhile((char) => char === code.space || (mayTab && char === code.tab))
      text.skipComment()
      if (!isBreak(text.peek())) return
      text.skipLine()
      if (!this.#inFlow) this.#mayBeKey = true
    }
  }

  #end(): void {
    const text = this.#text
    if (text.column !== 0) text.startLine()
    this.#unroll(-1)
    this.#dropKey()
    this.#mayBeKey = false
    this.#add({ is: "end", line: text.line })
  }

  #directive(): void {
    this.#unroll(-1)
    this.#dropKey()
    this.#mayBeKey = false
    const { line } = this.#text
    this.#add({ is: "directive", directive: scanDirective(this.#text), line })
  }

  #document(is: "document start" | "document end"): void {
    this.#unroll(-1)
    this.#dropKey()
    this.#mayBeKey = false
    this.#add({ is, line: this.#text.line })
    this.#text.skip(3)
  }

  #flow(char: number): void {
    const is = String.fromCharCode(char) as Mark
    const opens = char === code.openList || char === code.openMap
    if (opens) {
      this.#saveKey()
      this.#keys.push(this.#keyHere(false, false))
      if (this.#keys.length - 1 > maxNesting) throw this.#text.fault(`exceeded max depth of ${maxNesting}`)
    } else {
      this.#dropKey()
      if (char !== code.comma && this.#inFlow) this.#leaveFlow()
    }
    this.#mayBeKey = opens || char === code.comma
    this.#mark(is)
  }

  /** Upstream stops waiting for an empty collection that may be a key, because both have the same number. */
  #leaveFlow(): void {
    this.#awaited.delete(this.#key.number)
    this.#keys.pop()
  }

  #mark(is: Mark): void {
    this.#add({ is, line: this.#text.line })
    this.#text.skip()
  }

  #entry(): void {
    this.#begin("block list", "block sequence entries")
    this.#dropKey()
    this.#mayBeKey = true
    this.#mark("-")
  }

  #explicitKey(): void {
    this.#begin("block map", "mapping keys")
    this.#dropKey()
    this.#mayBeKey = !this.#inFlow
    this.#mark("?")
  }

  #value(): void {
    if (this.#isStillPossible(this.#key)) {
      const { number, column, line } = this.#key
      this.#insert(number, { is: "?", line })
      this.#roll(column, number, { is: "block map", line })
      this.#endKey()
      this.#mayBeKey = false
    } else {
      this.#begin("block map", "mapping values")
      this.#mayBeKey = !this.#inFlow
    }
    this.#mark(":")
  }

  /** Starts a block collection if one is allowed here. */
  #begin(is: "block list" | "block map", what: string): void {
    if (this.#inFlow) return
    const text = this.#text
    if (!this.#mayBeKey) throw text.fault(`${what} are not allowed in this context`)
    this.#roll(text.column, this.#next, { is, line: text.line })
  }

  #node(char: number): void {
    const text = this.#text
    const { line } = text
    const is = String.fromCharCode(char)
    if ((is === "|" || is === ">") && !this.#inFlow) {
      this.#dropKey()
      this.#mayBeKey = true
      this.#add({ is: "scalar", value: scanBlock(text, is === "|", this.#indent), isPlain: false, line })
      return
    }
    if (!"*&!'\"".includes(is) && !this.#beginsPlain(char))
      throw text.fault("found character that cannot start any token")
    this.#saveKey()
    this.#mayBeKey = false
    if (is === "*" || is === "&") this.#add({ is: is === "*" ? "alias" : "anchor", name: scanAnchor(text), line })
    else if (is === "!") this.#add({ is: "tag", tag: scanTag(text), line })
    else if (is === "'" || is === '"') this.#add({ is: "scalar", value: scanQuoted(text, char), isPlain: false, line })
    else {
      const { value, multiline } = scanPlain(text, this.#indent + 1, this.#inFlow)
      if (multiline) this.#mayBeKey = true
      this.#add({ is: "scalar", value, isPlain: true, line })
    }
  }

  #beginsPlain(char: number): boolean {
    const next = this.#text.peek(1)
    if (char === code.dash) return !isBlank(next)
    if (char === code.question || char === code.colon) return !this.#inFlow && !isBlankOrEnd(next)
    return !isBlank(char) && !"#|>%@`".includes(String.fromCharCode(char))
  }
}
