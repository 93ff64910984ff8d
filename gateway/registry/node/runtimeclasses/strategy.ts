// RuntimeClasses. Source: k8s.io/kubernetes/pkg/apis/node.

import { FieldPath } from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label } from "../../../../apimachinery/names.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField } from "../../validation/equality.ts"
import { named } from "../../validation/values.ts"

type RuntimeClass = KubeObject & { handler?: string }

const at = FieldPath.root("handler")

const strategy: Strategy<RuntimeClass> = {
  generation: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate: (_ctx, runtimeClass) => named(at, runtimeClass.handler, validateDNS1123Label),
  validateUpdate: (_ctx, runtimeClass, current) => immutableField(at, runtimeClass.handler, current.handler),
}

export const runtimeClasses: KindExtension = { strategy }
