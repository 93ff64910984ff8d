// What has not been touched may stay as wrong as it was. Source:
// k8s.io/apiextensions-apiserver/pkg/apiserver/validation/ratcheting.go.

import { type Correlation, fieldCorrelation, itemCorrelation } from "../../apimachinery/cel/rules/correlation.ts"
import { equalJson } from "../../apimachinery/equality.ts"
import { type FieldError, FieldPath } from "../../apimachinery/field-errors.ts"
import type { Json, KubeObject } from "../../apimachinery/object.ts"
import { isObject } from "../../apimachinery/schema/json-object.ts"
import type { Faults } from "../../apimachinery/schema/validate.ts"

/** Without the errors about what is as it was. */
export function newErrors(
  { errors, owners }: Faults,
  object: KubeObject,
  current: KubeObject,
  schema: Json | undefined,
): FieldError[] {
  if (errors.length === 0 || !isObject(schema)) return [...errors]
  const unchanged = new Set<string>()
  const root = { value: object as unknown as Json, old: current as unknown as Json, schema }
  // The object itself has changed, or nobody would ask.
  for (const name of Object.keys(object)) collect(fieldCorrelation(root, name), [FieldPath.root(name)], unchanged)
  return errors.filter((error) => !isWithin(owners.get(error) ?? error.field, unchanged))
}

/** `paths`: an entry of a map is written in one of two ways. */
function collect(at: Correlation | undefined, paths: readonly FieldPath[], unchanged: Set<string>): void {
  if (at === undefined) return
  if (equalJson(at.value, at.old)) {
    for (const path of paths) unchanged.add(path.toString())
    return
  }
  if (Array.isArray(at.value)) {
    for (const index of at.value.keys()) {
      collect(
        itemCorrelation(at, index),
        paths.map((path) => path.index(index)),
        unchanged,
      )
    }
  } else if (isObject(at.value)) {
    const isMap = isObject(at.schema["additionalProperties"])
    for (const name of Object.keys(at.value)) {
      const below = paths.flatMap((path) => [path.child(name), ...(isMap ? [path.key(name)] : [])])
      collect(fieldCorrelation(at, name), below, unchanged)
    }
  }
}

function isWithin(field: string, unchanged: ReadonlySet<string>): boolean {
  if (unchanged.has(field)) return true
  for (let end = field.length - 1; end > 0; end--) {
    const next = field[end]
    if ((next === "." || next === "[") && unchanged.has(field.slice(0, end))) return true
  }
  return false
}
