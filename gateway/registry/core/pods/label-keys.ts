// matchLabelKeys and mismatchLabelKeys of a new pod: the values that its labels have then go into the selectors beside them.
// Later changes of labels change no selector. Source: k8s.io/kubernetes/pkg/registry/core/pod (mutatePodAffinity,
// mutateTopologySpreadConstraints), with the feature gates that v1.36 opens by default.

import type * as models from "@kubernetes/client-node"
import type { Pod, Wire } from "../../../../apimachinery/object.ts"

type Labels = Readonly<Record<string, string>>
type Requirement = Wire<models.V1LabelSelectorRequirement>

/** The common fields of affinity terms and topology spread constraints. */
interface Selecting {
  labelSelector?: Wire<models.V1LabelSelector>
  matchLabelKeys?: string[]
  mismatchLabelKeys?: string[]
}

/** A key the selector has already is added once more: validation refuses it (../pod-spec/scheduling.ts). */
export function mergeLabelKeys({ metadata, spec }: Pod): void {
  const labels = metadata.labels ?? {}
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {}
  for (const rules of [podAffinity, podAntiAffinity]) {
    for (const weighted of rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
      // Presence is validated after this.
      const term: Selecting | undefined = weighted.podAffinityTerm
      if (term !== undefined) mergeInto(term, labels)
    }
    for (const term of rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []) mergeInto(term, labels)
  }
  for (const constraint of spec?.topologySpreadConstraints ?? []) mergeInto(constraint, labels)
}

function mergeInto({ labelSelector, matchLabelKeys, mismatchLabelKeys }: Selecting, labels: Labels): void {
  if (labelSelector === undefined) return
  const added = [...requirements(matchLabelKeys, "In", labels), ...requirements(mismatchLabelKeys, "NotIn", labels)]
  if (added.length > 0) labelSelector.matchExpressions = [...(labelSelector.matchExpressions ?? []), ...added]
}

function requirements(keys: readonly string[] = [], operator: "In" | "NotIn", labels: Labels): Requirement[] {
  return keys.flatMap((key) => (Object.hasOwn(labels, key) ? [{ key, operator, values: [labels[key] ?? ""] }] : []))
}
