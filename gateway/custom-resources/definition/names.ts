// Determines which of its names a definition is granted: those that no other definition of its group has. Source:
// k8s.io/apiextensions-apiserver/pkg/controller/status.

import { timestamp } from "../../../apimachinery/object.ts"
import { trustFault } from "../conversion/validate.ts"
import { approvalCondition } from "./approval.ts"
import {
  type CustomResourceNames,
  type Definition,
  type DefinitionCondition,
  isEstablished,
  withCondition,
} from "../types.ts"

type Status = NonNullable<Definition["status"]>

/** The status with all names that do not conflict with other definitions. */
export function acceptNames(definition: Definition, others: readonly Definition[], now = timestamp()): Status {
  const wanted = definition.spec?.names ?? {}
  const { resources, kinds } = taken(definition, others)
  const accepted: CustomResourceNames = { ...definition.status?.acceptedNames }
  let problem: Pick<DefinitionCondition, "reason" | "message"> | undefined
  const accept = <K extends keyof CustomResourceNames>(
    field: K,
    clash: string | undefined,
    reason: string,
    message: string,
  ): void => {
    if (clash === undefined) {
      const value = wanted[field]
      if (value === undefined) delete accepted[field]
      else accepted[field] = value
    } else problem = { reason, message }
  }
  const inUse = (name: string | undefined): string => `${JSON.stringify(name ?? "")} is already in use`
  const clashOf = (name: string | undefined, names: ReadonlySet<string>): string | undefined =>
    name !== undefined && names.has(name) ? name : undefined
  accept("plural", clashOf(wanted.plural, resources), "PluralConflict", inUse(wanted.plural))
  accept("singular", clashOf(wanted.singular, resources), "SingularConflict", inUse(wanted.singular))
  const short = (wanted.shortNames ?? []).filter((name) => resources.has(name))
  accept("shortNames", short[0], "ShortNamesConflict", short.map(inUse).join(", "))
  accept("kind", clashOf(wanted.kind, kinds), "KindConflict", inUse(wanted.kind))
  accept("listKind", clashOf(wanted.listKind, kinds), "ListKindConflict", inUse(wanted.listKind))
  accept("categories", undefined, "", "")
  const { kind = "", plural = "", ...rest } = accepted
  return {
    ...definition.status,
    acceptedNames: { ...rest, kind, plural },
    conditions: conditionsOf(definition, problem, now),
  }
}

function taken(definition: Definition, others: readonly Definition[]): { resources: Set<string>; kinds: Set<string> } {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const other of others) {
    if (other.spec?.group !== definition.spec?.group || other.metadata.name === definition.metadata.name) continue
    const { plural, singular, shortNames = [], kind, listKind } = other.status?.acceptedNames ?? {}
    for (const name of [plural, singular, ...shortNames]) if (name) resources.add(name)
    for (const name of [kind, listKind]) if (name) kinds.add(name)
  }
  return { resources, kinds }
}

function conditionsOf(
  definition: Definition,
  problem: Pick<DefinitionCondition, "reason" | "message"> | undefined,
  now: string,
): DefinitionCondition[] {
  const approval = approvalCondition(definition)
  const before = definition.status?.conditions
  const conditions = withCondition(
    approval === undefined ? before : withCondition(before, approval, now),
    problem === undefined
      ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { type: "NamesAccepted", status: "False", ...problem },
    now,
  )
  // Once established it stays established: its objects must remain accessible.
  if (isEstablished(definition)) return conditions
  return withCondition(conditions, establishedCondition(definition, problem === undefined), now)
}

function establishedCondition({ spec }: Definition, areNamesAccepted: boolean): DefinitionCondition {
  const type = "Established"
  if (!areNamesAccepted) return { type, status: "False", reason: "NotAccepted", message: "not all names are accepted" }
  if (trustFault(spec?.conversion) !== undefined) {
    const message = "The conversion webhook CABundle is invalid"
    return { type, status: "False", reason: "InvalidCABundle", message }
  }
  return { type, status: "True", reason: "InitialNamesAccepted", message: "the initial names have been accepted" }
}
