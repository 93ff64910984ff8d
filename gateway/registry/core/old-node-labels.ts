// Warnings for deprecated node labels in selectors. Source: k8s.io/kubernetes/pkg/api/node.

import { dictionary } from "../../../apimachinery/dictionary.ts"
import type { FieldPath } from "../../../apimachinery/field-errors.ts"
import { validateLabelValue } from "../../../apimachinery/names.ts"
import type { LabelSelector } from "../validation/selectors.ts"

const oldNodeLabels: Readonly<Record<string, string>> = dictionary({
  "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  "app.kubernetes.io/created-by": "deprecated since v1.9",
  "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
  "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
})

/** For a field whose path names the label. */
export function oldLabelWarnings(path: FieldPath, label: string): string[] {
  const message = oldNodeLabels[label]
  return message === undefined ? [] : [`${String(path)}: ${message}`]
}

/** For a field whose value is the label. */
export function oldLabelValueWarnings(path: FieldPath, label: string): string[] {
  const message = oldNodeLabels[label]
  return message === undefined ? [] : [`${String(path)}: ${label} is ${message}`]
}

/** For a label selector of nodes. */
export function oldSelectorWarnings(path: FieldPath, selector: LabelSelector | undefined): string[] {
  return [
    ...nodeTermWarnings(path, selector?.matchExpressions, false),
    ...Object.keys(selector?.matchLabels ?? {}).flatMap((key) =>
      oldLabelWarnings(path.child("matchLabels").child(key), key),
    ),
  ]
}

interface NodeRequirement {
  key?: string
  values?: readonly string[]
}

/** `withValues`: also warn about invalid values, which upstream does not reject in these fields. */
export function nodeTermWarnings(
  path: FieldPath,
  requirements: readonly NodeRequirement[] = [],
  withValues: boolean,
): string[] {
  return requirements.flatMap(({ key = "", values }, index) => {
    const at = path.child("matchExpressions").index(index)
    const faults = (withValues ? (values ?? []) : []).flatMap((value, place) =>
      validateLabelValue(value).map(
        (fault) => `${String(at.child("values").index(place))}: ${value} is invalid, ${fault}`,
      ),
    )
    return [...oldLabelValueWarnings(at.child("key"), key), ...faults]
  })
}
