// JSON whose types are not those of Go's structs, in the words of Go. Source: encoding/json.

import type { Json } from "../../../apimachinery/object.ts"

export function cannotUnmarshal(value: Json, into: string): string {
  return `json: cannot unmarshal ${kindOf(value)} into Go ${into}`
}

function kindOf(value: Json): string {
  if (Array.isArray(value)) return "array"
  if (typeof value === "boolean") return "bool"
  return typeof value === "bigint" ? "number" : typeof value
}
