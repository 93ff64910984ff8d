// Numbers as they were written, where a double would change them: 1.0, 1e3, 9223372036854775808. A patch is applied to text upstream,
// so what it makes of an object is decoded, and refused, by its literals; here they go through it as marked texts.

import type { Json } from "../object.ts"
import { exactInteger, parseExactly, unsignedInteger } from "./exact-integers.ts"
import { isObject, setOwn } from "./json-object.ts"
import { noteOddNumbers, OddNumbers, oddNumbersOf } from "./odd-numbers.ts"

const id = crypto.randomUUID()
/** No text of a client's begins like this. */
const mark = `\0number ${id} `
const printedMark = new RegExp(`"\\\\u0000number ${id} ([^"]*)"`, "g")
/** A string that does not end is one until the end of the text: looked at once, and not again from each of its quotes. */
const tokens = /"[^"\\]*(?:\\[^][^"\\]*)*"?|-?\d[-+.\deE]*/g
/** Of what a double prints as: there are fewer. */
const mostPrinted = 30
const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** The same JSON with such numbers as marked texts. What is no JSON stays none. */
export function markOddNumbers(json: string): string {
  return json.replaceAll(tokens, (token) => (isOdd(token) ? JSON.stringify(mark + token) : token))
}

function isOdd(token: string): boolean {
  if (token.startsWith('"') || !numberPattern.test(token)) return false
  return token.length > mostPrinted || (String(Number(token)) !== token && exactInteger(token) === undefined)
}

/** The first number in a JSON text that no double holds: 1e400. */
export function firstOverflow(json: string): string | undefined {
  for (const [token] of json.matchAll(tokens)) {
    if (!token.startsWith('"') && !Number.isFinite(Number(token))) return token
  }
  return undefined
}

/** The value with its numbers again, and what they were written as known to the decoder. The value given is not changed. */
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

/** JSON in which marks became numbers again, as they were written. */
export function printWithoutMarks(json: string): string {
  return json.replaceAll(printedMark, "$1")
}

/**
 * JSON that was read as YAML: upstream's YAML knows integers of 64 bits, with a sign or without, and else doubles, which it prints as
 * such; what is beyond them is a text.
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
