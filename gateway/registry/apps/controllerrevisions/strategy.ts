// ControllerRevisions: previous templates of a workload. Only the revision number may change.

import { asJson, type FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutable, nonNegative } from "../../validation/values.ts"

type ControllerRevision = KubeObject & { revision?: number; data?: unknown }

const strategy: Strategy<ControllerRevision> = {
  generation: false,

  default(revision) {
    revision.revision ??= 0
  },

  validate(_ctx, revision) {
    const data = FieldPath.root("data")
    const errors: FieldError[] = nonNegative(FieldPath.root("revision"), revision.revision)
    if (revision.data === undefined || revision.data === null) errors.push(required(data, "data is mandatory"))
    else if (typeof revision.data !== "object" || Array.isArray(revision.data)) {
      errors.push(required(data, "data must be a valid JSON object"))
    }
    return errors
  },

  validateUpdate: (_ctx, revision, current) => [
    ...nonNegative(FieldPath.root("revision"), revision.revision),
    ...immutableData(revision.data, current.data),
  ],
}

/** Compared as text: an empty template differs from a missing one. */
function immutableData(data: unknown, current: unknown): FieldError[] {
  return JSON.stringify(data) === JSON.stringify(current)
    ? []
    : [invalidValue(FieldPath.root("data"), asJson(data), immutable)]
}

export const controllerRevisions: KindExtension = { strategy }
