// Parses the syntax of Go's regular expressions (RE2's) into a tree, with Go's error messages. Matching: patterns.ts.

import { dictionary } from "../../dictionary.ts"
import { complement, lastCodePoint } from "./re2-classes.ts"
import { fail, PatternReader } from "./re2-reader.ts"
import { readBracket, readClass, readEscaped } from "./re2-sets.ts"
import type { Assertion, Node } from "./re2-tree.ts"

/** RE2's limit for counted repetitions, including nested ones. */
const maxRepeat = 1000
/** Maximum nesting of groups. */
const maxNesting = 200
/** Characters that are looked at to recognize what follows "(?", which contains the name of a group. */
const groupLookahead = 1024

interface Flags {
  foldCase: boolean
  multiline: boolean
  dotAll: boolean
}

export function parsePattern(pattern: string): Node {
  return new Parser(pattern).whole()
}

class Parser {
  readonly #reader: PatternReader
  #nesting = 0
  #flags: Flags = { foldCase: false, multiline: false, dotAll: false }

  constructor(pattern: string) {
    this.#reader = new PatternReader(pattern)
  }

  whole(): Node {
    const node = this.#alternation()
    if (this.#reader.at < this.#reader.text.length) fail("unexpected )", this.#reader.text.join(""))
    return node
  }

  #alternation(): Node {
    const nodes = [this.#concatenation()]
    while (this.#reader.text[this.#reader.at] === "|") {
      this.#reader.countPart()
      this.#reader.at++
      nodes.push(this.#concatenation())
    }
    return nodes.length === 1 ? (nodes[0] as Node) : { kind: "alternate", nodes }
  }

  #concatenation(): Node {
    const nodes: Node[] = []
    for (;;) {
      const next = this.#reader.text[this.#reader.at]
      if (next === undefined || next === "|" || next === ")") return { kind: "concat", nodes }
      const start = this.#reader.at
      const node = this.#atom(next)
      if (node !== undefined) nodes.push(this.#repetitions(node, start))
    }
  }

  #repetitions(node: Node, start: number): Node {
    let repeated = node
    let before: number | undefined
    for (;;) {
      const from = this.#reader.at
      const count = this.#repetition()
      if (count === undefined) return repeated
      if (before !== undefined)
        fail("invalid nested repetition operator", this.#reader.text.slice(before, this.#reader.at).join(""))
      before = from
      const whole = this.#reader.text.slice(from, this.#reader.at).join("")
      if (count[0] > maxRepeat || (count[1] !== Infinity && count[1] > maxRepeat)) fail("invalid repeat count", whole)
      if (count[1] < count[0]) fail("invalid repeat count", whole)
      if (this.#reader.at <= start) return repeated
      // It has no effect on whether the pattern matches, only on the matched text.
      const lazy = this.#reader.text[this.#reader.at] === "?"
      if (lazy) this.#reader.at++
      repeated = { kind: "repeat", node: repeated, min: count[0], max: count[1], lazy }
    }
  }

  #repetition(): [number, number] | undefined {
    switch (this.#reader.text[this.#reader.at]) {
      case "*":
        this.#reader.at++
        return [0, Infinity]
      case "+":
        this.#reader.at++
        return [1, Infinity]
      case "?":
        this.#reader.at++
        return [0, 1]
      case "{": {
        const match = /^\{(\d+)(?:(,)(\d*))?\}/.exec(this.#reader.ahead())
        if (match === null) return undefined // a literal brace
        this.#reader.at += match[0].length
        const min = Number(match[1])
        return [min, match[2] === undefined ? min : match[3] === "" ? Infinity : Number(match[3])]
      }
      default:
        return undefined
    }
  }

  #atom(next: string): Node | undefined {
    this.#reader.countPart()
    switch (next) {
      case "(":
        return this.#group()
      case "[":
        return { kind: "set", set: readBracket(this.#reader, this.#flags.foldCase) }
      case "\\":
        return this.#escape()
      case ".":
        this.#reader.at++
        return this.#set(this.#flags.dotAll ? [[0, lastCodePoint]] : complement([[0x0a, 0x0a]]))
      case "^":
        this.#reader.at++
        return { kind: "assert", assertion: this.#flags.multiline ? "lineStart" : "textStart" }
      case "$":
        this.#reader.at++
        return { kind: "assert", assertion: this.#flags.multiline ? "lineEnd" : "textEnd" }
      case "*":
      case "+":
      case "?":
        return fail("missing argument to repetition operator", next)
      case "{":
        if (/^\{\d+(?:,\d*)?\}/.test(this.#reader.ahead())) {
          fail("missing argument to repetition operator", /^\{[^}]*\}/.exec(this.#reader.ahead())?.[0] ?? "{")
        }
    }
    this.#reader.at++
    return this.#character(next.codePointAt(0) ?? 0)
  }

  #character(codePoint: number): Node {
    return this.#set([[codePoint, codePoint]])
  }

  #set(ranges: readonly (readonly [number, number])[]): Node {
    return { kind: "set", set: { ranges, classes: [], negated: false, foldCase: this.#flags.foldCase } }
  }

  #group(): Node | undefined {
    const start = this.#reader.at
    const outer = { ...this.#flags }
    this.#reader.at++
    if (this.#reader.text[this.#reader.at] === "?") {
      const ahead = this.#reader.ahead(groupLookahead, start)
      const match = /^\(\?(?:P?<([A-Za-z0-9_]+)>|([imsU]*)(?:-([imsU]+))?([:)]))/.exec(ahead)
      if (match === null) fail("invalid or unsupported Perl syntax", perlSyntax(this.#reader.rest(start)))
      this.#reader.at = start + match[0].length
      if (match[1] === undefined) this.#setFlags(match[2] ?? "", match[3] ?? "")
      if (match[4] === ")") return undefined // the flags apply up to the end of the enclosing group
    }
    if (++this.#nesting > maxNesting) fail("expression nests too deeply", this.#reader.text.join(""))
    const node = this.#alternation()
    if (this.#reader.text[this.#reader.at] !== ")") fail("missing closing )", this.#reader.text.join(""))
    this.#reader.at++
    this.#nesting--
    this.#flags = outer
    return node
  }

  #setFlags(on: string, off: string): void {
    for (const [flags, value] of [
      [on, true],
      [off, false],
    ] as const) {
      if (flags.includes("i")) this.#flags.foldCase = value
      if (flags.includes("m")) this.#flags.multiline = value
      if (flags.includes("s")) this.#flags.dotAll = value
    }
  }

  #escape(): Node | undefined {
    const next = this.#reader.text[this.#reader.at + 1]
    if (next === undefined) fail("trailing backslash at end of expression", "")
    const assertions: Readonly<Record<string, Assertion>> = dictionary({
      A: "textStart",
      z: "textEnd",
      b: "wordBoundary",
      B: "noWordBoundary",
    })
    const assertion = assertions[next]
    if (assertion !== undefined) {
      this.#reader.at += 2
      return { kind: "assert", assertion }
    }
    if (next === "Q") {
      this.#reader.at += 2
      return this.#quoted()
    }
    const set = readClass(this.#reader)
    if (set !== undefined) return { kind: "set", set: { ...set, foldCase: this.#flags.foldCase } }
    return this.#character(readEscaped(this.#reader))
  }

  /** The characters up to \E or the end. */
  #quoted(): Node {
    const nodes: Node[] = []
    for (;;) {
      const next = this.#reader.text[this.#reader.at]
      const isEnd = next === "\\" && this.#reader.text[this.#reader.at + 1] === "E"
      this.#reader.at += isEnd ? 2 : 1
      if (isEnd || next === undefined) return { kind: "concat", nodes }
      this.#reader.countPart()
      nodes.push(this.#character(next.codePointAt(0) ?? 0))
    }
  }
}

function perlSyntax(rest: string): string {
  return /^\(\?(?:<[=!]|P?<[^>]*>?|P[=>]|.)?/.exec(rest)?.[0] ?? rest
}
