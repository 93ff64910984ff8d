// Conditions of a pod's status.

import type * as models from "@kubernetes/client-node"
import { type Pod, timestamp, type Wire } from "../../../../apimachinery/object.ts"

type Condition = Wire<models.V1PodCondition>

/** Adds or updates the condition. lastTransitionTime is the time when its status changed. */
export function setPodCondition(pod: Pod, condition: Omit<Condition, "lastTransitionTime">): void {
  pod.status ??= {}
  const conditions = [...(pod.status.conditions ?? [])]
  const index = conditions.findIndex(({ type }) => type === condition.type)
  const before = conditions[index]
  const kept = before?.status === condition.status ? before.lastTransitionTime : undefined
  const next: Condition = { ...condition, lastTransitionTime: kept ?? timestamp() }
  if (index < 0) conditions.push(next)
  else conditions[index] = next
  pod.status.conditions = conditions
}
