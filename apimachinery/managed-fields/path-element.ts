// One element of a field's path in the format of FieldsV1: "f:name" for a field or a map's key, "k:{…}" for a list's item by its keys,
// "v:…" for a set's item by its value, "i:0" for an item by its index. Elements are their texts: each element has only one canonical
// text, so equal elements have equal texts. Source: sigs.k8s.io/structured-merge-diff/v6/fieldpath (element.go,
// serialize-pe.go).

import { printJson } from "../go/print.ts"
import type { Json } from "../object.ts"
import { int64, parseExactly } from "../schema/exact-integers.ts"
import { firstOverflow } from "../schema/json/number-literals.ts"
import { maxDepth, survey } from "../schema/json/survey.ts"
import { isObject, sortedEntries, sortedKeys } from "../schema/json-object.ts"
import { atOnce, mostAtOnce, type Steps } from "../steps.ts"
import { compareText, sortingTexts } from "../go/text-order.ts"

export type PathElement = string

/** In a set: the place itself. */
export const self: PathElement = "."

export function fieldElement(name: string): PathElement {
  return `f:${name}`
}

/** `fields` are sorted by name. */
export function keyElement(fields: readonly (readonly [string, Json])[]): PathElement {
  let text = ""
  for (const [name, value] of fields) text += `${text === "" ? "" : ","}${encode(name)}:${encode(value)}`
  return `k:{${text}}`
}

export function valueElement(value: Json): PathElement {
  return `v:${encode(value)}`
}

const plain = /^[\w ./:@-]*$/

/** Escaped like Go's JSON encoder, which escapes characters that are special in HTML. */
function encode(value: Json): string {
  if (Object.is(value, -0)) return "-0"
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value)
  if (typeof value === "string" && plain.test(value)) return `"${value}"`
  return printJson(value)
}

/** The canonical text; undefined for an unknown kind of element, which is skipped. Throws SyntaxError. */
export function canonicalElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new SyntaxError("key must be 2 characters long:")
  if (text[1] !== ":") throw new SyntaxError(`missing colon: ${text}`)
  switch (text[0]) {
    case "f":
      return text
    case "v":
      return valueElement(valueIn(text))
    case "k": {
      const keys = valueIn(text) ?? {}
      if (!isObject(keys)) throw new SyntaxError(`no object of keys: ${text}`)
      return keyElement(sortedEntries(keys))
    }
    case "i":
      return `i:${indexIn(text)}`
    default:
      return undefined
  }
}

const mayOverflow = /\d[eE]|\d{300}/

function valueIn(text: string): Json {
  const json = text.slice(2)
  if (survey(Buffer.from(json)).depth > maxDepth) throw new SyntaxError(`nested too deeply: ${text.slice(0, 20)}`)
  // What is too large for a double would be parsed as Infinity.
  if (mayOverflow.test(json) && firstOverflow(json) !== undefined)
    throw new SyntaxError(`a number is out of range: ${text}`)
  return sortedKeys(parseExactly(json))
}

function indexIn(text: string): bigint {
  const digits = text.slice(2)
  const index = /^[+-]?\d{1,40}$/.test(digits) ? BigInt(digits.replace("+", "")) : undefined
  if (index === undefined || index < int64.min || index > int64.max) throw new SyntaxError(`no index: ${text}`)
  return index
}

/** An element with a single value that is a text without escapes, as most items of lists have: what precedes the text, and the text. */
const ofOneText = /^(k:\{"[^"\\]*":|v:)"([^"\\]*)"\}?$/

const kinds = ".fkvi"

/** The serialization order of a set's members; the place itself comes first. */
export function compareElements(a: PathElement, b: PathElement, read = reading): number {
  const kind = a.charCodeAt(0)
  if (kind !== b.charCodeAt(0)) return kinds.indexOf(a.charAt(0)) - kinds.indexOf(b.charAt(0))
  if (kind === 0x66 /* f */) return compareText(a, b)
  if (a === b) return 0
  const [, start, text = ""] = ofOneText.exec(a) ?? []
  const [, otherStart, otherText = ""] = start === undefined ? [] : (ofOneText.exec(b) ?? [])
  if (start !== undefined && start === otherStart) return compareText(text, otherText)
  const [left, right] = [read(a), read(b)]
  return kind === 0x6b /* k */ ? compareKeys(left.keys, right.keys) : compareValues(left.value, right.value)
}

/** Sorts different elements in place. */
export function sortElements(elements: PathElement[]): void {
  atOnce(sortingElements(elements))
}

/** The same with pauses, for very many. */
export function* sortingElements(elements: PathElement[]): Steps<void> {
  const byText = yield* textsOf(elements)
  if (byText === undefined) {
    sortParsed(elements)
    return
  }
  const texts = [...byText.keys()]
  yield* sortingTexts(texts)
  for (const [index, text] of texts.entries()) {
    if (index % mostAtOnce === mostAtOnce - 1) yield
    elements[index] = byText.get(text) ?? ""
  }
}

/** undefined if the elements do not differ by a single text only. */
function* textsOf(elements: readonly PathElement[]): Steps<Map<string, PathElement> | undefined> {
  const byText = new Map<string, PathElement>()
  let common: string | undefined
  for (const [index, element] of elements.entries()) {
    if (index % mostAtOnce === mostAtOnce - 1) yield
    const [, start, text] = ofOneText.exec(element) ?? []
    if (start === undefined || text === undefined || start !== (common ??= start)) return undefined
    byText.set(text, element)
  }
  return byText
}

/** Each element is parsed only once, because parsing dominates the cost of sorting thousands. */
function sortParsed(elements: PathElement[]): void {
  const readings = new Map<PathElement, Reading>()
  const read = (element: PathElement): Reading => {
    let found = readings.get(element)
    if (found === undefined) readings.set(element, (found = reading(element)))
    return found
  }
  elements.sort((a, b) => compareElements(a, b, read))
}

/** The parsed content of an element. */
interface Reading {
  value: Json
  /** Sorted by name. */
  keys: [string, Json][]
}

function reading(element: PathElement): Reading {
  const value = parseExactly(element.slice(2))
  return { value, keys: isObject(value) ? sortedEntries(value) : [] }
}

function compareKeys(left: readonly [string, Json][], right: readonly [string, Json][]): number {
  for (const [index, [name, value]] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    const order = compareText(name, other[0]) || compareValues(value, other[1])
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** In this order: numbers, strings, booleans, lists, maps, null. */
function compareValues(a: Json, b: Json): number {
  const order = typeRank(a) - typeRank(b)
  if (order !== 0) return order
  if (typeof a === "string" && typeof b === "string") return compareText(a, b)
  if (Array.isArray(a) && Array.isArray(b)) {
    for (const [index, item] of a.entries()) {
      const other = b[index]
      if (other === undefined) return 1
      const found = compareValues(item, other)
      if (found !== 0) return found
    }
    return a.length - b.length
  }
  if (isObject(a)) return compareKeys(sortedEntries(a), isObject(b) ? sortedEntries(b) : [])
  if (typeof a === "bigint" || typeof b === "bigint") return a === b ? 0 : (a ?? 0) < (b ?? 0) ? -1 : 1
  return Number(a) - Number(b)
}

function typeRank(value: Json): number {
  if (value === null) return 5
  if (Array.isArray(value)) return 3
  const type = typeof value
  return type === "number" || type === "bigint" ? 0 : type === "string" ? 1 : type === "boolean" ? 2 : 4
}

/** As in messages: `.spec`, `[name="a"]`, `[="x"]`, `[0]`. */
export function printElement(element: PathElement): string {
  const rest = element.slice(2)
  switch (element[0]) {
    case "f":
      return `.${rest}`
    case "k": {
      const parts = reading(element).keys.map(([name, value]) => `${name}=${printValue(value)}`)
      return `[${parts.join(",")}]`
    }
    case "v":
      return `[=${printValue(reading(element).value)}]`
    default:
      return `[${rest}]`
  }
}

function printValue(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(printValue).join(",")}]`
  if (isObject(value))
    return sortedEntries(value).reduce((text, [name, item]) => `${text}${name}=${printValue(item)}`, "")
  return JSON.stringify(value)
}
