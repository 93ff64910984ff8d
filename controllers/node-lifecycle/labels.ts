// Keeps a node's deprecated beta labels equal to the stable ones. Pure.
// Source: k8s.io/kubernetes/pkg/controller/nodelifecycle (reconcileNodeLabels).

import type { Node } from "../../apimachinery/object.ts"

const formerNames = {
  "kubernetes.io/os": "beta.kubernetes.io/os",
  "kubernetes.io/arch": "beta.kubernetes.io/arch",
} as const

/** undefined: they are equal already. */
export function outdatedLabels({ metadata: { labels = {} } }: Node): Record<string, string> | undefined {
  const changed = Object.entries(formerNames).flatMap(([name, former]) => {
    const value = labels[name]
    return value === undefined || labels[former] === value ? [] : [[former, value] as const]
  })
  return changed.length === 0 ? undefined : Object.fromEntries(changed)
}
