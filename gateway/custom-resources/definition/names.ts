// Determines which of its names a definition is granted: those that no other definition of its group has. Source:
// k8s.io/apiextensions-apiserver/pkg/controller/status.

import { aggregateMessage } from "../../../apimachinery/error-message.ts"
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

/** The status with all names that are granted already or that no definition has. */
export function acceptNames(definition: Definition, others: readonly Definition[], now = timestamp()): Status {
  const wanted = definition.spec?.names ?? {}
  const granted = definition.status?.acceptedNames ?? {}
  if (sameNames(wanted, granted)) return { ...definition.status, conditions: conditionsOf(definition, undefined, now) }
  const status = acceptOnce(definition, others, now)
  const next = status.acceptedNames ?? {}
  // After a conflict upstream considers the names again, beside those that have been granted now.
  return sameNames(next, granted) || sameNames(next, wanted)
    ? status
    : acceptNames({ ...definition, status }, others, now)
}

function acceptOnce(definition: Definition, others: readonly Definition[], now: string): Status {
  const wanted = definition.spec?.names ?? {}
  const granted = definition.status?.acceptedNames ?? {}
  const { resources, kinds } = taken(definition, others)
  const accepted: CustomResourceNames = { ...granted }
  let condition: DefinitionCondition = {
    type: "NamesAccepted",
    status: "True",
    reason: "NoConflicts",
    message: "no conflicts found",
  }
  const accept = <K extends keyof CustomResourceNames>(field: K, clashes: readonly string[], reason = ""): void => {
    if (clashes.length > 0) {
      const message = aggregateMessage(clashes.map((name) => `${JSON.stringify(name)} is already in use`))
      condition = { type: "NamesAccepted", status: "False", reason, message }
    } else if (wanted[field] === undefined) delete accepted[field]
    else accepted[field] = wanted[field]
  }
  const clash = (field: "plural" | "singular" | "kind" | "listKind", names: ReadonlySet<string>): string[] => {
    const name = wanted[field] ?? ""
    return name !== granted[field] && names.has(name) ? [name] : []
  }
  const newShortNames = (wanted.shortNames ?? []).filter((name) => granted.shortNames?.includes(name) !== true)
  accept("plural", clash("plural", resources), "PluralConflict")
  accept("singular", clash("singular", resources), "SingularConflict")
  accept(
    "shortNames",
    newShortNames.filter((name) => resources.has(name)),
    "ShortNamesConflict",
  )
  accept("kind", clash("kind", kinds), "KindConflict")
  accept("listKind", clash("listKind", kinds), "ListKindConflict")
  accept("categories", [])
  const { kind = "", plural = "", ...rest } = accepted
  return {
    ...definition.status,
    acceptedNames: { ...rest, kind, plural },
    conditions: conditionsOf(definition, condition, now),
  }
}

/** The names that definitions of the group have, among them this one's own: it cannot have a name twice. */
function taken(definition: Definition, others: readonly Definition[]): { resources: Set<string>; kinds: Set<string> } {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const other of [definition, ...others.filter(({ metadata }) => metadata.name !== definition.metadata.name)]) {
    if (other.spec?.group !== definition.spec?.group) continue
    const { plural, singular, shortNames = [], kind, listKind } = other.status?.acceptedNames ?? {}
    for (const name of [plural, singular, ...shortNames]) if (name) resources.add(name)
    for (const name of [kind, listKind]) if (name) kinds.add(name)
  }
  return { resources, kinds }
}

export function sameNames(a: CustomResourceNames, b: CustomResourceNames): boolean {
  return (["plural", "singular", "kind", "listKind", "shortNames", "categories"] as const).every(
    (field) => String(a[field] ?? "") === String(b[field] ?? ""),
  )
}

/** `names`: the condition of the names; undefined if it stays as it is, because they have been granted before. */
function conditionsOf(
  definition: Definition,
  names: DefinitionCondition | undefined,
  now: string,
): DefinitionCondition[] | null {
  const before = definition.status?.conditions ?? []
  const namesAccepted = names ?? before.find(({ type }) => type === "NamesAccepted")
  // Once established it stays established: its objects must remain accessible.
  const established =
    isEstablished(definition) || namesAccepted === undefined
      ? undefined
      : establishedCondition(definition, namesAccepted.status === "True")
  const conditions = [names, established, approvalCondition(definition)]
    .filter((condition) => condition !== undefined)
    .reduce<DefinitionCondition[]>((list, condition) => withCondition(list, condition, now), before)
  return conditions.length === 0 ? null : conditions
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
