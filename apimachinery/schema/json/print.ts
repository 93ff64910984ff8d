// printJson() in steps, for objects with too many values for a single step (apimachinery/steps.ts).

import { printJson } from "../../go/print.ts"
import type { Json } from "../../object.ts"
import type { Steps } from "../../steps.ts"
import { LargeValues, valuesAtOnce } from "../large-values.ts"
import type { Schema } from "../schema.ts"

/** Every value is looked into. */
const any: Schema = { type: "map" }
any.items = any

/** The same text. Fields that are undefined are omitted. */
export function* printingJson(value: Json): Steps<string> {
  const large = new LargeValues(() => true)
  return large.has(any, value) ? yield* printing(value, large) : printJson(value)
}

function* printing(value: Json, large: LargeValues): Steps<string> {
  const isList = Array.isArray(value)
  const values = value as Readonly<Record<string | number, Json | undefined>>
  const pieces: string[] = []
  let texts: string[] = []
  const add = (key: string | number, printed: string): void => {
    if (texts.length >= valuesAtOnce) {
      pieces.push(texts.join(","))
      texts = []
    }
    texts.push(isList ? printed : `${printJson(key as string)}:${printed}`)
  }
  yield* large.walking(any, value, {
    walk(key) {
      const inner = values[key]
      if (inner !== undefined) add(key, printJson(inner))
    },
    *walking(key) {
      add(key, yield* printing(values[key] as Json, large))
    },
  })
  if (pieces.length > 0) yield
  if (texts.length > 0) pieces.push(texts.join(","))
  return isList ? `[${pieces.join(",")}]` : `{${pieces.join(",")}}`
}
