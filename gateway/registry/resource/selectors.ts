// Device selectors: their expressions are compiled when they are written. Source: k8s.io/kubernetes/pkg/apis/resource/validation
// (validateSelector).

import { compilingSelectors, type SelectorErrors } from "../../../apimachinery/cel/devices.ts"
import { type FieldError, type FieldPath, required } from "../../../apimachinery/field-errors.ts"
import type { Steps } from "../../../apimachinery/steps.ts"
import type { DeviceSelector } from "./types.ts"
import { limited, limits } from "./values.ts"

type Selectors = readonly DeviceSelector[] | undefined

/** Of those that validateSelectors() looks at. A step compiles one. */
export function compilingAll(lists: readonly Selectors[]): Steps<SelectorErrors> {
  const few = lists.filter((selectors = []) => selectors.length <= limits.selectors)
  const given = few.flatMap((selectors = []) => selectors.flatMap(({ cel }) => (cel === undefined ? [] : [cel])))
  return compilingSelectors(given.map(({ expression = "" }) => expression))
}

/** `compiled`: these, or these and others. */
export function validateSelectors(path: FieldPath, selectors: Selectors, compiled: SelectorErrors): FieldError[] {
  return limited(path, selectors, limits.selectors, (item, { cel }) => {
    const at = item.child("cel")
    return cel === undefined ? [required(at)] : (compiled.get(cel.expression ?? "")?.(at.child("expression")) ?? [])
  })
}
