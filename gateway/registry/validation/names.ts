// Validates names with additional constraints, reporting only errors of metadata.name and generateName.

import { type FieldError, FieldPath, invalidValue } from "../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"

export function validateOwnNames(
  { metadata: { name, generateName } }: KubeObject,
  rule: (name: string, isPrefix: boolean) => string[],
): FieldError[] {
  const path = FieldPath.root("metadata")
  return [
    ...(generateName
      ? rule(generateName, true).map((fault) => invalidValue(path.child("generateName"), generateName, fault))
      : []),
    ...(name ? rule(name, false).map((fault) => invalidValue(path.child("name"), name, fault)) : []),
  ]
}
