// The texts of raw values that a JSON or merge patch makes. Upstream patches the text of an object: what a patch does not look into remains
// as it was, and numbers have the literals that they were given.

import { copyJson } from "../../../apimachinery/copy.ts"
import { printJson } from "../../../apimachinery/go/print.ts"
import type { Json } from "../../../apimachinery/object.ts"
import { noteRawText, otherRawText } from "../../../apimachinery/schema/decode/given.ts"
import { parseExactly } from "../../../apimachinery/schema/exact-integers.ts"
import { isObject } from "../../../apimachinery/schema/json-object.ts"
import { markOddNumbers, printWithoutMarks } from "../../../apimachinery/schema/json/number-literals.ts"
import { hasOtherRawTexts, printedRawText, visitRawValues } from "../../../apimachinery/schema/raw-texts.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"

/** The object as a patch finds it, with marks for the literals of numbers in raw values: itself if the encoder prints all of their texts. */
export function withMarkedTexts(schema: Schema, object: Json): Json {
  if (!hasOtherRawTexts(schema, object)) return object
  const texts = new Map<string, string>()
  visitRawValues(schema, object, (holder, key, _isItem, path) => {
    if (otherRawText(holder[key]) !== undefined) texts.set(path, printedRawText(holder[key] ?? null))
  })
  const marked = copyJson(object)
  visitRawValues(schema, marked, (holder, key, _isItem, path) => {
    const text = texts.get(path)
    if (text === undefined) return
    const value = parseExactly(markOddNumbers(text))
    noteRawText(value, text)
    holder[key] = value
  })
  return marked
}

interface Patched {
  before: Json
  /** What became of it, in the order of upstream's text. */
  after: Json
  /** Places that operations of a JSON patch name, which copies all others: what a merge has not looked into is the same object. */
  named?: readonly string[]
}

/** `decoded`: what it became. */
export function notePatchedTexts(schema: Schema, { before, after, named }: Patched, decoded: Json): void {
  const left = new Map<string, Json>()
  visitRawValues(schema, before, (holder, key, _isItem, path) => left.set(path, holder[key] ?? null))
  const texts = new Map<string, string>()
  visitRawValues(schema, after, (holder, key, _isItem, path) => {
    const value = holder[key] ?? null
    const old = left.get(path) ?? null
    const isLeft = value === old || named?.some((place) => isWithin(place, path) || isWithin(path, place)) === false
    texts.set(path, (isLeft ? otherRawText(old) : undefined) ?? printWithoutMarks(printJson(value)))
  })
  visitRawValues(schema, decoded, (holder, key, _isItem, path) => {
    const text = texts.get(path)
    if (text !== undefined) noteRawText(holder[key] ?? null, text)
  })
}

const isWithin = (path: string, other: string): boolean => path === other || path.startsWith(`${other}/`)

/** In what a JSON patch has. */
export function placesNamedIn(patch: Json): string[] {
  const operations = Array.isArray(patch) ? patch.filter(isObject) : []
  return operations.flatMap(({ path, from }) => [path, from].filter((place) => typeof place === "string"))
}

/** A merge leaves the objects it has traversed as maps, whose fields are printed in alphabetical order. */
export function inMergedOrder(value: Json, patch: Json): Json {
  if (!isObject(value) || !isObject(patch)) return value
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [
    key,
    inMergedOrder(inner, patch[key] ?? null),
  ])
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
