// Device selectors: their expressions are compiled when they are written. Source: k8s.io/kubernetes/pkg/apis/resource/validation
// (validateSelector).

import { compilingSelectors, type SelectorErrors } from "../../../apimachinery/cel/devices.ts"
import { type FieldError, type FieldPath, required } from "../../../apimachinery/field-errors.ts"
import type { Steps } from "../../../apimachinery/steps.ts"
import type { DeviceSelector } from "./types.ts"
import { limited, limits } from "./values.ts"

type Selectors = readonly DeviceSelector[] | undefined

/** Of those that validateSelectors() looks at, each once. */
export function expressionsOf(lists: readonly Selectors[]): ReadonlySet<string> {
  const few = lists.filter((selectors = []) => selectors.length <= limits.selectors)
  const given = few.flatMap((selectors = []) => selectors.flatMap(({ cel }) => (cel === undefined ? [] : [cel])))
  return new Set(given.map(({ expression = "" }) => expression))
}

/** A step compiles one expression. */
export function compilingAll(lists: readonly Selectors[]): Steps<SelectorErrors> {
  return compilingSelectors(expressionsOf(lists))
}

/** `compiled`: these, or these and others. */
export function validateSelectors(path: FieldPath, selectors: Selectors, compiled: SelectorErrors): FieldError[] {
  return limited(path, selectors, limits.selectors, (item, { cel }) => {
    const at = item.child("cel")
    if (cel === undefined) return [required(at)]
    const errorsAt = compiled.get(cel.expression ?? "")
    if (errorsAt === undefined) throw new Error(`the selector at ${at.toString()} has not been compiled`)
    return errorsAt(at.child("expression"))
  })
}
