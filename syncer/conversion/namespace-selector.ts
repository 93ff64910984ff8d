// Selectors of a tenant's namespaces, as they select that tenant's namespaces in the super cluster and nobody else's. Pure.

import type { LabelSelector } from "../../apimachinery/labels.ts"
import { clusterLabel, superNamespace } from "../../apimachinery/tenancy.ts"

/** Every namespace has its name as a label, which in super is the super name. */
export const namespaceNameLabel = "kubernetes.io/metadata.name"

export function superNamespaceSelector(selector: LabelSelector, clusterKey: string): LabelSelector {
  return ofTenant(translateNames(selector, clusterKey), clusterKey)
}

/** The label is on what the syncer makes, and tenants cannot set it. */
export function ofTenant(selector: LabelSelector, clusterKey: string): LabelSelector {
  return { ...selector, matchLabels: { ...selector.matchLabels, [clusterLabel]: clusterKey } }
}

/** The keys that it names. */
export const selectedKeys = ({ matchLabels, matchExpressions }: LabelSelector): string[] => [
  ...Object.keys(matchLabels ?? {}),
  ...(matchExpressions ?? []).map(({ key }) => key),
]

function translateNames(selector: LabelSelector, clusterKey: string): LabelSelector {
  const { matchLabels, matchExpressions } = selector
  const name = matchLabels?.[namespaceNameLabel]
  return {
    ...selector,
    ...(name === undefined
      ? {}
      : { matchLabels: { ...matchLabels, [namespaceNameLabel]: superNamespace(clusterKey, name) } }),
    ...(matchExpressions === undefined
      ? {}
      : {
          matchExpressions: matchExpressions.map((expression) =>
            expression.key === namespaceNameLabel && expression.values !== undefined
              ? { ...expression, values: expression.values.map((value) => superNamespace(clusterKey, value)) }
              : expression,
          ),
        }),
  }
}
