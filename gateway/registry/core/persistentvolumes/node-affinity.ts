// The node affinity of a volume does not change once it is set, but for labels that got other names. Source:
// k8s.io/kubernetes/pkg/apis/core/validation validatePvNodeAffinity.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { asJson, type FieldError, FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { immutable } from "../../validation/values.ts"
import type { VolumeSpec } from "./validate.ts"

type Affinity = NonNullable<VolumeSpec["nodeAffinity"]>
type Term = NonNullable<NonNullable<Affinity["required"]>["nodeSelectorTerms"]>[number]
type Requirement = NonNullable<Term["matchExpressions"]>[number]

const laterNames: Readonly<Record<string, string>> = dictionary({
  "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
  "beta.kubernetes.io/os": "kubernetes.io/os",
  "beta.kubernetes.io/arch": "kubernetes.io/arch",
  "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
})

export function validateAffinityKept(affinity: Affinity | undefined, before: Affinity | undefined): FieldError[] {
  if (before === undefined) return []
  if (affinity !== undefined && semanticEqual(affinity, withLaterNames(before, affinity))) return []
  const detail = `${immutable}, except for updating from beta label to GA`
  return [invalidValue(FieldPath.root("nodeAffinity"), asJson(affinity ?? null), detail)]
}

/** The former affinity with the later names of labels where the new one has them. */
function withLaterNames(before: Affinity, affinity: Affinity): Affinity {
  if (before.required === undefined) return before
  const terms = affinity.required?.nodeSelectorTerms ?? []
  const nodeSelectorTerms = (before.required.nodeSelectorTerms ?? []).map((term, index) => {
    const renamed = { ...term }
    for (const list of ["matchExpressions", "matchFields"] as const) {
      const requirements = term[list]?.map((one, place) => renamedLike(one, terms[index]?.[list]?.[place]))
      if (requirements !== undefined) renamed[list] = requirements
    }
    return renamed
  })
  return { ...before, required: { ...before.required, nodeSelectorTerms } }
}

function renamedLike(before: Requirement, requirement: Requirement | undefined): Requirement {
  const later = laterNames[before.key]
  return later !== undefined && later === requirement?.key ? { ...before, key: later } : before
}
