// The texts of raw values (RawExtension), which upstream keeps byte for byte. Here they are parsed, and their texts are noted beside them
// (decode/given.ts). Few kinds have such values.

import { copyJson } from "../copy.ts"
import { fitForHtml, goJson, printJson } from "../go/print.ts"
import type { Json } from "../object.ts"
import { noteRawText, otherRawText } from "./decode/given.ts"
import { textsAt } from "./json/texts-at.ts"
import { type FieldSchema, rawExtension, type Schema } from "./schema.ts"
import { each, follow, type Visit, type Way, waysTo } from "./ways.ts"

/** The ways to raw values. */
const waysToRaw = waysTo(({ name }) => name === rawExtension)

export function hasRawValues(schema: Schema): boolean {
  return waysToRaw(schema).length > 0
}

export function visitRawValues(schema: Schema, object: Json, visit: Visit): void {
  for (const way of waysToRaw(schema)) follow(object, way, visit)
}

/** Those in lists that are compared as a whole. */
export function visitRawValuesOfLists(schema: Schema, object: Json, visit: Visit): void {
  for (const way of waysToRaw(schema)) if (isOfAtomicList(schema, way)) follow(object, way, visit)
}

function isOfAtomicList(schema: Schema, way: Way): boolean {
  let at: Schema | undefined = schema
  for (const step of way) {
    const field: FieldSchema | undefined = step === each ? undefined : at?.fields?.[step]
    at = step === each ? at?.items : field?.schema
    if (at?.type === "list" && (field?.listType ?? "atomic") === "atomic") return true
  }
  return false
}

/** `json`: what the object was decoded from. */
export function noteRawTexts(schema: Schema, object: Json, json: () => string): void {
  const ways = waysToRaw(schema)
  if (ways.length === 0) return
  const texts = textsAt(json(), ways)
  visitRawValues(schema, object, (holder, key, _isItem, path) => {
    const text = texts.get(path)
    if (text !== undefined) noteRawText(holder[key] ?? null, text)
  })
}

/** Of what was made in memory: upstream prints it anew, with sorted keys. */
export function noteSortedTexts(schema: Schema, object: Json): void {
  visitRawValues(schema, object, (holder, key) => {
    const value = holder[key] ?? null
    noteRawText(value, goJson(value))
  })
}

/** The text of a raw value in a JSON text, as the encoder makes it of that of the value: without spaces, and with its escapes. */
export function printedRawText(value: Json): string {
  const text = otherRawText(value)
  return text === undefined ? printJson(value) : fitForHtml(text.replaceAll(stringsAndBlanks, "$1"))
}

const stringsAndBlanks = /("[^"\\]*(?:\\[^][^"\\]*)*")|[ \t\r\n]+/g

export function hasOtherRawTexts(schema: Schema, object: Json): boolean {
  let hasOther = false
  visitRawValues(schema, object, (holder, key) => (hasOther ||= otherRawText(holder[key]) !== undefined))
  return hasOther
}

const mark = `\0raw ${crypto.randomUUID()} `
const printedMark = new RegExp(`"\\\\u0000raw ${mark.slice(5)}(\\d+)"`, "g")

/** The object as JSON, with the texts of its raw values. */
export function printWithRawTexts(schema: Schema, object: Json): string {
  const texts = new Map<string, string>()
  visitRawValues(schema, object, (holder, key, _isItem, path) => {
    if (otherRawText(holder[key]) !== undefined) texts.set(path, printedRawText(holder[key] ?? null))
  })
  const marked = copyJson(object)
  const printed: string[] = []
  visitRawValues(schema, marked, (holder, key, _isItem, path) => {
    const text = texts.get(path)
    if (text !== undefined) holder[key] = `${mark}${printed.push(text) - 1}`
  })
  return printJson(marked).replaceAll(printedMark, (_, index: string) => printed[Number(index)] ?? "null")
}
