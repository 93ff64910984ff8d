// Determines which quotas count an object, by their resources and scopes. Source: k8s.io/kubernetes/pkg/quota/v1/evaluator/core.

import { noOffers } from "./device-usage.ts"
import type { KubeObject, PersistentVolumeClaim, Pod, PodSpec, ResourceQuota } from "../object.ts"
import { compareQuantities, type Quantity, zeroQuantity } from "../quantity.ts"
import { parseAmounts } from "./amounts.ts"
import { quotaNamesOf } from "./usage.ts"

type Selector = NonNullable<
  NonNullable<NonNullable<ResourceQuota["spec"]>["scopeSelector"]>["matchExpressions"]
>[number]

/**
 * Whether a quota counts this object: it limits a resource of its kind, and all of its scopes match. `offers`: needed for ResourceClaims
 * only.
 */
export function quotaMatches(
  quota: ResourceQuota,
  group: string,
  resource: string,
  object: KubeObject,
  offers = noOffers,
): boolean {
  const names = Object.keys(quota.status?.hard ?? {})
  if (quotaNamesOf(group, resource, names, offers).length === 0) return false
  const selectors: Selector[] = [
    ...(quota.spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: "Exists" })),
    ...(quota.spec?.scopeSelector?.matchExpressions ?? []),
  ]
  return selectors.every((selector) => {
    if (group === "" && resource === "pods") return inScope(selector, object)
    if (group === "" && resource === "persistentvolumeclaims") return claimInScope(selector, object)
    // No other kinds have scopes, so a quota with scopes does not count them.
    return false
  })
}

/** It is sufficient that one of the claim's classes matches. */
function claimInScope(selector: Selector, claim: PersistentVolumeClaim): boolean {
  if (selector.scopeName !== "VolumeAttributesClass") return false
  const classes = classesOf(claim)
  return classes.length === 0 ? matchesValue(selector, undefined) : classes.some((name) => matchesValue(selector, name))
}

/** The VolumeAttributesClasses that a claim requests, has, and is being changed to. */
export function classesOf({ spec, status }: PersistentVolumeClaim): string[] {
  return [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].filter((name): name is string => typeof name === "string" && name !== "")
}

function inScope(selector: Selector, pod: Pod): boolean {
  const spec = pod.spec ?? { containers: [] }
  switch (selector.scopeName) {
    case "Terminating":
      return hasDeadline(pod)
    case "NotTerminating":
      return !hasDeadline(pod)
    case "BestEffort":
      return isBestEffort(pod)
    case "NotBestEffort":
      return !isBestEffort(pod)
    case "PriorityClass":
      return matchesValue(selector, spec.priorityClassName)
    case "CrossNamespacePodAffinity":
      return reachesAcross(spec)
    default:
      return false
  }
}

/** Determines whether a pod is in scope Terminating or NotTerminating. */
export function hasDeadline(pod: Pod): boolean {
  return (pod.spec?.activeDeadlineSeconds ?? -1) >= 0
}

function matchesValue(selector: Selector, value: string | undefined): boolean {
  const named = value !== undefined && value !== ""
  switch (selector.operator) {
    case "Exists":
      return named
    case "DoesNotExist":
      return !named
    case "In":
      return named && (selector.values ?? []).includes(value)
    default:
      return !named || !(selector.values ?? []).includes(value)
  }
}

function isBestEffort(pod: Pod): boolean {
  const { spec = { containers: [] }, status } = pod
  if (status?.qosClass !== undefined && status.qosClass !== "") return status.qosClass === "BestEffort"
  const containers = [...spec.containers, ...(spec.initContainers ?? [])]
  const parts = spec.resources === undefined ? containers.map(({ resources }) => resources) : [spec.resources]
  return parts.every((part) =>
    [part?.requests, part?.limits].map(parseAmounts).every((amounts) => !isPositive(amounts["cpu"], amounts["memory"])),
  )
}

function isPositive(...amounts: (Quantity | undefined)[]): boolean {
  return amounts.some((amount) => amount !== undefined && compareQuantities(amount, zeroQuantity) > 0)
}

function reachesAcross(spec: PodSpec): boolean {
  return [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity].some((affinity) => {
    const terms = [
      ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((item) => item.podAffinityTerm),
    ]
    return terms.some((term) => (term.namespaces ?? []).length > 0 || term.namespaceSelector !== undefined)
  })
}
