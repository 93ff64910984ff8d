// The texts of raw values in the store, of which upstream keeps the bytes. A value with another text than the encoder prints is stored as
// that text, a JSON string in the place of an object, which it is not allowed to be. Readers parse it, and note its text at the value.

import { copyJson } from "../../../apimachinery/copy.ts"
import { equalJson } from "../../../apimachinery/equality.ts"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { isRawTextKnown, noteRawText, otherRawText, rawTextOf } from "../../../apimachinery/schema/decode/given.ts"
import { parseExactly } from "../../../apimachinery/schema/exact-integers.ts"
import {
  hasOtherRawTexts,
  printWithRawTexts,
  visitRawValues,
  visitRawValuesOfLists,
} from "../../../apimachinery/schema/raw-texts.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"
import type { Visit } from "../../../apimachinery/schema/ways.ts"
import { ComputedValue } from "./storage/value.ts"

interface Kind {
  schema: Schema
}

/** The object as it is stored: itself if the encoder prints all such texts. */
export function withRawTexts(kind: Kind, object: KubeObject): KubeObject {
  return withTexts(kind, object, visitRawValues)
}

/** The object as its managers are found. Upstream compares a raw value alone by what it says, and lists that contain some by their texts. */
export function withTextsOfLists(kind: Kind, object: KubeObject): KubeObject {
  return withTexts(kind, object, visitRawValuesOfLists)
}

function withTexts({ schema }: Kind, object: KubeObject, visitSome: typeof visitRawValues): KubeObject {
  const texts = new Map<string, string>()
  visitSome(schema, object as unknown as Json, (holder, key, _isItem, path) => {
    const text = otherRawText(holder[key])
    if (text !== undefined) texts.set(path, text)
  })
  if (texts.size === 0) return object
  const copy = copyJson(object)
  visitSome(schema, copy as unknown as Json, (holder, key, _isItem, path) => {
    const text = texts.get(path)
    if (text !== undefined) holder[key] = text
  })
  return copy
}

/** The object as it is read: itself if it was stored without such texts. */
export function withoutRawTexts(kind: Kind, stored: KubeObject): KubeObject {
  let hasNone = true
  visit(kind, stored, (holder, key) => {
    if (typeof holder[key] === "string") hasNone = false
  })
  if (hasNone) return stored
  const read = copyJson(stored)
  visit(kind, read, (holder, key) => {
    const text = holder[key]
    if (typeof text !== "string") return
    const value = parseExactly(text)
    noteRawText(value, text)
    holder[key] = value
  })
  return read
}

/** What is written without having been decoded, or has been changed by admission, has the texts of the current object's same values. */
export function keepRawTexts(kind: Kind, object: KubeObject, current: KubeObject): void {
  const before = new Map<string, Json>()
  visit(kind, current, (holder, key, _isItem, path) => {
    if (otherRawText(holder[key]) !== undefined) before.set(path, holder[key] ?? null)
  })
  if (before.size === 0) return
  visit(kind, object, (holder, key, _isItem, path) => {
    const value = holder[key] ?? null
    const old = before.get(path)
    if (old !== undefined && !isRawTextKnown(value) && equalJson(value, old)) noteRawText(value, rawTextOf(old))
  })
}

/** Whether an object has other such texts than the current one, with the same values. */
export function changesRawTexts(kind: Kind, object: KubeObject, current: KubeObject): boolean {
  const texts = new Set<string>()
  visit(kind, current, (holder, key, _isItem, path) => texts.add(`${path} ${rawTextOf(holder[key] ?? null)}`))
  let areSame = true
  visit(kind, object, (holder, key, _isItem, path) => {
    if (!texts.has(`${path} ${rawTextOf(holder[key] ?? null)}`)) areSame = false
  })
  return !areSame
}

/** What is answered with the object. */
export function computed({ schema }: Kind, object: KubeObject): ComputedValue {
  const json = object as unknown as Json
  return hasOtherRawTexts(schema, json)
    ? new ComputedValue(object, () => printWithRawTexts(schema, json))
    : new ComputedValue(object)
}

function visit({ schema }: Kind, object: KubeObject, call: Visit): void {
  visitRawValues(schema, object as unknown as Json, call)
}
