// Converts a pod's status between super and tenant. Super owns all of it except the conditions of readiness gates, which controllers
// in the tenant set. Unknown fields are copied unchanged, so that servers of different versions agree.

import { superNamespace } from "../../../apimachinery/tenancy.ts"
import { isFinished } from "../../../apimachinery/core/pod-phase.ts"
import { timestamp, type Node, type Pod, type PodStatus } from "../../../apimachinery/object.ts"
import { renamed, tenantResource } from "../../conversion/resource-names.ts"
import { scrubMessages } from "../../../apimachinery/tenant-texts.ts"
import { changedConditions, mergeDiff } from "../../conversion/equality.ts"
import type { Patch } from "../resource-sync.ts"
import type { Tenant } from "../../../client/tenants.ts"

type Conditions = NonNullable<PodStatus["conditions"]>
type Condition = Conditions[number]
type ContainerStatuses = NonNullable<PodStatus["containerStatuses"]>

/** A readiness gate may name a condition that the kubelet writes. The tenant's value would be overwritten there without an end. */
const gatesOf = (pod: Pod): Set<string> =>
  new Set(pod.spec?.readinessGates?.map(({ conditionType }) => conditionType).filter((type) => !isSuperType(type)))

/** The status of the tenant's pod, from its super copy. `isBehind`: the copy lacks changes that the tenant made. */
export function tenantStatus(pod: Pod, superPod: Pod, tenant: Tenant, isBehind = false): PodStatus {
  const namespace = pod.metadata.namespace ?? ""
  // Super's scheduler announces nodes in nominatedNodeName, which in the tenant is a reservation (isNominated).
  const {
    observedGeneration,
    conditions,
    nominatedNodeName: _announced,
    ...status
  } = scrubMessages(superPod.status ?? {}, {
    tenant,
    namespace,
    superNamespace: superNamespace(tenant.clusterKey, namespace),
    uid: pod.metadata.uid,
    superUID: superPod.metadata.uid,
  }) as PodStatus & { observedGeneration?: number }
  const merged = mergeConditions(pod, superPod, conditions)
  const present = new Set(pod.status?.conditions)
  const own = ownResources(status, tenant)
  const translate = (observed: number): number => translateGeneration(observed, pod, superPod, isBehind)
  return {
    ...own,
    ...(endedByDeletion(pod, superPod) ? { phase: pod.status?.phase ?? "Pending" } : {}),
    ...(merged === undefined ? {} : { conditions: merged.map((one) => ownGeneration(one, present, translate)) }),
    ...(observedGeneration === undefined ? {} : { observedGeneration: translate(observedGeneration) }),
    ...(isNominated(pod) ? { nominatedNodeName: pod.status?.nominatedNodeName } : {}),
  } as PodStatus
}

/**
 * Whether the pod has ended only because somebody deletes the copy: kubelets then write a final phase, but the pod will run again
 * (docs/decisions/0006-losing-the-copy-of-a-running-pod.md), and with that phase it could not. Ends of other causes have a reason.
 */
function endedByDeletion(pod: Pod, copy: Pod): boolean {
  const { metadata, spec, status } = copy
  const isEnded = status?.phase === "Failed" || status?.phase === "Succeeded"
  const isUnasked = metadata.deletionTimestamp !== undefined && pod.metadata.deletionTimestamp === undefined
  if (!isEnded || !isUnasked || isFinished(pod) || (status.reason ?? "") !== "") return false
  if (isEvicted(copy)) return false
  const exits = new Map(status.containerStatuses?.map(({ name, state }) => [name, state?.terminated?.exitCode]))
  return (spec?.containers ?? []).some(({ name, restartPolicy = spec?.restartPolicy ?? "Always" }) => {
    return restartPolicy === "Always" || (restartPolicy === "OnFailure" && exits.get(name) !== 0)
  })
}

/** Renames the tenant's extended resources to its own names. */
function ownResources<T extends Partial<PodStatus>>(status: T, tenant: Tenant): T {
  const rename = (name: string): string | undefined => tenantResource(name, tenant)
  const inContainers = (list: ContainerStatuses): ContainerStatuses => {
    const changed = list.map((one) => {
      const { resources, allocatedResources } = one
      const requests = renamed(resources?.requests, rename)
      const limits = renamed(resources?.limits, rename)
      const allocated = renamed(allocatedResources, rename)
      const isSame =
        requests === resources?.requests && limits === resources?.limits && allocated === allocatedResources
      if (isSame) return one
      return {
        ...one,
        resources: {
          ...resources,
          ...(requests === undefined ? {} : { requests }),
          ...(limits === undefined ? {} : { limits }),
        },
        ...(allocated === undefined ? {} : { allocatedResources: allocated }),
      }
    })
    return changed.some((one, index) => one !== list[index]) ? changed : list
  }
  const { containerStatuses, initContainerStatuses } = status
  return {
    ...status,
    ...(containerStatuses === undefined ? {} : { containerStatuses: inContainers(containerStatuses) }),
    ...(initContainerStatuses === undefined ? {} : { initContainerStatuses: inContainers(initContainerStatuses) }),
  }
}

/**
 * Conditions that kubelet and scheduler set, so only super sets and removes them. Conditions of other types that super's pod lacks
 * belong to the tenant: from an eviction there, or from its controllers. Source: k8s.io/kubernetes/pkg/kubelet/types/pod_status.go.
 */
const superConditionTypes = new Set([
  "PodScheduled",
  "PodReadyToStartContainers",
  "Initialized",
  "ContainersReady",
  "Ready",
  "PodResizePending",
  "PodResizeInProgress",
  "AllContainersRestarting",
])

const isSuperType = (type: string): boolean => superConditionTypes.has(type)

/** Super's conditions in their order, then the tenant's own. Conditions of the tenant's readiness gates are always its own. */
function mergeConditions(pod: Pod, superPod: Pod, conditions: Conditions | undefined): Conditions | undefined {
  const gates = gatesOf(pod)
  const superGates = gatesOf(superPod)
  const own = new Map((pod.status?.conditions ?? []).map((condition) => [condition.type, condition]))
  const kept = new Map<string, Condition>()
  for (const condition of conditions ?? []) {
    const { type } = condition
    const one = gates.has(type) ? own.get(type) : superGates.has(type) ? undefined : condition
    if (one !== undefined) kept.set(type, one)
  }
  for (const [type, mine] of own) {
    if (isSuperType(type)) continue
    if (!kept.has(type)) kept.set(type, mine)
  }
  return kept.size === 0 ? conditions : [...kept.values()]
}

/**
 * Conditions of readiness gates to set in super; undefined if there is no difference. Used in a strategic merge patch, because the
 * kubelet writes its own conditions into the same list.
 */
export function superConditions(pod: Pod, superPod: Pod): object[] | undefined {
  const gates = gatesOf(pod)
  if (gates.size === 0) return undefined
  const current = superPod.status?.conditions ?? []
  const wanted = new Map(
    (pod.status?.conditions ?? []).flatMap((one): [string, Condition][] =>
      gates.has(one.type) ? [[one.type, one]] : [],
    ),
  )
  const same = (a: Condition, b: Condition): boolean =>
    a.status === b.status && a.reason === b.reason && a.message === b.message
  const there = new Map(current.map((condition) => [condition.type, condition]))
  const isUpToDate = (mine: Condition): boolean => {
    const existing = there.get(mine.type)
    return existing !== undefined && same(existing, mine)
  }
  if ([...wanted.values()].every(isUpToDate)) return undefined
  return [...wanted.values()]
    .filter((mine) => !isUpToDate(mine))
    .map((mine) => ({ ...absentFrom(mine, there.get(mine.type)), ...withoutGeneration(mine) }))
}

/** Null for fields that the condition no longer has. */
function absentFrom(mine: Condition, existing: Condition | undefined): Record<string, null> {
  const fields = (["reason", "message"] as const).filter(
    (field) => existing?.[field] !== undefined && mine[field] === undefined,
  )
  return Object.fromEntries(fields.map((field) => [field, null]))
}

/**
 * The generations of the two objects count different changes. If super has all of the tenant's changes, a generation observed in
 * super corresponds to the tenant's; otherwise the tenant keeps the generation that was last reported.
 */
function translateGeneration(observed: number, pod: Pod, superPod: Pod, isBehind: boolean): number {
  const generation = pod.metadata.generation ?? 0
  if (observed === superPod.metadata.generation && !isBehind) return generation
  const known = pod.status?.observedGeneration ?? generation
  return Math.max(0, Math.min(known, generation - 1))
}

/** `own`: the tenant's own conditions. */
function ownGeneration(
  condition: Condition,
  own: ReadonlySet<Condition>,
  translate: (observed: number) => number,
): Condition {
  const { observedGeneration } = condition as Condition & { observedGeneration?: number }
  if (observedGeneration === undefined || own.has(condition)) return condition
  return { ...condition, observedGeneration: translate(observedGeneration) }
}

function withoutGeneration(condition: Condition): Condition {
  const { observedGeneration: _generation, ...rest } = condition as Condition & { observedGeneration?: number }
  return rest
}

/** Lists of a status, as of v1.36, of which a strategic merge would keep what is there. Conditions aside, they are replaced whole. */
const mergedLists = ["podIPs", "hostIPs", "resourceClaimStatuses"]

/**
 * What to write on the tenant's pod, or undefined. Conditions are merged by their types: an eviction in the tenant, or one of its
 * controllers, may write another one meanwhile. Their order is not a difference.
 */
export function statusPatch(current: PodStatus | undefined, wanted: PodStatus): Patch | undefined {
  const { conditions: before, ...rest } = current ?? {}
  const { conditions: after, ...wantedRest } = wanted
  const status = (mergeDiff(rest, wantedRest) ?? {}) as Record<string, unknown>
  const conditions = conditionsChange(before ?? [], after ?? [])
  if (conditions.length === 0) {
    return Object.keys(status).length === 0 ? undefined : { patch: { status }, subresource: "status" }
  }
  for (const field of mergedLists) {
    const list = status[field]
    if (Array.isArray(list)) status[field] = [{ $patch: "replace" }, ...(list as object[])]
  }
  return { patch: { status: { ...status, conditions } }, subresource: "status", strategic: true }
}

function conditionsChange(before: Conditions, after: Conditions): object[] {
  const wanted = new Set(after.map(({ type }) => type))
  const gone = new Set(before.map(({ type }) => type).filter((type) => !wanted.has(type)))
  return [...changedConditions(before, after), ...[...gone].map((type) => ({ $patch: "delete", type }))]
}

/** Preemption has reserved a node of the tenant's choice for the pod (../../preemption.ts). */
export const isNominated = ({ spec, status }: Pod): boolean =>
  (status?.nominatedNodeName ?? "") !== "" && (spec?.nodeName ?? "") === ""

const evictionOf = ({ status }: Pod): Condition | undefined =>
  status?.conditions?.find((one) => one.type === "DisruptionTarget" && one.status === "True")

export const isEvicted = (pod: Pod): boolean => evictionOf(pod) !== undefined

/**
 * Why a pod whose super copy is gone must not run on its node again: it was evicted, or the node no longer accepts it.
 * undefined: somebody deleted the copy, and it can be recreated on the node.
 */
export function lossReason(pod: Pod, node: Node | undefined): { reason: string; message: string } | undefined {
  const eviction = evictionOf(pod)
  if (eviction !== undefined) {
    return { reason: eviction.reason ?? "Evicted", message: eviction.message ?? "The pod was evicted from its node" }
  }
  const name = pod.spec?.nodeName ?? ""
  if (node === undefined) return { reason: "NodeLost", message: `Node ${name} is gone, and the pod with it` }
  if (node.spec?.unschedulable === true || !toleratesAll(pod, node)) {
    return { reason: "Evicted", message: `Node ${name} takes no pods any more, and the pod was removed from it` }
  }
  const begun = (pod.status?.containerStatuses?.length ?? 0) > 0
  if (begun && pod.spec?.restartPolicy === "Never") {
    return { reason: "PodLost", message: `The pod was removed from node ${name} and must not be started twice` }
  }
  return undefined
}

/** The status of a pod that will not run again. The object remains: only the tenant deletes its objects. */
export function failedStatus(pod: Pod, why: { reason: string; message: string }, now: Date): PodStatus {
  const at = timestamp(now)
  const conditions = (pod.status?.conditions ?? []).map((condition) =>
    (condition.type === "Ready" || condition.type === "ContainersReady") && condition.status === "True"
      ? { ...condition, status: "False", reason: "PodFailed", lastTransitionTime: at }
      : condition,
  )
  return { ...pod.status, phase: "Failed", reason: why.reason, message: why.message, conditions }
}

function toleratesAll(pod: Pod, node: Node): boolean {
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect === "NoExecute" || effect === "NoSchedule")
  return taints.every((taint) =>
    (pod.spec?.tolerations ?? []).some((toleration) => {
      if (toleration.effect !== undefined && toleration.effect !== "" && toleration.effect !== taint.effect)
        return false
      if (toleration.key !== undefined && toleration.key !== "" && toleration.key !== taint.key) return false
      return toleration.operator === "Exists" || (toleration.value ?? "") === (taint.value ?? "")
    }),
  )
}
