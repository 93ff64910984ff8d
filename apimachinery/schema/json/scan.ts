// A strict JSON scanner for information that JSON.parse does not provide: duplicate keys, numbers that are not exact as doubles,
// and errors in the words of Go's scanner. Slower than JSON.parse, so it only runs when one of these is needed.

import { goQuote } from "../../go/quote.ts"
import { byteOf } from "../../go/text.ts"
import { OddNumbers } from "./odd-numbers.ts"
import { PathPrinter } from "./paths.ts"
import { withoutRepeats } from "./repeated-keys.ts"

/** Characters of the paths of faults, together. Beyond, no further ones are told: a path may be as long as the text. */
const maxPathLength = 4 * 1024 * 1024

interface JsonScan {
  /** Such as `duplicate field "metadata.name"`, in text order, each once. */
  duplicates: string[]
  /** Every number that is printed differently from its literal: 1.0, 1e400, 9007199254740993. */
  oddNumbers: OddNumbers
}

/** Strict decoding reports no more faults than this. Source: saveStrictError in sigs.k8s.io/json. */
export const maxStrictFaults = 100

/** Throws a SyntaxError in Go's words. The nesting must have been checked before (see survey). */
export function scanJson(text: string): JsonScan {
  const scanner = new Scanner(text)
  scanner.document()
  return scanner.found
}

/** The faults that strict decoding reports for a text, in text order: unknown fields, and duplicate known fields. */
export function strictFaults(text: string, unknown: readonly (readonly (string | number)[])[]): string[] {
  const scanner = new Scanner(text, new UnknownFields(unknown))
  scanner.document()
  return scanner.found.duplicates
}

/** Removes the values of repeated keys except the first. The text must have been scanned. */
export function firstOfKeys(text: string): string {
  const scanner = new Scanner(text)
  scanner.document()
  return withoutRepeats(text, scanner.repeats)
}

type Field = Map<string | number, Field>

/** Tracks unknown fields during a traversal of the text. */
class UnknownFields {
  readonly #root: Field = new Map()
  /** For each step of the current path; undefined if there are none below. */
  readonly #path: (Field | undefined)[] = [this.#root]

  constructor(paths: readonly (readonly (string | number)[])[]) {
    for (const path of paths) {
      let field = this.#root
      for (const step of path) {
        const inner: Field = field.get(step) ?? new Map()
        field.set(step, inner)
        field = inner
      }
    }
  }

  enter(step: string | number): void {
    this.#path.push(this.#path.at(-1)?.get(step))
  }

  leave(): void {
    this.#path.pop()
  }

  /** Whether the current field is unknown. */
  get isHere(): boolean {
    return this.#path.at(-1)?.size === 0
  }
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// oxlint-disable-next-line no-control-regex -- JSON forbids exactly these in strings
const plainPattern = /[^"\\\u0000-\u001f]*/y
const blankPattern = /[ \t\r\n]*/y
const hexPattern = /^[0-9a-fA-F]$/

/** Errors where blanks are not skipped: at the end of a text Go reads one more blank, and reports that. */
const unbroken = /^(?:in (?!string literal)|after decimal point)/

class Scanner {
  readonly #oddNumbers = new OddNumbers()
  /** By what they are and where, as they are told. */
  readonly #faults = new Map<string, string>()
  readonly #paths = new PathPrinter()
  #pathLength = 0
  readonly #text: string
  readonly #unknown: UnknownFields | undefined
  /** Duplicates within an unknown field are not reported. */
  #unknownDepth = 0
  /** Ranges of values with repeated keys. */
  readonly repeats: [start: number, end: number][] = []
  #at = 0

  constructor(text: string, unknown?: UnknownFields) {
    this.#text = text
    this.#unknown = unknown
  }

  get found(): JsonScan {
    return { duplicates: [...this.#faults.values()], oddNumbers: this.#oddNumbers }
  }

  document(): void {
    this.#value()
    this.#blank()
    if (this.#at < this.#text.length) this.#fail("after top-level value")
  }

  #value(): void {
    this.#blank()
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object()
      case "[":
        return this.#array()
      case '"':
        return this.#string()
      case "t":
        return this.#literal("true")
      case "f":
        return this.#literal("false")
      case "n":
        return this.#literal("null")
      default:
        return this.#number()
    }
  }

  #object(): void {
    const seen = new Set<string>()
    let told: Set<string> | undefined
    this.#at++
    this.#blank()
    if (this.#text[this.#at] === "}") {
      this.#at++
      return
    }
    for (;;) {
      const comma = this.#at - 1
      this.#blank()
      if (this.#text[this.#at] !== '"') this.#fail("looking for beginning of object key string")
      const start = this.#at
      this.#string()
      const key = JSON.parse(this.#text.slice(start, this.#at)) as string
      this.#enter(key)
      const isRepeat = seen.has(key)
      const fault = this.#faultOf(isRepeat)
      // Of a key that comes again and again nothing new is to be told: its path is as long as the text is deep.
      if (fault !== undefined && told?.has(key) !== true) {
        this.#note(fault)
        told = (told ?? new Set()).add(key)
      }
      seen.add(key)
      this.#blank()
      if (this.#text[this.#at] !== ":") this.#fail("after object key")
      this.#at++
      this.#value()
      this.#leave()
      if (isRepeat) this.repeats.push([comma, this.#at])
      this.#blank()
      const next = this.#text[this.#at]
      if (next !== "," && next !== "}") this.#fail("after object key:value pair")
      this.#at++
      if (next === "}") return
    }
  }

  /** Of the field that has been entered. */
  #faultOf(isRepeat: boolean): string | undefined {
    if (this.#unknown?.isHere === true && this.#unknownDepth++ === 0) return "unknown field"
    return isRepeat && this.#unknownDepth === 0 ? "duplicate field" : undefined
  }

  #enter(step: string | number): void {
    this.#oddNumbers.enter(step)
    this.#unknown?.enter(step)
  }

  #leave(): void {
    if (this.#unknown?.isHere === true) this.#unknownDepth--
    this.#oddNumbers.leave()
    this.#paths.leaveTo(this.#oddNumbers.path.length)
    this.#unknown?.leave()
  }

  #note(fault: string): void {
    if (this.#faults.size >= maxStrictFaults || this.#pathLength >= maxPathLength) return
    const path = this.#paths.print(this.#oddNumbers.path)
    this.#pathLength += path.length
    const told = `${fault} ${path}`
    if (!this.#faults.has(told)) this.#faults.set(told, `${fault} ${JSON.stringify(path)}`)
  }

  #array(): void {
    this.#at++
    this.#blank()
    if (this.#text[this.#at] === "]") {
      this.#at++
      return
    }
    for (let index = 0; ; index++) {
      this.#enter(index)
      this.#value()
      this.#leave()
      this.#blank()
      const next = this.#text[this.#at]
      if (next !== "," && next !== "]") this.#fail("after array element")
      this.#at++
      if (next === "]") return
    }
  }

  #string(): void {
    this.#at++
    for (;;) {
      this.#skip(plainPattern)
      const next = this.#text[this.#at]
      if (next === '"') break
      if (next !== "\\") this.#fail("in string literal")
      this.#at++
      const escape = this.#text[this.#at]
      if (escape === undefined || !'"\\/bfnrtu'.includes(escape)) this.#fail("in string escape code")
      this.#at++
      if (escape === "u") {
        for (let digit = 0; digit < 4; digit++, this.#at++) {
          if (!hexPattern.test(this.#text[this.#at] ?? "")) this.#fail("in \\u hexadecimal character escape")
        }
      }
    }
    this.#at++
  }

  #literal(word: string): void {
    for (let index = 0; index < word.length; index++, this.#at++) {
      if (this.#text[this.#at] !== word[index]) this.#fail(`in literal ${word} (expecting '${word[index]}')`)
    }
  }

  #number(): void {
    const start = this.#at
    this.#skip(numberPattern)
    const literal = this.#text.slice(start, this.#at)
    if (literal === "") {
      const minus = this.#text[this.#at] === "-"
      if (minus) this.#at++
      this.#fail(minus ? "in numeric literal" : "looking for beginning of value")
    }
    // A number that continues is malformed: determine in which part. That part has ended.
    const next = this.#text[this.#at]
    const goesOn = next === "." ? !/[.eE]/.test(literal) : (next === "e" || next === "E") && !/[eE]/.test(literal)
    if (goesOn) {
      this.#at++
      if (next !== "." && /[+-]/.test(this.#text[this.#at] ?? "")) this.#at++
      this.#fail(next === "." ? "after decimal point in numeric literal" : "in exponent of numeric literal")
    }
    if (String(Number(literal)) !== literal) this.#oddNumbers.note(literal)
  }

  #blank(): void {
    this.#skip(blankPattern)
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#at
    if (pattern.test(this.#text)) this.#at = pattern.lastIndex
  }

  #fail(where: string): never {
    const code = this.#text.codePointAt(this.#at)
    if (code === undefined && !unbroken.test(where)) throw new SyntaxError("unexpected end of JSON input")
    const character = code === undefined ? " " : String.fromCodePoint(code)
    throw new SyntaxError(`invalid character ${quoteCharacter(character)} ${where}`)
  }
}

/** Quotes the offending byte like Go, which sees only the first byte of a non-ASCII character. */
function quoteCharacter(character: string): string {
  if (character === "'") return "'\\''"
  if (character === '"') return "'\"'"
  const byte = byteOf(character.charCodeAt(0)) ?? Buffer.from(character)[0] ?? 0
  return `'${goQuote(String.fromCharCode(byte)).slice(1, -1)}'`
}
