// RuntimeClasses. Source: k8s.io/kubernetes/pkg/apis/node.

import { repeats } from "../../../../apimachinery/repeats.ts"
import type * as models from "@kubernetes/client-node"
import { duplicate, type FieldError, FieldPath } from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label } from "../../../../apimachinery/names.ts"
import type { KubeObject, Wire } from "../../../../apimachinery/object.ts"
import { oldLabelWarnings } from "../../core/old-node-labels.ts"
import { ClaimNames, validateRequirements } from "../../core/pod-spec/resources.ts"
import { validateTolerations } from "../../core/pod-spec/scheduling.ts"
import type { Toleration } from "../../core/pod-spec/types.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField } from "../../validation/equality.ts"
import { validateLabels } from "../../validation/selectors.ts"
import { named } from "../../validation/values.ts"

type RuntimeClass = KubeObject & Partial<Wire<models.V1RuntimeClass>>

const at = FieldPath.root("handler")
const noClaims = new ClaimNames()

const strategy: Strategy<RuntimeClass> = {
  generation: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate: (_ctx, runtimeClass) => validate(runtimeClass),
  validateUpdate: (_ctx, runtimeClass, current) => [
    ...validate(runtimeClass),
    // A missing string equals an empty one.
    ...immutableField(at, runtimeClass.handler ?? "", current.handler),
  ],
  warnings: (_ctx, { scheduling }) =>
    Object.keys(scheduling?.nodeSelector ?? {}).flatMap((label) =>
      oldLabelWarnings(FieldPath.root("scheduling", "nodeSelector"), label),
    ),
}

function validate({ handler, overhead, scheduling }: RuntimeClass): FieldError[] {
  const errors = named(at, handler, validateDNS1123Label)
  if (overhead?.podFixed !== undefined) {
    errors.push(...validateRequirements(FieldPath.root("overhead"), { limits: overhead.podFixed }, noClaims))
  }
  const path = FieldPath.root("scheduling")
  const tolerations = scheduling?.tolerations ?? []
  // Two tolerations that differ only in their duration count as equal.
  const repeated = repeats(tolerations.map((one) => JSON.stringify({ ...printed(one), TolerationSeconds: null })))
  return [
    ...errors,
    ...validateLabels(path.child("nodeSelector"), scheduling?.nodeSelector),
    ...validateTolerations(path.child("tolerations"), tolerations),
    ...tolerations.flatMap((toleration, index) =>
      repeated.has(index) ? [duplicate(path.child("tolerations").index(index), printed(toleration))] : [],
    ),
  ]
}

/** The JSON of a Go type without field tags. */
function printed({ key = "", operator = "", value = "", effect = "", tolerationSeconds }: Toleration): object {
  return { Key: key, Operator: operator, Value: value, Effect: effect, TolerationSeconds: tolerationSeconds ?? null }
}

export const runtimeClasses: KindExtension = { strategy }
