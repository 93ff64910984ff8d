// Comparisons in filters, which require values of the same type. Source: k8s.io/client-go/third_party/forked/golang/template
// (funcs.go).

import { isInteger, narrowest } from "../../../apimachinery/schema/exact-integers.ts"
import { OwnNumber } from "./parse.ts"

/** Returns undefined if values of these types cannot be compared by this operator. */
export function compareValues(operator: string, left: unknown, right: unknown): boolean | undefined {
  const kind = kindOf(left)
  if (kind === undefined || kindOf(right) !== kind) return undefined
  const [a, b] = [plain(left), plain(right)]
  if (operator === "==") return a === b
  if (operator === "!=") return a !== b
  if (kind === "boolean") return undefined
  switch (operator) {
    case "<":
      return a < b
    case "<=":
      return a <= b
    case ">":
      return a > b
    case ">=":
      return a >= b
    default:
      return undefined
  }
}

type Plain = string | number | bigint | boolean

function kindOf(value: unknown): "integer" | "float" | "string" | "boolean" | undefined {
  if (value instanceof OwnNumber) return value.type
  if (isInteger(value)) return "integer"
  if (typeof value === "number") return "float"
  return typeof value === "string" ? "string" : typeof value === "boolean" ? "boolean" : undefined
}

/** All integers have the same type. */
function plain(value: unknown): Plain {
  const own = value instanceof OwnNumber ? value.value : (value as Plain)
  return typeof own === "bigint" ? narrowest(own) : own
}
