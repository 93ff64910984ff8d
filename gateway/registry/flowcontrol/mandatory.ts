// Mandatory objects, which must keep their initial spec. Source: k8s.io/kubernetes/pkg/apis/flowcontrol/internalbootstrap.

import { type FieldError, FieldPath, invalidValue } from "../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { bootstrapObjects } from "../../../apimachinery/schema/facts.ts"
import { semanticEqual } from "../validation/equality.ts"

/** `free`: a field of the spec that may be changed; `spec` does not contain it. */
export function validateMandatory({ kind, metadata: { name } }: KubeObject, spec: object, free?: string): FieldError[] {
  const born = bootstrapObjects().find((object) => object.kind === kind && object.metadata.name === name)
  const fixed = Object.entries((born as { spec?: object } | undefined)?.spec ?? {}).filter(([field]) => field !== free)
  if (semanticEqual(spec, Object.fromEntries(fixed))) return []
  const but = free === undefined ? "" : ` except the 'spec.${free}' field`
  return [invalidValue(FieldPath.root("spec"), spec, `spec of '${name}'${but} must equal the fixed value`)]
}
