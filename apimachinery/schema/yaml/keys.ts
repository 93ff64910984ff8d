// Keys of YAML maps that no JSON object can have, in Go's words. Source: sigs.k8s.io/yaml (convertToJSONableObject) and
// go.yaml.in/yaml/v2 (decode.go).

import { isCollection, isNode, isScalar, type YAMLMap } from "yaml"
import { goQuote } from "../../go-quote.ts"

/** Undefined: all of the map's own keys are texts, or become some. */
export function keyFault({ items }: YAMLMap): string | undefined {
  for (const { key, value } of items) {
    if (isCollection(key)) return `yaml: invalid map key: ${printGo(key.toJSON())}`
    if (!isScalar(key) || key.value !== null) continue
    const [start = 0, end = 0] = key.range ?? []
    const isWritten = end > start || value === null // with a question mark alone
    if (!isWritten) return "yaml: did not find expected key"
    const shown = isNode(value) ? printGo(value.toJSON()) : "<nil>"
    return `unsupported map key of type: %!s(<nil>), key: <nil>, value: ${shown}`
  }
  return undefined
}

/** As %#v prints what YAML is decoded into. */
function printGo(value: unknown): string {
  if (value === null || value === undefined) return "<nil>"
  if (typeof value === "string") return goQuote(value)
  if (typeof value !== "object") return JSON.stringify(value)
  if (Array.isArray(value)) return `[]interface {}{${value.map(printGoInner).join(", ")}}`
  const entries = Object.entries(value).map(([key, inner]) => `${goQuote(key)}:${printGoInner(inner)}`)
  return `map[interface {}]interface {}{${entries.join(", ")}}`
}

function printGoInner(value: unknown): string {
  return value === null ? "interface {}(nil)" : printGo(value)
}
