// Paths of fields within a schema, as rules and selectable fields have them: .spec.a or ['a'], relative to the schema. Source:
// ValidFieldPath in k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go.

import { dictionary } from "../../dictionary.ts"
import { FieldPath } from "../../field-errors.ts"
import { isObject, type JsonObject, ownValue } from "../../schema/json-object.ts"

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

/** Where a path leads: the path in the format of errors, and the schema there, if there is one. */
type Followed = { path: FieldPath; schema: JsonObject | undefined } | { fault: string }

const notThere = { fault: "does not refer to a valid field" }
const tooShort = { fault: "unexpected end of JSON path" }

/** `brackets`: whether names may be in brackets. */
export function followFieldPath(
  text: string,
  schema: JsonObject | undefined,
  { brackets }: { brackets: boolean },
): Followed {
  const tokens = tokensOf(text)
  let at: { path: FieldPath; schema: JsonObject | undefined } = { path: FieldPath.root(), schema }
  for (const token of tokens) {
    if (token === "[" && !brackets) return { fault: "array notation is not allowed" }
    if (token !== "." && token !== "[") return { fault: `expected [ or . but got: ${token}` }
    const { value: given } = tokens.next()
    if (given === undefined) return tooShort
    const name = token === "." ? given : unquote(given)
    if (name === undefined) return { fault: `expected single quoted string but got ${given}` }
    const next = step(at, name)
    if (next === undefined) return notThere
    at = next
    if (token === ".") continue
    const { value: end } = tokens.next()
    if (end !== "]") return end === undefined ? tooShort : { fault: `expected ] but got ${end}` }
  }
  return at
}

type Place = Extract<Followed, { path: FieldPath }>

/** A map has every field, even if it has no schema for them. Upstream fails completely below such a field. */
function step({ path, schema }: Place, name: string): Place | undefined {
  const { properties, additionalProperties: more } = schema ?? {}
  const field = isObject(properties) ? ownValue(properties, name) : undefined
  if (isObject(field)) return { path: path.child(name), schema: field }
  if (more === undefined || more === null || (isObject(properties) && !isEmpty(properties))) return undefined
  return { path: path.key(name), schema: isObject(more) ? more : undefined }
}

/** Known maps of properties: to list the keys of very many takes milliseconds, and thousands of rules may have paths through them. */
const areEmpty = new WeakMap<JsonObject, boolean>()

function isEmpty(properties: JsonObject): boolean {
  let known = areEmpty.get(properties)
  if (known === undefined) areEmpty.set(properties, (known = Object.keys(properties).length === 0))
  return known
}

const delimiter = /[.[\]]/g

/** Delimiters, and what is between them. A quote at the beginning hides delimiters up to the next one. */
function* tokensOf(text: string): Generator<string, undefined> {
  for (let at = 0; at < text.length;) {
    const end = endOf(text, at)
    yield text.slice(at, end)
    at = end
  }
  return undefined
}

function endOf(text: string, at: number): number {
  if (text[at] === "'") {
    let end = text.indexOf("'", at + 1)
    while (end > 0 && text[end - 1] === "\\") end = text.indexOf("'", end + 1)
    return end < 0 ? text.length : end + 1
  }
  delimiter.lastIndex = at
  const next = delimiter.exec(text)?.index ?? text.length
  return next === at ? at + 1 : next
}

function unquote(token: string): string | undefined {
  return token.length > 1 && token.startsWith("'") && token.endsWith("'") ? unescape(token.slice(1, -1)) : undefined
}

/** The path in the format of errors; undefined if there is no such field. */
export function normalFieldPath(path: string, schema: JsonObject): string | undefined {
  const followed = followFieldPath(path, schema, { brackets: true })
  return "fault" in followed ? undefined : followed.path.toString()
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
