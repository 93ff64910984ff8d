// Limits all expressions of one object together. Upstream limits only each of them (syntax/parser.ts), but a body has room for thirty
// of the longest, and compiling one takes the thread for hundredths of a second.

import { FieldError, type FieldPath } from "../field-errors.ts"

/** Characters. Beyond: 422. */
export const maxExpressions = 512 * 1024

/** The fields of rules, policies and match conditions that contain expressions. */
const isExpression = (name: string): boolean => name === "rule" || name.endsWith("xpression")

/** What was stored before may stay as large as it is. */
export function expressionsSizeErrors(path: FieldPath, given: unknown, current: unknown): FieldError[] {
  const size = expressionsSize(given)
  if (size <= maxExpressions || size <= expressionsSize(current)) return []
  const detail = `all expressions together must not have more than ${maxExpressions} characters`
  return [new FieldError("FieldValueTooLong", path, "", detail)]
}

/** Characters of all expressions in it. */
export function expressionsSize(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0
  let size = 0
  for (const [name, inner] of Object.entries(value))
    size += typeof inner !== "string" ? expressionsSize(inner) : isExpression(name) ? inner.length : 0
  return size
}
