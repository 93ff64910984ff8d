// VolumeAttributesClasses. Source: k8s.io/kubernetes/pkg/apis/storage.

import {
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateQualifiedName } from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { named } from "../../validation/values.ts"

type AttributesClass = KubeObject & { driverName?: string; parameters?: Record<string, string> }

const driver = FieldPath.root("driverName")
const parameters = FieldPath.root("parameters")

const strategy: Strategy<AttributesClass> = {
  generation: false,
  validate: (_ctx, object) => validate(object),
  validateUpdate(_ctx, object, current) {
    const errors: FieldError[] = []
    if (object.driverName !== current.driverName) {
      errors.push(forbiddenField(driver, "updates to driverName are forbidden."))
    }
    if (!semanticEqual(object.parameters, current.parameters)) {
      errors.push(forbiddenField(parameters, "updates to parameters are forbidden."))
    }
    return [...errors, ...validate(object)]
  },
}

export const volumeAttributesClasses: KindExtension = { strategy }

function validate(object: AttributesClass): FieldError[] {
  const keys = Object.keys(object.parameters ?? {})
  return [
    ...named(driver, object.driverName?.toLowerCase(), validateQualifiedName),
    ...keys.filter((key) => key === "").map((key) => invalidValue(parameters, key, "field can not be empty.")),
    ...(keys.length === 0 ? [required(parameters, "must contain at least one key/value pair")] : []),
  ]
}
