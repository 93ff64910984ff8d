// printJson() in steps, for objects with too many values for a single step (apimachinery/steps.ts).

import { printJson } from "../../go/print.ts"
import type { Json } from "../../object.ts"
import type { Steps } from "../../steps.ts"
import { LargeValues, type Walker, valuesAtOnce } from "../large-values.ts"
import type { Schema } from "../schema.ts"

/** Every value is looked into. */
const any: Schema = { type: "map" }
any.items = any

/** How values are printed that are not large, and which fields objects have, in which order. */
interface Form {
  print(value: Json): string
  keysOf?(object: Readonly<Record<string, Json | undefined>>): Iterable<string>
}

/** The same text, or in another form. Fields that are undefined are omitted. */
export function* printingJson(value: Json, form: Form = { print: printJson }): Steps<string> {
  const large = new LargeValues(() => true)
  return large.has(any, value) ? yield* printing(value, large, form) : form.print(value)
}

function* printing(value: Json, large: LargeValues, form: Form): Steps<string> {
  const isList = Array.isArray(value)
  const values = value as Readonly<Record<string | number, Json | undefined>>
  const pieces: string[] = []
  let texts: string[] = []
  const add = (key: string | number, printed: string): void => {
    if (texts.length >= valuesAtOnce) {
      pieces.push(texts.join(","))
      texts = []
    }
    texts.push(isList ? printed : `${form.print(key)}:${printed}`)
  }
  const walker: Walker = {
    walk(key) {
      const inner = values[key]
      if (inner !== undefined) add(key, form.print(inner))
    },
    *walking(key) {
      add(key, yield* printing(values[key] as Json, large, form))
    },
  }
  yield* large.walking(any, value, walker, isList ? undefined : form.keysOf?.(values))
  if (pieces.length > 0) yield
  if (texts.length > 0) pieces.push(texts.join(","))
  return isList ? `[${pieces.join(",")}]` : `{${pieces.join(",")}}`
}
