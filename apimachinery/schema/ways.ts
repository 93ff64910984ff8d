// Where the values of some type are in objects of a kind, which is found once per kind: most kinds have none.

import type { Json } from "../object.ts"
import { isObject, type JsonObject } from "./json-object.ts"
import type { FieldSchema, Schema } from "./schema.ts"

/** The way to such values: the names of fields, and `each` for all items of a list or values of a map. */
export type Way = readonly (string | typeof each)[]

export const each = Symbol("each")
const none: readonly Way[] = []

/** Whether values of this type are meant. `field`: if they are values of a field, and not items of `holder`. */
type Question = (schema: Schema, holder: Schema, field: FieldSchema | undefined) => boolean

/** Returns what finds the ways in a kind. What contains itself has no such values, nor have custom resources. */
export function waysTo(isMeant: Question): (schema: Schema) => readonly Way[] {
  const found = new WeakMap<Schema, readonly Way[]>()
  const waysIn = (schema: Schema): readonly Way[] => {
    const known = found.get(schema)
    if (known !== undefined) return known
    found.set(schema, none)
    const beyond = (step: string | typeof each, inner: Schema, field?: FieldSchema): Way[] =>
      isMeant(inner, schema, field) ? [[step]] : waysIn(inner).map((way): Way => [step, ...way])
    const ways: Way[] = []
    if (schema.custom !== true) {
      for (const [name, field] of Object.entries(schema.fields ?? {})) ways.push(...beyond(name, field.schema, field))
      if (schema.items !== undefined) ways.push(...beyond(each, schema.items))
    }
    const all = ways.length === 0 ? none : ways
    found.set(schema, all)
    return all
  }
  return waysIn
}

/** `holder`: the object, list or map that has the value, or may have it. `isItem`: it is no field. `path`: different for each value. */
export type Visit = (holder: JsonObject, key: string, isItem: boolean, path: string) => void

/** Visits all values in the object that the way leads to. */
export function follow(value: Json | undefined, way: Way, visit: Visit): void {
  followFrom(value, way, 0, "", visit)
}

function followFrom(value: Json | undefined, way: Way, at: number, path: string, visit: Visit): void {
  const step = way[at]
  if (typeof value !== "object" || value === null || step === undefined) return
  const isLast = at === way.length - 1
  if (step !== each) {
    if (!isObject(value)) return
    if (isLast) visit(value, step, false, `${path}/${step}`)
    else followFrom(value[step], way, at + 1, `${path}/${step}`, visit)
    return
  }
  for (const [key, item] of Object.entries(value)) {
    if (isLast) visit(value as JsonObject, key, true, `${path}/${key}`)
    else followFrom(item, way, at + 1, `${path}/${key}`, visit)
  }
}
