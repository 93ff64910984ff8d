// A small POSIX shell's grammar: lists (; && || &-less), pipelines, if, while, until, for, redirections, quotes, variables
// and command substitution. What it does not know is a syntax error, not a guess.

export class SyntaxFault extends Error {}

/** A word before expansion: literal text, and what is to be expanded. `quoted`: not split at blanks. */
export type WordPart =
  | { type: "text"; text: string; quoted: boolean }
  | { type: "variable"; name: string; fallback: string | undefined; quoted: boolean }
  | { type: "command"; script: string; quoted: boolean }
  | { type: "arithmetic"; expression: string; quoted: boolean }

export type Word = readonly WordPart[]

export interface Redirection {
  descriptor: 0 | 1 | 2
  mode: "read" | "write" | "append" | "duplicate"
  target: Word
}

export type Node =
  | { type: "simple"; assignments: { name: string; value: Word }[]; words: Word[]; redirections: Redirection[] }
  | { type: "pipeline"; stages: Node[]; negated: boolean }
  | { type: "list"; items: { node: Node; operator: ";" | "&&" | "||" }[] }
  | { type: "if"; branches: { condition: Node; body: Node }[]; otherwise: Node | undefined }
  | { type: "loop"; until: boolean; condition: Node; body: Node }
  | { type: "for"; name: string; words: Word[]; body: Node }

type Token = { type: "operator"; text: string } | { type: "word"; word: Word; bare: string | undefined }

const maxScript = 64 * 1024
const operators = ["&&", "||", ";;", ">>", "2>&1", "1>&2", ">&2", "2>", "1>", ";", "|", ">", "<", "(", ")", "&", "\n"]

export function parse(script: string): Node {
  if (script.length > maxScript) throw new SyntaxFault(`script is longer than ${maxScript} characters`)
  const parser = new Parser(tokenize(script))
  const node = parser.list([])
  parser.expectEnd()
  return node
}

class Parser {
  readonly #tokens: Token[]
  #at = 0

  constructor(tokens: Token[]) {
    this.#tokens = tokens
  }

  expectEnd(): void {
    const token = this.#tokens[this.#at]
    if (token !== undefined) throw new SyntaxFault(`syntax error: unexpected "${show(token)}"`)
  }

  /** Until one of the reserved words (left for the caller) or the end. */
  list(until: readonly string[]): Node {
    const items: { node: Node; operator: ";" | "&&" | "||" }[] = []
    let operator: ";" | "&&" | "||" = ";"
    for (;;) {
      while (this.#operator(";", "\n")) operator = ";"
      if (this.#at >= this.#tokens.length || until.includes(this.#bare() ?? "")) return { type: "list", items }
      items.push({ node: this.#pipeline(), operator })
      if (this.#operator("&&")) operator = "&&"
      else if (this.#operator("||")) operator = "||"
      else if (this.#operator(";", "\n")) operator = ";"
      else if (this.#at < this.#tokens.length && !until.includes(this.#bare() ?? "")) this.expectEnd()
      while (operator !== ";" && this.#operator("\n"));
    }
  }

  #pipeline(): Node {
    const negated = this.#word("!")
    const stages = [this.#command()]
    while (this.#operator("|")) stages.push(this.#command())
    return stages.length === 1 && !negated && stages[0] !== undefined
      ? stages[0]
      : { type: "pipeline", stages, negated }
  }

  #command(): Node {
    switch (this.#bare()) {
      case "if":
        return this.#if()
      case "while":
      case "until": {
        const until = this.#bare() === "until"
        this.#at++
        const condition = this.list(["do"])
        return { type: "loop", until, condition, body: this.#body() }
      }
      case "for":
        return this.#for()
      case "{": {
        this.#at++
        const body = this.list(["}"])
        this.#expect("}")
        return body
      }
      default:
        return this.#simple()
    }
  }

  #if(): Node {
    const branches: { condition: Node; body: Node }[] = []
    let otherwise: Node | undefined
    do {
      this.#at++ // if, elif
      const condition = this.list(["then"])
      this.#expect("then")
      branches.push({ condition, body: this.list(["elif", "else", "fi"]) })
    } while (this.#bare() === "elif")
    if (this.#word("else")) otherwise = this.list(["fi"])
    this.#expect("fi")
    return { type: "if", branches, otherwise }
  }

  #for(): Node {
    this.#at++
    const name = this.#bare() ?? ""
    this.#at++
    const words: Word[] = []
    if (this.#word("in")) {
      for (let token = this.#tokens[this.#at]; token?.type === "word"; token = this.#tokens[++this.#at])
        words.push(token.word)
    }
    while (this.#operator(";", "\n"));
    return { type: "for", name, words, body: this.#body() }
  }

  #body(): Node {
    while (this.#operator(";", "\n"));
    this.#expect("do")
    const body = this.list(["done"])
    this.#expect("done")
    return body
  }

  #simple(): Node {
    const assignments: { name: string; value: Word }[] = []
    const words: Word[] = []
    const redirections: Redirection[] = []
    for (;;) {
      const token = this.#tokens[this.#at]
      if (token?.type === "word") {
        this.#at++
        const assignment = words.length === 0 ? asAssignment(token.word) : undefined
        if (assignment === undefined) words.push(token.word)
        else assignments.push(assignment)
        continue
      }
      const redirection = token === undefined ? undefined : this.#redirection(token.text)
      if (redirection === undefined) break
      redirections.push(redirection)
    }
    if (words.length === 0 && assignments.length === 0 && redirections.length === 0) {
      const token = this.#tokens[this.#at]
      throw new SyntaxFault(`syntax error: unexpected ${token === undefined ? "end of file" : `"${show(token)}"`}`)
    }
    return { type: "simple", assignments, words, redirections }
  }

  #redirection(text: string): Redirection | undefined {
    const literal = (digit: string): Word => [{ type: "text", text: digit, quoted: true }]
    if (text === "2>&1") return (this.#at++, { descriptor: 2, mode: "duplicate", target: literal("1") })
    if (text === "1>&2" || text === ">&2")
      return (this.#at++, { descriptor: 1, mode: "duplicate", target: literal("2") })
    const kinds: Record<string, Pick<Redirection, "descriptor" | "mode">> = {
      ">": { descriptor: 1, mode: "write" },
      "1>": { descriptor: 1, mode: "write" },
      "2>": { descriptor: 2, mode: "write" },
      ">>": { descriptor: 1, mode: "append" },
      "<": { descriptor: 0, mode: "read" },
    }
    const kind = kinds[text]
    if (kind === undefined) return undefined
    const target = this.#tokens[++this.#at]
    if (target?.type !== "word") throw new SyntaxFault(`syntax error: "${text}" needs a file`)
    this.#at++
    return { ...kind, target: target.word }
  }

  #bare(): string | undefined {
    const token = this.#tokens[this.#at]
    return token?.type === "word" ? token.bare : undefined
  }

  #word(text: string): boolean {
    if (this.#bare() !== text) return false
    this.#at++
    return true
  }

  #expect(text: string): void {
    if (!this.#word(text)) throw new SyntaxFault(`syntax error: expected "${text}"`)
  }

  #operator(...texts: string[]): boolean {
    const token = this.#tokens[this.#at]
    if (token?.type !== "operator" || !texts.includes(token.text)) return false
    this.#at++
    return true
  }
}

function show(token: Token): string {
  return token.type === "operator" ? token.text.replace("\n", "newline") : (token.bare ?? "word")
}

function asAssignment(word: Word): { name: string; value: Word } | undefined {
  const first = word[0]
  if (first?.type !== "text" || first.quoted) return undefined
  const match = /^([A-Za-z_]\w*)=/.exec(first.text)
  if (match === null) return undefined
  return { name: match[1] ?? "", value: [{ ...first, text: first.text.slice(match[0].length) }, ...word.slice(1)] }
}

function tokenize(script: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < script.length) {
    const character = script[at] ?? ""
    if (character === " " || character === "\t") at++
    else if (character === "#") while (at < script.length && script[at] !== "\n") at++
    else if (character === "\\" && script[at + 1] === "\n") at += 2
    else {
      const operator = operators.find((text) => script.startsWith(text, at))
      if (operator === "&" || operator === "(" || operator === ")" || operator === ";;") {
        throw new SyntaxFault(`syntax error: "${operator}" is not supported`)
      }
      if (operator !== undefined) {
        tokens.push({ type: "operator", text: operator })
        at += operator.length
      } else {
        const { word, end } = readWord(script, at)
        const only = word.length === 1 ? word[0] : undefined
        tokens.push({ type: "word", word, bare: only?.type === "text" && !only.quoted ? only.text : undefined })
        at = end
      }
    }
  }
  return tokens
}

function readWord(script: string, start: number): { word: Word; end: number } {
  const parts: WordPart[] = []
  let text = ""
  let at = start
  const flush = () => {
    if (text !== "") parts.push({ type: "text", text, quoted: false })
    text = ""
  }
  while (at < script.length) {
    const character = script[at] ?? ""
    if (/[\s;|<>&()]/.test(character)) break
    if (character === "'") {
      const end = script.indexOf("'", at + 1)
      if (end < 0) throw new SyntaxFault("syntax error: unterminated quoted string")
      flush()
      parts.push({ type: "text", text: script.slice(at + 1, end), quoted: true })
      at = end + 1
    } else if (character === '"') {
      flush()
      at = readDoubleQuoted(script, at + 1, parts)
    } else if (character === "\\") {
      flush()
      parts.push({ type: "text", text: script[at + 1] ?? "", quoted: true })
      at += 2
    } else if (character === "$" || character === "`") {
      const expansion = readExpansion(script, at, false)
      flush()
      parts.push(expansion.part)
      at = expansion.end
    } else {
      text += character
      at++
    }
  }
  flush()
  return { word: parts, end: at }
}

function readDoubleQuoted(script: string, start: number, parts: WordPart[]): number {
  let text = ""
  let at = start
  for (; at < script.length && script[at] !== '"';) {
    const character = script[at] ?? ""
    if (character === "\\" && /["\\$`\n]/.test(script[at + 1] ?? "")) {
      if (script[at + 1] !== "\n") text += script[at + 1]
      at += 2
    } else if (character === "$" || character === "`") {
      parts.push({ type: "text", text, quoted: true })
      text = ""
      const { part, end } = readExpansion(script, at, true)
      parts.push(part)
      at = end
    } else {
      text += character
      at++
    }
  }
  if (at >= script.length) throw new SyntaxFault("syntax error: unterminated quoted string")
  parts.push({ type: "text", text, quoted: true })
  return at + 1
}

function readExpansion(script: string, at: number, quoted: boolean): { part: WordPart; end: number } {
  if (script[at] === "`") {
    const end = script.indexOf("`", at + 1)
    if (end < 0) throw new SyntaxFault("syntax error: unterminated command substitution")
    return { part: { type: "command", script: script.slice(at + 1, end), quoted }, end: end + 1 }
  }
  if (script.startsWith("$((", at)) {
    const end = script.indexOf("))", at)
    if (end < 0) throw new SyntaxFault("syntax error: unterminated arithmetic")
    return { part: { type: "arithmetic", expression: script.slice(at + 3, end), quoted }, end: end + 2 }
  }
  if (script[at + 1] === "(") {
    const end = closing(script, at + 1)
    return { part: { type: "command", script: script.slice(at + 2, end), quoted }, end: end + 1 }
  }
  const braced = /^\$\{([A-Za-z_]\w*|[?#$!0-9])(?::?-([^}]*))?\}/.exec(script.slice(at))
  if (braced !== null) {
    return {
      part: { type: "variable", name: braced[1] ?? "", fallback: braced[2], quoted },
      end: at + braced[0].length,
    }
  }
  const plain = /^\$([A-Za-z_]\w*|[?#$!0-9])/.exec(script.slice(at, at + 256))
  if (plain !== null) {
    return { part: { type: "variable", name: plain[1] ?? "", fallback: undefined, quoted }, end: at + plain[0].length }
  }
  if (script[at + 1] === "{") throw new SyntaxFault("syntax error: this parameter expansion is not supported")
  return { part: { type: "text", text: "$", quoted }, end: at + 1 }
}

function closing(script: string, open: number): number {
  let depth = 0
  for (let at = open; at < script.length; at++) {
    if (script[at] === "(") depth++
    else if (script[at] === ")" && --depth === 0) return at
  }
  throw new SyntaxFault("syntax error: unterminated command substitution")
}
