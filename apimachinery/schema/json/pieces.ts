// JSON.parse in steps, for texts that are too long for one (apimachinery/steps.ts). The text is cut at commas, and each piece is parsed
// as an object or list of its own, whose members are then added to what it was cut from:
//
//   {"a":1,"b":{"c":2,│"d":3,│"e":4},"f":5}
//   └ open: a, b       │ pieces of b   └ b is complete: a is parsed, b is added, and the root goes on with f

import type { Json } from "../../object.ts"
import type { Steps } from "../../steps.ts"
import { type JsonObject, setOwn } from "../json-object.ts"
import { countKeys } from "./survey.ts"

/**
 * Characters that are parsed in one step, one to two milliseconds. What V8 parses of texts of 100 KiB and more is old at once; of shorter
 * ones the collector of young objects would move it twice while the rest is parsed.
 */
const pieceLength = 128 * 1024

interface ParsedPieces {
  value: Json
  /** Like {@link countKeys} of the value, or fewer if keys are repeated. */
  keys: number
}

/** The same value. Throws the same errors. */
export function* parsingPieces(text: string): Steps<ParsedPieces> {
  if (text.length > pieceLength) {
    const parsed = yield* new Pieces(text).parsing()
    if (parsed !== undefined) return parsed
  }
  const value = JSON.parse(text) as Json
  return { value, keys: countKeys(value) }
}

/** A list or an object that is not complete. */
interface Open {
  readonly isList: boolean
  /** Where it begins. */
  readonly at: number
  /** Its parsed members; undefined before the first piece. */
  target: Json[] | JsonObject | undefined
  /** Where the members begin that are not parsed. */
  from: number
  /** Where the member begins that is being read. */
  member: number
  /** The last member has been added; another one must follow a comma. */
  isAdded: boolean
}

class Malformed extends Error {}

class Pieces {
  readonly #text: string
  readonly #open: Open[] = []
  /** Where the last piece ended. */
  #cut = 0
  #keys = 0

  constructor(text: string) {
    this.#text = text
  }

  /** undefined: it cannot be cut, or is malformed in a way that is found when it is parsed as a whole. */
  *parsing(): Steps<ParsedPieces | undefined> {
    const text = this.#text
    try {
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at)
        if (code === 0x22) at = this.#endOfString(at)
        else if (code === 0x7b || code === 0x5b) this.#begin(code === 0x5b, at)
        else if (code === 0x2c && this.#comma(at)) yield
        else if (code === 0x7d || code === 0x5d) {
          const root = this.#end(code === 0x5d, at)
          if (root === undefined) continue
          if (root.target === undefined) return undefined
          this.#refuseText(0, root.at)
          this.#refuseText(at + 1, text.length)
          return { value: root.target, keys: this.#keys }
        }
      }
    } catch (error) {
      if (!(error instanceof Malformed || error instanceof SyntaxError)) throw error
    }
    return undefined
  }

  #endOfString(from: number): number {
    const text = this.#text
    for (let at = text.indexOf('"', from + 1); at > 0; at = text.indexOf('"', at + 1)) {
      let first = at
      while (text.charCodeAt(first - 1) === 0x5c) first--
      if ((at - first) % 2 === 0) return at
    }
    throw new Malformed()
  }

  #begin(isList: boolean, at: number): void {
    this.#open.push({ isList, at, target: undefined, from: at + 1, member: at + 1, isAdded: false })
  }

  /** Was a piece parsed? */
  #comma(at: number): boolean {
    const open = this.#open.at(-1)
    if (open === undefined) throw new Malformed()
    const isCut = at - this.#cut >= pieceLength
    if (isCut) {
      this.#take(open, at)
      this.#cut = at
    }
    if (open.isAdded) {
      this.#refuseText(open.from, at)
      open.isAdded = false
      open.from = at + 1
    } else if (isCut) open.from = at + 1
    open.member = at + 1
    return isCut
  }

  /** Returns it if it is the root. */
  #end(isList: boolean, at: number): Open | undefined {
    const ended = this.#open.pop()
    if (ended?.isList !== isList) throw new Malformed()
    const open = this.#open.at(-1)
    if (ended.target === undefined) return open === undefined ? ended : undefined
    this.#take(ended, at)
    if (open === undefined) return ended
    if (open.isAdded) throw new Malformed() // two members without a comma
    // First the text before it, then itself.
    if (open.member > open.from) this.#take(open, open.member - 1)
    open.target ??= open.isList ? [] : {}
    if (!Array.isArray(open.target)) {
      const name = this.#nameIn(this.#text.slice(open.member, ended.at))
      this.#add(open.target, name, ended.target)
    } else {
      this.#refuseText(open.member, ended.at)
      open.target.push(ended.target)
    }
    open.from = at + 1
    open.member = at + 1
    open.isAdded = true
    return undefined
  }

  /** Parses the members before this place that are not parsed yet. */
  #take(open: Open, to: number): void {
    const piece = this.#text.slice(open.from, to)
    if (open.isAdded) return this.#refuseText(open.from, to)
    if (isBlank(piece)) throw new Malformed() // a comma without a member
    const parsed = JSON.parse(open.isList ? `[${piece}]` : `{${piece}}`) as Json[] | JsonObject
    open.target ??= open.isList ? [] : {}
    if (Array.isArray(open.target)) {
      for (const item of parsed as Json[]) open.target.push(item)
      this.#keys += countKeys(parsed)
    } else {
      for (const name of Object.keys(parsed)) {
        const value = (parsed as JsonObject)[name] as Json
        this.#keys += countKeys(value)
        this.#add(open.target, name, value)
      }
    }
  }

  #add(target: JsonObject, name: string, value: Json): void {
    if (!Object.hasOwn(target, name)) this.#keys++
    setOwn(target, name, value)
  }

  /** `text`: a name and a colon. */
  #nameIn(text: string): string {
    const [name, ...more] = Object.keys(JSON.parse(`{${text}null}`) as JsonObject)
    if (name === undefined || more.length > 0) throw new Malformed()
    return name
  }

  #refuseText(from: number, to: number): void {
    if (!isBlank(this.#text.slice(from, to))) throw new Malformed()
  }
}

const isBlank = (text: string): boolean => /^[ \t\n\r]*$/.test(text)
