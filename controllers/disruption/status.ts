// Computes a PodDisruptionBudget's status from the pods it selects. Pure.
// Source: k8s.io/kubernetes/pkg/controller/disruption/disruption.go, k8s.io/component-helpers/apps/poddisruptionbudget.

import { timestamp, type KubeObject, type Pod } from "../../apimachinery/object.ts"
import type { LabelSelector } from "../../apimachinery/labels.ts"
import { findCondition, withStandardCondition, type StandardCondition } from "../conditions.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { ownValue } from "../../apimachinery/schema/json-object.ts"
import { isReady, isTerminating } from "../pods/pod-state.ts"

/** An evicted pod counts as gone for this long before its deletion is observed. */
const deletionMs = 120_000

const conditionType = "DisruptionAllowed"

interface BudgetStatus {
  observedGeneration?: number
  disruptedPods?: Record<string, string>
  disruptionsAllowed: number
  currentHealthy: number
  desiredHealthy: number
  expectedPods: number
  conditions?: StandardCondition[]
}

export interface Budget extends KubeObject {
  spec?: {
    minAvailable?: number | string
    maxUnavailable?: number | string
    selector?: LabelSelector
    unhealthyPodEvictionPolicy?: string
  }
  status?: BudgetStatus
}

interface Disrupted {
  /** Evicted pods that are not deleted yet, with the times of their evictions. */
  pods: Record<string, string>
  /** Pods that were evicted but not deleted in time. */
  stayed: Pod[]
  /** When to reconcile again, in ms. */
  recheckAt: number | undefined
}

export function disruptedPods(budget: Budget, pods: readonly Pod[], now: number): Disrupted {
  const result: Disrupted = { pods: {}, stayed: [], recheckAt: undefined }
  const before = budget.status?.disruptedPods ?? {}
  for (const pod of pods) {
    const since = ownValue(before, pod.metadata.name ?? "")
    if (since === undefined || isTerminating(pod)) continue
    const due = Date.parse(since) + deletionMs
    if (due < now) {
      result.stayed.push(pod)
      continue
    }
    result.pods[pod.metadata.name ?? ""] = since
    result.recheckAt = Math.min(result.recheckAt ?? due, due)
  }
  return result
}

export function healthyPods(pods: readonly Pod[], disrupted: Record<string, string>): number {
  const isGoing = (pod: Pod): boolean => isTerminating(pod) || Object.hasOwn(disrupted, pod.metadata.name ?? "")
  return pods.filter((pod) => isReady(pod) && !isGoing(pod)).length
}

interface Counted {
  currentHealthy: number
  desiredHealthy: number
  expectedPods: number
  disruptedPods: Record<string, string>
}

/** Returns budget.status itself if nothing changes. */
export function statusOf(budget: Budget, counted: Counted, now: number): BudgetStatus {
  const { currentHealthy, desiredHealthy, expectedPods } = counted
  const { generation = 0 } = budget.metadata
  // A budget without pods allows no disruption: its first pods may be created before it is reconciled again.
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy)
  const conditions = budget.status?.conditions
  const [value, reason] = disruptionsAllowed > 0 ? ["True", "SufficientPods"] : ["False", "InsufficientPods"]
  const current = findCondition(conditions, conditionType)
  const isConditionCurrent = current?.status === value && current.reason === reason
  const status: BudgetStatus = {
    ...(generation === 0 ? {} : { observedGeneration: generation }),
    ...(Object.keys(counted.disruptedPods).length === 0 ? {} : { disruptedPods: counted.disruptedPods }),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    ...(conditions === undefined ? {} : { conditions }),
  }
  if (isConditionCurrent && budget.status !== undefined && equalIgnoringNulls(status, budget.status))
    return budget.status
  const condition = { ...dated(value ?? "", now, generation), reason: reason ?? "", message: "" }
  return { ...status, conditions: withStandardCondition(conditions, condition) }
}

/** Allows no disruption while the expected number of pods is unknown. */
export function failedStatus(budget: Budget, message: string, now: number): BudgetStatus {
  const before = budget.status ?? { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
  const condition = { ...dated("False", now, before.observedGeneration ?? 0), reason: "SyncFailed", message }
  return { ...before, disruptionsAllowed: 0, conditions: withStandardCondition(before.conditions, condition) }
}

function dated(status: string, now: number, generation: number): Omit<StandardCondition, "reason" | "message"> {
  return {
    type: conditionType,
    status,
    ...(generation === 0 ? {} : { observedGeneration: generation }),
    lastTransitionTime: timestamp(new Date(now)),
  }
}
