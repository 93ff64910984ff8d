// The fieldPath of a rule: .spec.a or ['a'], relative to its schema. Source:
// k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go.

import { dictionary } from "../../dictionary.ts"
import type { Json } from "../../object.ts"
import { FieldPath } from "../../field-errors.ts"
import { isObject, type JsonObject } from "../../schema/json-object.ts"

const token = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/y
const escapes: Readonly<Record<string, string>> = dictionary({
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
})

/** The path in the format of errors; undefined if there is no such field. */
export function normalFieldPath(path: string, schema: JsonObject): string | undefined {
  let at: Json | undefined = schema
  let result = FieldPath.root()
  let position = 0
  while (position < path.length) {
    token.lastIndex = position
    const match = token.exec(path)
    const name = match === null ? undefined : (match[1] ?? unescape(match[2] ?? ""))
    if (match === null || name === undefined || !isObject(at)) return undefined
    const { properties, additionalProperties }: JsonObject = at
    if (isObject(properties)) {
      if (!Object.hasOwn(properties, name)) return undefined
      at = properties[name]
      result = result.child(name)
    } else if (isObject(additionalProperties)) {
      at = additionalProperties
      result = result.key(name)
    } else return undefined
    position += match[0].length
  }
  return result.toString()
}

function unescape(text: string): string | undefined {
  let valid = true
  const plain = text.replace(/\\(.)/g, (_all, directive: string) => {
    const found = escapes[directive]
    if (found === undefined) valid = false
    return found ?? ""
  })
  return valid ? plain : undefined
}
