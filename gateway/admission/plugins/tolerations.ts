// Merges tolerations: one that tolerates no more than another is left out. Source: k8s.io/kubernetes/pkg/util/tolerations.

import type { PodSpec } from "../../../apimachinery/object.ts"

export type Toleration = NonNullable<PodSpec["tolerations"]>[number]

/** Of equal ones the first is kept. */
export function mergeTolerations(all: readonly Toleration[]): Toleration[] {
  const merged: Toleration[] = []
  for (const [index, one] of all.entries()) {
    const isCovered =
      merged.some((other) => covers(other, one)) ||
      all.slice(index + 1).some((other) => !isEqual(other, one) && covers(other, one))
    if (!isCovered) merged.push(one)
  }
  return merged
}

function isEqual(a: Toleration, b: Toleration): boolean {
  const texts = ["key", "operator", "value", "effect"] as const
  return texts.every((field) => (a[field] ?? "") === (b[field] ?? "")) && a.tolerationSeconds === b.tolerationSeconds
}

/** Whether all that the other tolerates is tolerated, and for as long. */
function covers(one: Toleration, other: Toleration): boolean {
  if (isEqual(one, other)) return true
  const { key = "", operator = "", value = "", effect = "", tolerationSeconds: seconds } = one
  const isOfAll = key === "" && operator === "Exists"
  if (!isOfAll && key !== (other.key ?? "")) return false
  if (effect !== "" && effect !== (other.effect ?? "")) return false
  if (effect === "NoExecute" && seconds !== undefined && !((other.tolerationSeconds ?? Infinity) <= seconds))
    return false
  if (operator === "Exists") return true
  // An operator that is left out means Equal, but upstream recognizes it in the covering toleration only.
  return (operator === "" || operator === "Equal") && other.operator === "Equal" && value === (other.value ?? "")
}
