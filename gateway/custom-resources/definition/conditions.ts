// What upstream's controllers say of a definition after a write: whether its names are accepted, whether it is served, and whether its
// group approves of it. Source: k8s.io/apiextensions-apiserver/pkg/controller/{status,establish,apiapproval,nonstructuralschema}.

import { timestamp } from "../../../apimachinery/object.ts"
import { trustFault } from "../conversion/validate.ts"
import { type Definition, type DefinitionCondition, hasItsNames, isEstablished, withCondition } from "../types.ts"
import { approvalCondition } from "./approval.ts"
import { acceptNames } from "./names.ts"

type Status = NonNullable<Definition["status"]>

/** `current`: the definition before the write; `others`: those of its group. */
export function settleStatus(
  definition: Definition,
  current: Definition | undefined,
  others: readonly Definition[],
  now = timestamp(),
): Status {
  const status = acceptNames(definition, others, now)
  // A client may have written the condition; every schema that is accepted is structural.
  const before = (status.conditions ?? []).filter(({ type }) => type !== "NonStructuralSchema")
  const conditions = [establishedCondition({ ...definition, status }), approvalCondition(definition, current)]
    .filter((condition) => condition !== undefined)
    .reduce<DefinitionCondition[]>((list, condition) => withCondition(list, condition, now), before)
  return { ...status, conditions: conditions.length === 0 && (status.conditions ?? null) === null ? null : conditions }
}

/** Once established a definition stays established: its objects must remain accessible. */
function establishedCondition(definition: Definition): DefinitionCondition | undefined {
  if (isEstablished(definition) || !hasItsNames(definition)) return undefined
  const type = "Established"
  if (trustFault(definition.spec?.conversion) !== undefined) {
    const message = "The conversion webhook CABundle is invalid"
    return { type, status: "False", reason: "InvalidCABundle", message }
  }
  return { type, status: "True", reason: "InitialNamesAccepted", message: "the initial names have been accepted" }
}
