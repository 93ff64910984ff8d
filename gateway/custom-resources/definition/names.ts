// Determines which of its names a definition is granted: those that no other definition of its group has. Source:
// k8s.io/apiextensions-apiserver/pkg/controller/status.

import { aggregateMessage } from "../../../apimachinery/error-message.ts"
import { timestamp } from "../../../apimachinery/object.ts"
import { type CustomResourceNames, type Definition, type DefinitionCondition, withCondition } from "../types.ts"

type Status = NonNullable<Definition["status"]>

/** The status with all names that are granted already or that no definition has. */
export function acceptNames(definition: Definition, others: readonly Definition[], now = timestamp()): Status {
  const { status = {} } = definition
  const granted = status.acceptedNames ?? {}
  if (sameNames(definition.spec?.names ?? {}, granted)) return status
  const { accepted, condition } = judgeNames(definition, others)
  const before = status.conditions?.find(({ type }) => type === condition.type)
  const isSame = before?.status === condition.status && before.reason === condition.reason
  if (isSame && before.message === condition.message && sameNames(accepted, granted)) return status
  const conditions = withCondition(status.conditions, condition, now)
  const established = conditions.find(({ type }) => type === notAccepted.type)
  // A kind whose names are all accepted is established next.
  const isNext = established === undefined && condition.status === "True"
  const next = {
    ...status,
    acceptedNames: accepted,
    conditions: isNext ? conditions : withCondition(conditions, established ?? notAccepted, now),
  }
  // After a conflict upstream considers the names again, beside those that have been granted now.
  return acceptNames({ ...definition, status: next }, others, now)
}

const notAccepted: DefinitionCondition = {
  type: "Established",
  status: "False",
  reason: "NotAccepted",
  message: "not all names are accepted",
}

/** Names that are not accepted stay as they were granted. */
function judgeNames(
  definition: Definition,
  others: readonly Definition[],
): { accepted: CustomResourceNames; condition: DefinitionCondition } {
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
  const had = new Set(granted.shortNames)
  const newShortNames = (wanted.shortNames ?? []).filter((name) => !had.has(name))
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
  return { accepted: { ...rest, kind, plural }, condition }
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
