// Selectors of devices: what they say is compiled when it is written. Source:
// k8s.io/kubernetes/pkg/apis/resource/validation (validateSelector).

import { deviceSelectorErrors } from "../../../apimachinery/cel/devices.ts"
import { type FieldError, FieldPath, required } from "../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import type { KindExtension } from "../strategy.ts"

export interface DeviceSelector {
  cel?: { expression?: string }
}

export function validateSelectors(at: FieldPath, selectors: readonly DeviceSelector[] = []): FieldError[] {
  return selectors.flatMap(({ cel }, index) => {
    const path = at.index(index).child("cel")
    return cel === undefined ? [required(path)] : deviceSelectorErrors(path.child("expression"), cel.expression ?? "")
  })
}

type DeviceClass = KubeObject & { spec?: { selectors?: DeviceSelector[] } }

const validate = (_ctx: unknown, { spec }: DeviceClass): FieldError[] =>
  validateSelectors(FieldPath.root("spec", "selectors"), spec?.selectors)

export const deviceClasses: KindExtension = { strategy: { validate, validateUpdate: validate } }
