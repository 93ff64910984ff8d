// Parses the syntax of Go's regular expressions (RE2's) into a tree, with Go's error messages. Matching: patterns.ts.

import { dictionary } from "../../dictionary.ts"
import { complement, controls, escapes, lastCodePoint, named, unicodeClass } from "./re2-classes.ts"
import type { Assertion, CharacterSet, Node } from "./re2-tree.ts"

/** RE2's limit for counted repetitions, including nested ones. */
const maxRepeat = 1000
/** Maximum nesting of groups. */
const maxNesting = 200
/** Maximum number of parts of a pattern, and of states that are compiled from it. Go's limit has the same order of magnitude. */
export const maxParts = 20_000
/** Characters that are looked at to recognize a counted repetition, an escape or a class; no valid one is longer. */
const lookahead = 64
/** The same for what follows "(?", which contains the name of a group. */
const groupLookahead = 1024

function fail(what: string, text: string): never {
  throw new SyntaxError(`error parsing regexp: ${what}: \`${text}\``)
}

interface Flags {
  foldCase: boolean
  multiline: boolean
  dotAll: boolean
}

export function parsePattern(pattern: string): Node {
  return new Parser(pattern).whole()
}

class Parser {
  readonly #text: string[]
  #at = 0
  #parts = 0
  #nesting = 0
  #flags: Flags = { foldCase: false, multiline: false, dotAll: false }

  constructor(pattern: string) {
    this.#text = Array.from(pattern)
  }

  whole(): Node {
    const node = this.#alternation()
    if (this.#at < this.#text.length) fail("unexpected )", this.#text.join(""))
    return node
  }

  #rest(from = this.#at): string {
    return this.#text.slice(from).join("")
  }

  /** What can be recognized is not searched in all that follows. */
  #ahead(length = lookahead, from = this.#at): string {
    return this.#text.slice(from, from + length).join("")
  }

  #countPart(): void {
    if (++this.#parts > maxParts) fail("expression too large", this.#text.join(""))
  }

  #alternation(): Node {
    const nodes = [this.#concatenation()]
    while (this.#text[this.#at] === "|") {
      this.#countPart()
      this.#at++
      nodes.push(this.#concatenation())
    }
    return nodes.length === 1 ? (nodes[0] as Node) : { kind: "alternate", nodes }
  }

  #concatenation(): Node {
    const nodes: Node[] = []
    for (;;) {
      const next = this.#text[this.#at]
      if (next === undefined || next === "|" || next === ")") return { kind: "concat", nodes }
      const start = this.#at
      const node = this.#atom(next)
      if (node !== undefined) nodes.push(this.#repetitions(node, start))
    }
  }

  #repetitions(node: Node, start: number): Node {
    let repeated = node
    let before: number | undefined
    for (;;) {
      const from = this.#at
      const count = this.#repetition()
      if (count === undefined) return repeated
      if (before !== undefined) fail("invalid nested repetition operator", this.#text.slice(before, this.#at).join(""))
      before = from
      const whole = this.#text.slice(from, this.#at).join("")
      if (count[0] > maxRepeat || (count[1] !== Infinity && count[1] > maxRepeat)) fail("invalid repeat count", whole)
      if (count[1] < count[0]) fail("invalid repeat count", whole)
      if (this.#at <= start) return repeated
      // It has no effect on whether the pattern matches, only on the matched text.
      const lazy = this.#text[this.#at] === "?"
      if (lazy) this.#at++
      repeated = { kind: "repeat", node: repeated, min: count[0], max: count[1], lazy }
    }
  }

  #repetition(): [number, number] | undefined {
    switch (this.#text[this.#at]) {
      case "*":
        this.#at++
        return [0, Infinity]
      case "+":
        this.#at++
        return [1, Infinity]
      case "?":
        this.#at++
        return [0, 1]
      case "{": {
        const match = /^\{(\d+)(?:(,)(\d*))?\}/.exec(this.#ahead())
        if (match === null) return undefined // a literal brace
        this.#at += match[0].length
        const min = Number(match[1])
        return [min, match[2] === undefined ? min : match[3] === "" ? Infinity : Number(match[3])]
      }
      default:
        return undefined
    }
  }

  #atom(next: string): Node | undefined {
    this.#countPart()
    switch (next) {
      case "(":
        return this.#group()
      case "[":
        return { kind: "set", set: this.#bracket() }
      case "\\":
        return this.#escape()
      case ".":
        this.#at++
        return this.#set(this.#flags.dotAll ? [[0, lastCodePoint]] : complement([[0x0a, 0x0a]]))
      case "^":
        this.#at++
        return { kind: "assert", assertion: this.#flags.multiline ? "lineStart" : "textStart" }
      case "$":
        this.#at++
        return { kind: "assert", assertion: this.#flags.multiline ? "lineEnd" : "textEnd" }
      case "*":
      case "+":
      case "?":
        return fail("missing argument to repetition operator", next)
      case "{":
        if (/^\{\d+(?:,\d*)?\}/.test(this.#ahead())) {
          fail("missing argument to repetition operator", /^\{[^}]*\}/.exec(this.#ahead())?.[0] ?? "{")
        }
    }
    this.#at++
    return this.#character(next.codePointAt(0) ?? 0)
  }

  #character(codePoint: number): Node {
    return this.#set([[codePoint, codePoint]])
  }

  #set(ranges: readonly (readonly [number, number])[]): Node {
    return { kind: "set", set: { ranges, classes: [], negated: false, foldCase: this.#flags.foldCase } }
  }

  #group(): Node | undefined {
    const start = this.#at
    const outer = { ...this.#flags }
    this.#at++
    if (this.#text[this.#at] === "?") {
      const ahead = this.#ahead(groupLookahead, start)
      const match = /^\(\?(?:P?<([A-Za-z0-9_]+)>|([imsU]*)(?:-([imsU]+))?([:)]))/.exec(ahead)
      if (match === null) fail("invalid or unsupported Perl syntax", perlSyntax(this.#rest(start)))
      this.#at = start + match[0].length
      if (match[1] === undefined) this.#setFlags(match[2] ?? "", match[3] ?? "")
      if (match[4] === ")") return undefined // the flags apply up to the end of the enclosing group
    }
    if (++this.#nesting > maxNesting) fail("expression nests too deeply", this.#text.join(""))
    const node = this.#alternation()
    if (this.#text[this.#at] !== ")") fail("missing closing )", this.#text.join(""))
    this.#at++
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
    const next = this.#text[this.#at + 1]
    if (next === undefined) fail("trailing backslash at end of expression", "")
    const assertions: Readonly<Record<string, Assertion>> = dictionary({
      A: "textStart",
      z: "textEnd",
      b: "wordBoundary",
      B: "noWordBoundary",
    })
    const assertion = assertions[next]
    if (assertion !== undefined) {
      this.#at += 2
      return { kind: "assert", assertion }
    }
    if (next === "Q") {
      this.#at += 2
      return this.#quoted()
    }
    const set = this.#class()
    if (set !== undefined) return { kind: "set", set: { ...set, foldCase: this.#flags.foldCase } }
    return this.#character(this.#escaped())
  }

  /** The characters up to \E or the end. */
  #quoted(): Node {
    const nodes: Node[] = []
    for (;;) {
      const next = this.#text[this.#at]
      const isEnd = next === "\\" && this.#text[this.#at + 1] === "E"
      this.#at += isEnd ? 2 : 1
      if (isEnd || next === undefined) return { kind: "concat", nodes }
      this.#countPart()
      nodes.push(this.#character(next.codePointAt(0) ?? 0))
    }
  }

  /** Parses \d, \pL, \p{Greek} and their negations; undefined if there is none. */
  #class(): CharacterSet | undefined {
    const next = this.#text[this.#at + 1] ?? ""
    const ranges = Object.hasOwn(escapes, next.toLowerCase()) ? escapes[next.toLowerCase()] : undefined
    if (ranges !== undefined) {
      this.#at += 2
      const negated = next !== next.toLowerCase()
      return { ranges: negated ? complement(ranges) : ranges, classes: [], negated: false, foldCase: false }
    }
    if (next !== "p" && next !== "P") return undefined
    const match = /^\\[pP](?:\{(\^?)(\w+)\}|(\w))/.exec(this.#ahead())
    const name = match?.[2] ?? match?.[3] ?? ""
    const test = match === null ? undefined : unicodeClass(name)
    if (match === null || test === undefined) fail("invalid character class range", match?.[0] ?? this.#rest())
    this.#at += Array.from(match[0]).length
    const negated = (next === "P") !== (match[1] === "^")
    return { ranges: [], classes: [negated ? (point): boolean => !test(point) : test], negated: false, foldCase: false }
  }

  /** The code point after a backslash. */
  #escaped(): number {
    const number = /^\\(?:x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]+)\}|(0[0-7]{0,2}|[1-7][0-7]{1,2}))/.exec(this.#ahead())
    if (number !== null) {
      this.#at += number[0].length
      return number[3] === undefined ? Number.parseInt(number[1] ?? number[2] ?? "", 16) : Number.parseInt(number[3], 8)
    }
    const next = this.#text[this.#at + 1]
    if (next === undefined) fail("trailing backslash at end of expression", "")
    const control = controls[next]
    if (control === undefined && /[A-Za-z0-9]/.test(next)) fail("invalid escape sequence", `\\${next}`)
    this.#at += 2
    return control ?? next.codePointAt(0) ?? 0
  }

  #bracket(): CharacterSet {
    const start = this.#at++
    const ranges: (readonly [number, number])[] = []
    const classes: ((codePoint: number) => boolean)[] = []
    const negated = this.#text[this.#at] === "^"
    if (negated) this.#at++
    for (let first = true; this.#text[this.#at] !== "]" || first; first = false) {
      if (this.#at >= this.#text.length) fail("missing closing ]", this.#rest(start))
      this.#countPart()
      const name = this.#text[this.#at] === "[" ? /^\[:(\^?)(\w+):\]/.exec(this.#ahead()) : null
      if (name !== null) {
        const known = Object.hasOwn(named, name[2] ?? "") ? named[name[2] ?? ""] : undefined
        if (known === undefined) fail("invalid character class range", name[0])
        ranges.push(...(name[1] === "^" ? complement(known) : known))
        this.#at += name[0].length
        continue
      }
      const set = this.#text[this.#at] === "\\" ? this.#class() : undefined
      if (set === undefined) ranges.push(this.#range())
      else {
        ranges.push(...set.ranges)
        classes.push(...set.classes)
      }
    }
    this.#at++
    return { ranges, classes, negated, foldCase: this.#flags.foldCase }
  }

  #range(): [number, number] {
    const from = this.#at
    const low = this.#inBracket()
    if (this.#text[this.#at] !== "-" || this.#text[this.#at + 1] === "]" || this.#at + 1 >= this.#text.length) {
      return [low, low]
    }
    this.#at++
    const high = this.#inBracket()
    if (high < low) fail("invalid character class range", this.#text.slice(from, this.#at).join(""))
    return [low, high]
  }

  #inBracket(): number {
    if (this.#text[this.#at] === "\\") return this.#escaped()
    return this.#text[this.#at++]?.codePointAt(0) ?? 0
  }
}

function perlSyntax(rest: string): string {
  return /^\(\?(?:<[=!]|P?<[^>]*>?|P[=>]|.)?/.exec(rest)?.[0] ?? rest
}
