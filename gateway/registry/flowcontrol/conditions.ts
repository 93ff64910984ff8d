// Conditions of flow schemas and priority levels: the type is required and unique.

import { duplicate, type FieldError, FieldPath, required } from "../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"

export type Conditioned = KubeObject & { status?: { conditions?: { type?: string }[] } }

export function validateConditions({ status }: Conditioned): FieldError[] {
  const seen = new Set<string>()
  return (status?.conditions ?? []).flatMap(({ type = "" }, index) => {
    const at = FieldPath.root("status", "conditions").index(index).child("type")
    const errors = seen.has(type) ? [duplicate(at, type)] : []
    seen.add(type)
    return type === "" ? [...errors, required(at)] : errors
  })
}
