// Preserves the literals of numbers that a double would change: 1.0, 1e3, 9223372036854775808. Upstream applies patches to text,
// so the result is decoded, and possibly rejected, by its literals; here they pass through the patch as marked strings.

import type { Json } from "../../object.ts"
import { exactInteger, parseExactly, unsignedInteger } from "../exact-integers.ts"
import { isObject, setOwn } from "../json-object.ts"
import { noteOddNumbers, OddNumbers, oddNumbersOf } from "./odd-numbers.ts"

const id = crypto.randomUUID()
/** Strings of clients cannot begin like this. */
const mark = `\0number ${id} `
const printedMark = new RegExp(`"\\\\u0000number ${id} ([^"]*)"`, "g")
/** An unterminated string extends to the end of the text: it is matched once, not again from each of its quotes. */
const tokens = /"[^"\\]*(?:\\[^][^"\\]*)*"?|-?\d[-+.\deE]*/g
/** Longer than any printed double. */
const mostPrinted = 30
const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Replaces such numbers by marked strings. Invalid JSON remains invalid. */
export function markOddNumbers(json: string): string {
  return json.replaceAll(tokens, (token) => (isOdd(token) ? JSON.stringify(mark + token) : token))
}

function isOdd(token: string): boolean {
  if (token.startsWith('"') || !numberPattern.test(token)) return false
  return token.length > mostPrinted || (String(Number(token)) !== token && exactInteger(token) === undefined)
}

/** The first number in a JSON text that exceeds the range of doubles, such as 1e400. */
export function firstOverflow(json: string): string | undefined {
  for (const [token] of json.matchAll(tokens)) {
    if (!token.startsWith('"') && !Number.isFinite(Number(token))) return token
  }
  return undefined
}

/** Returns a copy with numbers instead of marks, whose literals are recorded for the decoder. */
export function withoutMarks(value: Json): Json {
  const found = new OddNumbers()
  const walk = (inner: Json): Json => {
    if (typeof inner === "string" && inner.startsWith(mark)) {
      const literal = inner.slice(mark.length)
      found.note(literal)
      return parseExactly(literal)
    }
    if (typeof inner !== "object" || inner === null) return inner
    const at = (step: string | number, item: Json): Json => {
      found.enter(step)
      const result = walk(item)
      found.leave()
      return result
    }
    if (Array.isArray(inner)) return inner.map((item, index) => at(index, item))
    const copy: { [key: string]: Json } = {}
    for (const [key, item] of Object.entries(inner)) setOwn(copy, key, at(key, item))
    return copy
  }
  const result = walk(value)
  noteOddNumbers(result, found)
  return result
}

/** Replaces marks in JSON by the original number literals. */
export function printWithoutMarks(json: string): string {
  return json.replaceAll(printedMark, "$1")
}

/**
 * Adjusts JSON that was parsed as YAML: upstream's YAML supports signed and unsigned 64-bit integers, and otherwise doubles,
 * which it prints as such; larger numbers are strings.
 */
export function asOfYaml(value: Json): Json {
  const odd = oddNumbersOf(value)
  if (odd === undefined) return value
  noteOddNumbers(
    value,
    odd.select((holder, step, literal) => {
      if (Number.isFinite(Number(literal))) return unsignedInteger(literal) !== undefined
      if (Array.isArray(holder)) holder[Number(step)] = literal
      else if (isObject(holder)) setOwn(holder, String(step), literal)
      return false
    }, value),
  )
  return value
}
