// Visits every schema in an openAPIV3Schema, including itself, which comes first.

import type { Json } from "../../../apimachinery/object.ts"
import { isObject, type JsonObject } from "../../../apimachinery/schema/json-object.ts"

const maps = ["properties"] as const
const lists = ["allOf", "anyOf", "oneOf"] as const
const single = ["items", "additionalProperties", "not"] as const

export function walkSchemas(schema: Json | undefined, visit: (schema: JsonObject) => void): void {
  if (!isObject(schema)) return
  visit(schema)
  for (const keyword of maps) {
    const inner = schema[keyword]
    if (isObject(inner)) for (const property of Object.values(inner)) walkSchemas(property, visit)
  }
  for (const keyword of lists) {
    const inner = schema[keyword]
    if (Array.isArray(inner)) for (const item of inner) walkSchemas(item, visit)
  }
  for (const keyword of single) walkSchemas(schema[keyword], visit)
}
