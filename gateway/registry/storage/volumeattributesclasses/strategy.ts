// VolumeAttributesClasses. Source: k8s.io/kubernetes/pkg/apis/storage.

import { type FieldError, FieldPath, forbiddenField, required } from "../../../../apimachinery/field-errors.ts"
import { validateQualifiedName } from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { validateParameters } from "../parameters.ts"
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
  const isEmpty = Object.keys(object.parameters ?? {}).length === 0
  return [
    ...named(driver, object.driverName?.toLowerCase(), validateQualifiedName),
    ...validateParameters(parameters, object.parameters),
    ...(isEmpty ? [required(parameters, "must contain at least one key/value pair")] : []),
  ]
}
