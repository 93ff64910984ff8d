// The parameters of a class of volumes, which only its driver understands. Source: k8s.io/kubernetes/pkg/apis/storage/validation
// validateParameters.

import { type FieldError, type FieldPath, invalidValue, tooLong } from "../../../apimachinery/field-errors.ts"

const maxParameters = 512
const maxBytes = 256 * 1024

export function validateParameters(at: FieldPath, parameters: Readonly<Record<string, string>> = {}): FieldError[] {
  const entries = Object.entries(parameters)
  if (entries.length > maxParameters) return [tooLong(at, "", maxParameters)]
  const bytes = entries.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0)
  return [
    ...(entries.some(([name]) => name === "") ? [invalidValue(at, "", "field can not be empty.")] : []),
    ...(bytes > maxBytes ? [tooLong(at, "", maxBytes)] : []),
  ]
}
