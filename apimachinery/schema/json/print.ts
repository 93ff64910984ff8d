// printJson() in steps, for objects with too many values for a single step (apimachinery/steps.ts).

import { printJson } from "../../go/print.ts"
import type { Json } from "../../object.ts"
import type { Steps } from "../../steps.ts"
import { LargeValues, type Walker } from "../large-values.ts"
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
  const values = value as Readonly<Record<string | number, Json | undefined>>
  const pieces: string[] = []
  // Printed together at the next step: to print each by itself takes three times as long.
  let gathered: Gathered = Array.isArray(value) ? [] : emptyObject()
  const print = (): void => {
    const text = form.print(gathered)
    if (text.length > 2) pieces.push(text.slice(1, -1))
    gathered = Array.isArray(value) ? [] : emptyObject()
  }
  const walker: Walker = {
    walk(key) {
      const inner = values[key]
      if (inner === undefined) return
      if (Array.isArray(gathered)) gathered.push(inner)
      else gathered[key] = inner
    },
    *walking(key) {
      print()
      const text = yield* printing(values[key] as Json, large, form)
      pieces.push(Array.isArray(value) ? text : `${form.print(key)}:${text}`)
    },
  }
  for (const _step of large.walking(any, value, walker, Array.isArray(value) ? undefined : form.keysOf?.(values))) {
    print()
    yield
  }
  print()
  return Array.isArray(value) ? `[${pieces.join(",")}]` : `{${pieces.join(",")}}`
}

/** Members of a list, or of an object, that have not been printed yet. */
type Gathered = Json[] | Record<string | number, Json>

/** A member may have any name. */
const emptyObject = (): Record<string | number, Json> => Object.create(null) as Record<string | number, Json>
