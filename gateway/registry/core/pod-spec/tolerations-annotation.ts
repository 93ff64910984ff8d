// The annotation that preceded the tolerations field: it has no effect, but is still validated.
// Source: k8s.io/kubernetes/pkg/apis/core/validation (ValidateTolerationsInPodAnnotations).

import { type FieldError, type FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import { type GoType, readAnnotatedJson } from "../annotated-json.ts"
import { validateTolerations } from "./scheduling.ts"

export const tolerationsAnnotation = "scheduler.alpha.kubernetes.io/tolerations"

type Tolerations = NonNullable<Parameters<typeof validateTolerations>[1]>

/** A struct without JSON tags. */
const tolerationList: GoType = {
  is: "list",
  name: "[]core.Toleration",
  items: {
    is: "struct",
    name: "core.Toleration",
    fields: [
      { name: "key", goName: "Key", type: { is: "string", name: "string" } },
      { name: "operator", goName: "Operator", type: { is: "string", name: "core.TolerationOperator" } },
      { name: "value", goName: "Value", type: { is: "string", name: "string" } },
      { name: "effect", goName: "Effect", type: { is: "string", name: "core.TaintEffect" } },
      { name: "tolerationSeconds", goName: "TolerationSeconds", type: { is: "int64", name: "int64" } },
    ],
  },
}

/** `path`: of the annotations. */
export function validateTolerationsAnnotation(path: FieldPath, text: string): FieldError[] {
  if (text === "") return []
  const read = readAnnotatedJson(text, tolerationList)
  if ("fault" in read) return [invalidValue(path, tolerationsAnnotation, read.fault)]
  return validateTolerations(path.child(tolerationsAnnotation), (read.value ?? []) as unknown as Tolerations)
}
