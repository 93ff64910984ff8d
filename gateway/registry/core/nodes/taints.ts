// Validates taints. Source: k8s.io/kubernetes/pkg/apis/core/validation (validateNodeTaints).

import { FieldError, type FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import { validateLabelValue } from "../../../../apimachinery/names.ts"
import type { Node } from "../../../../apimachinery/object.ts"
import { validateLabelName } from "../../validation/selectors.ts"
import { oneOf } from "../../validation/values.ts"

export type Taints = NonNullable<NonNullable<Node["spec"]>["taints"]>

export function validateTaints(path: FieldPath, taints: Taints = []): FieldError[] {
  const seen = new Set<string>()
  return taints.flatMap((taint: Partial<Taints[number]>, index) => {
    const at = path.index(index)
    const { key = "", value = "", effect = "" } = taint
    const errors = validateLabelName(at.child("key"), key)
    const faults = validateLabelValue(value)
    if (faults.length > 0) errors.push(invalidValue(at.child("value"), value, faults.join(";")))
    errors.push(...oneOf(at.child("effect"), effect, ["NoSchedule", "PreferNoSchedule", "NoExecute"]))
    const what = `${key}:${effect}`
    if (seen.has(what)) {
      const shown = { Key: key, Value: value, Effect: effect, TimeAdded: taint.timeAdded ?? null }
      errors.push(new FieldError("FieldValueDuplicate", at, shown, "taints must be unique by key and effect pair"))
    }
    seen.add(what)
    return errors
  })
}
