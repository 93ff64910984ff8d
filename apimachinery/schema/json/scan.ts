// A strict JSON scanner for information that JSON.parse does not provide: duplicate keys, numbers that are not exact as doubles,
// and errors in the words of Go's scanner. Slower than JSON.parse, so it only runs when one of these is needed.

import { goQuote } from "../../go/quote.ts"
import { byteOf } from "../../go/text.ts"
import { OddNumbers } from "./odd-numbers.ts"
import { withoutRepeats } from "./repeated-keys.ts"

interface JsonScan {
  /** Such as `duplicate field "metadata.name"`, in text order, each once. */
  duplicates: string[]
  /** Every number that is printed differently from its literal: 1.0, 1e400, 9007199254740993. */
  oddNumbers: OddNumbers
}

/** Strict decoding reports no more faults than this. Source: saveStrictError in sigs.k8s.io/json. */
export const maxStrictFaults = 100

/** Such as "spec.containers[0].name". */
export function printPath(path: readonly (string | number)[]): string {
  let text = ""
  for (const step of path) text += typeof step === "number" ? `[${step}]` : text === "" ? step : `.${step}`
  return text
}

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
  readonly #faults = new Set<string>()
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
    return { duplicates: [...this.#faults], oddNumbers: this.#oddNumbers }
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
        this.#string()
        return
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
      const key = this.#string()
      this.#enter(key)
      if (this.#unknown?.isHere === true && this.#unknownDepth++ === 0) this.#note("unknown field")
      else if (seen.has(key) && this.#unknownDepth === 0) this.#note("duplicate field")
      const isRepeat = seen.has(key)
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

  #enter(step: string | number): void {
    this.#oddNumbers.enter(step)
    this.#unknown?.enter(step)
  }

  #leave(): void {
    if (this.#unknown?.isHere === true) this.#unknownDepth--
    this.#oddNumbers.leave()
    this.#unknown?.leave()
  }

  #note(fault: string): void {
    if (this.#faults.size >= maxStrictFaults) return
    this.#faults.add(`${fault} ${JSON.stringify(printPath(this.#oddNumbers.path))}`)
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

  #string(): string {
    const start = this.#at++
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
    return JSON.parse(this.#text.slice(start, this.#at)) as string
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
