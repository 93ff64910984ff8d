// Why the structure of a schema cannot be checked at all: an unsupported keyword at any level. Source: NewStructural in
// k8s.io/apiextensions-apiserver/pkg/apiserver/schema/convert.go.

import type { Json } from "../../object.ts"
import { isObject, type JsonObject } from "../json-object.ts"

/** The first fault, in upstream's order. */
export function formFault(schema: JsonObject): string | undefined {
  for (const [keyword, name = keyword] of unsupported) {
    if (isGiven(keyword, schema[keyword])) return `OpenAPIV3Schema '${name}' is not supported`
  }
  const { not, allOf, anyOf, oneOf, items, properties, additionalProperties } = schema
  const alternatives = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []))
  const fault = faultOf([not, ...alternatives])
  if (fault !== undefined) return fault
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  }
  if (Array.isArray(items) && items.length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  return faultOf([items, ...(isObject(properties) ? Object.values(properties) : []), additionalProperties])
}

function faultOf(schemas: readonly (Json | undefined)[]): string | undefined {
  for (const schema of schemas) {
    const fault = schema !== undefined && isObject(schema) ? formFault(schema) : undefined
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Keywords, with upstream's name if it differs. */
const unsupported: readonly (readonly [string, string?])[] = [
  ["id"],
  ["$schema", "schema"],
  ["$ref"],
  ["patternProperties"],
  ["dependencies"],
  ["additionalItems"],
  ["definitions"],
]

/** A schema counts even if it is empty, a map of schemas does not. */
function isGiven(keyword: string, value: Json | undefined): boolean {
  if (isObject(value) && Object.keys(value).length === 0) return keyword === "additionalItems"
  return value !== undefined && value !== null && value !== ""
}
