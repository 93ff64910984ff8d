// Device selectors: their expressions are compiled when they are written. Source: k8s.io/kubernetes/pkg/apis/resource/validation
// (validateSelector).

import { deviceSelectorErrors } from "../../../apimachinery/cel/devices.ts"
import { type FieldError, type FieldPath, required } from "../../../apimachinery/field-errors.ts"
import type { DeviceSelector } from "./types.ts"
import { limited, limits } from "./values.ts"

export function validateSelectors(path: FieldPath, selectors: readonly DeviceSelector[] | undefined): FieldError[] {
  return limited(path, selectors, limits.selectors, (item, { cel }) => {
    const at = item.child("cel")
    return cel === undefined ? [required(at)] : deviceSelectorErrors(at.child("expression"), cel.expression ?? "")
  })
}
