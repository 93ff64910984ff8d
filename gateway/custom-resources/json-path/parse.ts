// Parses JSONPath as in printer columns: fields, list indexes and slices, wildcards, descent (".."), unions and filters. Source:
// k8s.io/client-go/util/jsonpath (parser.go).

import { unquoteGo } from "./unquote.ts"
import { trim } from "../../../apimachinery/texts.ts"

export type Step =
  | { type: "field"; name: string }
  | { type: "slice"; from: number | undefined; to: number | undefined; by: number | undefined; single: boolean }
  | { type: "wildcard" }
  | { type: "descent" }
  | { type: "union"; paths: readonly Path[] }
  | { type: "filter"; left: Path; operator: string; right: Path }
  /** Yields one value per preceding value; a string yields only one. */
  | { type: "literal"; value: string | OwnNumber | boolean }
  /** An unknown word, which cannot be evaluated. */
  | { type: "word" }

export type Path = readonly Step[]

/** A number that does not come from the object: a literal, or a byte of a string. Its type is not visible in its value. */
export class OwnNumber {
  readonly type: "integer" | "float"
  readonly value: number | bigint

  constructor(type: "integer" | "float", value: number | bigint) {
    this.type = type
    this.value = value
  }
}

/** A path that cannot be parsed. */
export class JsonPathError extends Error {
  override readonly name = "JsonPathError"
}

/** Parses a path such as ".spec.replicas". A "}" in it separates paths. Throws JsonPathError. */
export function parseJsonPath(text: string): readonly Path[] {
  return new Parser(`{${text}}`).paths()
}

const isEndOfLine = (char: string): boolean => char === "\n" || char === "\r"
const isWordLike = (char: string): boolean => /^[\p{L}\p{Nd}_]/u.test(char)
const ends = new Set([" ", "\t", "\r", "\n", "", ".", ",", "[", "]", "$", "@", "{", "}"])

class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Text between braces is ignored. */
  paths(): Path[] {
    const paths: Path[] = []
    for (let open = this.#text.indexOf("{"); open >= 0; open = this.#text.indexOf("{", this.#at)) {
      this.#at = open + 1
      paths.push(this.#path())
    }
    return paths
  }

  #path(): Step[] {
    const steps: Step[] = []
    while (!this.#skip("}")) {
      if (this.#skip("[?(")) steps.push(this.#filter())
      else if (this.#skip("..")) steps.push(...this.#descent(steps.at(-1)))
      else steps.push(...this.#step())
    }
    return steps
  }

  #step(): readonly Step[] {
    const char = this.#next()
    if (char === "" || isEndOfLine(char)) throw new JsonPathError("unclosed action")
    if (char === " " || char === "@" || char === "$") return []
    if (char === "[") return this.#brackets()
    if (char === "'" || char === '"') return [this.#quoted(char)]
    if (char === ".") return [this.#field()]
    this.#at -= char.length
    if (char === "+" || char === "-" || /^\p{Nd}/u.test(char)) return [this.#number()]
    if (isWordLike(char)) return [this.#word()]
    throw new JsonPathError(`unrecognized character ${char}`)
  }

  #descent(last: Step | undefined): Step[] {
    if (last?.type === "descent") throw new JsonPathError("invalid multiple recursive descent")
    return isWordLike(this.#peek()) ? [{ type: "descent" }, this.#field()] : [{ type: "descent" }]
  }

  #field(): Step {
    const start = this.#at
    while (!ends.has(this.#peek())) {
      this.#skip("\\")
      this.#next()
    }
    const name = this.#text.slice(start, this.#at)
    return name === "*" ? { type: "wildcard" } : { type: "field", name: name.replaceAll("\\", "") }
  }

  #word(): Step {
    let word = ""
    while (!ends.has(this.#peek())) word += this.#next()
    const isLiteral = word === "true" || word === "false"
    return isLiteral ? { type: "literal", value: word === "true" } : { type: "word" }
  }

  #number(): Step {
    const literal = /^[+-]?[.\p{Nd}]*/u.exec(this.#text.slice(this.#at))?.[0] ?? ""
    this.#at += literal.length
    const integer = integerOf(literal)
    if (integer !== undefined) return { type: "literal", value: new OwnNumber("integer", integer) }
    const value = /\d/.test(literal) ? Number(literal) : Number.NaN
    if (Number.isNaN(value)) throw new JsonPathError(`cannot parse number ${literal}`)
    return { type: "literal", value: new OwnNumber("float", value) }
  }

  #quoted(quote: string): Step {
    const start = this.#at - 1
    for (;;) {
      const char = this.#next()
      if (char === "" || char === "\n") throw new JsonPathError("unterminated quoted string")
      if (char === quote && this.#text[this.#at - 2] !== "\\") break
    }
    const value = unquoteGo(this.#text.slice(start, this.#at))
    if (value === undefined) throw new JsonPathError("invalid syntax")
    return { type: "literal", value }
  }

  #brackets(): readonly Step[] {
    const end = this.#text.indexOf("]", this.#at)
    const inside = end < 0 ? "\n" : this.#text.slice(this.#at, end)
    if (inside.includes("\n")) throw new JsonPathError("unterminated array")
    this.#at = end + 1
    const parts = inside.split(",")
    if (parts.length > 1) {
      return [{ type: "union", paths: parts.map((part) => firstOf(`[${trim(part, " ")}]`)) }]
    }
    const key = /^'([^']*)'$/.exec(inside)
    return key === null ? [sliceOf(inside === "*" ? ":" : inside)] : firstOf(`.${key[1] ?? ""}`)
  }

  #filter(): Step {
    const start = this.#at
    let quote = ""
    let isOpen = false
    for (;;) {
      const char = this.#next()
      if (char === "" || char === "\n") throw new JsonPathError("unterminated filter")
      if ((char === "'" || char === '"') && quote === "") [quote, isOpen] = [char, true]
      else if (char === quote && this.#text[this.#at - 2] !== "\\") isOpen = false
      else if (char === ")" && !isOpen) break
    }
    const text = this.#text.slice(start, this.#at - 1)
    if (!this.#skip("]")) throw new JsonPathError("unclosed array expect ]")
    const [compared = text, left = text, operator = ""] = /^([^!<>=]+)([!<>=]+)(?=[^])/.exec(text) ?? []
    return { type: "filter", left: firstOf(left), operator, right: firstOf(text.slice(compared.length)) }
  }

  #peek(): string {
    const code = this.#text.codePointAt(this.#at)
    return code === undefined ? "" : String.fromCodePoint(code)
  }

  #next(): string {
    const char = this.#peek()
    this.#at += char.length
    return char
  }

  #skip(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
  }
}

/** The content of brackets and filters is a path of its own; only the first path is used. */
function firstOf(text: string): Path {
  return parseJsonPath(text)[0] ?? []
}

function sliceOf(text: string): Step {
  const parts = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text)?.slice(1)
  if (parts === undefined) throw new JsonPathError(`invalid array index ${text}`)
  const [from, to, by] = parts.map((part: string | undefined) => place(part?.replace(":", "")))
  return { type: "slice", from, to, by, single: parts[1] === undefined }
}

function place(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined
  const value = integerOf(text)
  if (value === undefined) throw new JsonPathError(`array index ${text} is not a number`)
  return Number(value)
}

/** An integer of 64 bits; undefined for any other text. */
function integerOf(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const value = BigInt(text.replace("+", ""))
  return value === BigInt.asIntN(64, value) ? value : undefined
}
