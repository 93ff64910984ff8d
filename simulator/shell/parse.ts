// The grammar of a small POSIX shell: lists (; && ||, without &), pipelines, if, while, until, for, redirections, quotes,
// variables and command substitution. Anything else is a syntax error.

import { dictionary } from "../../apimachinery/dictionary.ts"
import { SyntaxFault, tokenize, type Token, type Word } from "./tokens.ts"

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

const maxScript = 64 * 1024

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

  /** Parses up to one of the reserved words (left for the caller) or the end. */
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
    const kinds: Readonly<Record<string, Pick<Redirection, "descriptor" | "mode">>> = dictionary({
      ">": { descriptor: 1, mode: "write" },
      "1>": { descriptor: 1, mode: "write" },
      "2>": { descriptor: 2, mode: "write" },
      ">>": { descriptor: 1, mode: "append" },
      "<": { descriptor: 0, mode: "read" },
    })
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
