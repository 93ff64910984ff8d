// Updates lists of status conditions like upstream's controllers. Pure: returns a new list.

export interface Condition {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string
  lastUpdateTime?: string
  lastProbeTime?: string
  observedGeneration?: number
}

export function findCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((condition) => condition.type === type)
}

export function withoutCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): C[] {
  return (conditions ?? []).filter((condition) => condition.type !== type)
}

/** Returns the same list if status and reason are unchanged. lastTransitionTime changes only with the status. */
export function withCondition<C extends Condition>(conditions: readonly C[] | undefined, condition: C): C[] {
  const current = findCondition(conditions, condition.type)
  if (current !== undefined && current.status === condition.status && current.reason === condition.reason) {
    return [...(conditions ?? [])]
  }
  const kept =
    current?.status === condition.status && current.lastTransitionTime !== undefined
      ? { ...condition, lastTransitionTime: current.lastTransitionTime }
      : condition
  return [...withoutCondition(conditions, condition.type), kept]
}

/**
 * metav1.Condition: all fields are updated; lastTransitionTime changes only with the status. Source:
 * k8s.io/apimachinery/pkg/api/meta/conditions.go.
 */
export interface StandardCondition {
  type: string
  status: string
  observedGeneration?: number
  lastTransitionTime: string
  reason: string
  message: string
}

export function withStandardCondition(
  conditions: readonly StandardCondition[] | undefined,
  wanted: StandardCondition,
): StandardCondition[] {
  const all = conditions ?? []
  const current = findCondition(all, wanted.type)
  if (current === undefined) return [...all, wanted]
  const since = current.status === wanted.status ? current.lastTransitionTime : wanted.lastTransitionTime
  return all.map((other) => (other === current ? { ...wanted, lastTransitionTime: since } : other))
}
