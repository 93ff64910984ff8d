// The status of a VirtualCluster, with its condition Ready.

import { equalJson } from "../apimachinery/equality.ts"
import { timestamp } from "../apimachinery/object.ts"
import { quotaNames, type TenantQuota } from "../client/tenants.ts"
import type { Phase, VirtualClusterStatus } from "./types.ts"

/** What is to be reported of a VirtualCluster. */
export interface Report {
  phase: Phase
  reason: string
  message: string
  clusterNamespace?: string | undefined
  /** Undefined: the gateway's limits apply. */
  quota?: TenantQuota | undefined
}

/** A merge patch: null removes a field. */
type StatusPatch = Omit<VirtualClusterStatus, "quota"> & { quota?: Record<keyof TenantQuota, number | null> | null }

/** Returns the status to write, or undefined if it is unchanged. */
export function nextStatus(
  current: VirtualClusterStatus | undefined,
  wanted: Report,
  now: number,
): StatusPatch | undefined {
  const { phase, reason, message, clusterNamespace, quota } = wanted
  const isSame = isSaid(current, wanted) && current?.clusterNamespace === clusterNamespace
  if (isSame && equalJson(current?.quota, quota)) return undefined
  const status = phase === "Running" ? "True" : "False"
  const before = current?.conditions?.find(({ type }) => type === "Ready")
  const condition = {
    type: "Ready",
    status,
    reason,
    message,
    lastTransitionTime:
      before?.status === status && before.lastTransitionTime !== undefined
        ? before.lastTransitionTime
        : timestamp(new Date(now)),
  } as const
  const others = (current?.conditions ?? []).filter(({ type }) => type !== "Ready")
  return {
    phase,
    reason,
    message,
    ...(clusterNamespace === undefined ? {} : { clusterNamespace }),
    ...(current?.quota === undefined && quota === undefined ? {} : { quota: patchOf(quota) }),
    conditions: [...others, condition],
  }
}

/** Whether an event has told it already. */
export function isSaid(
  current: VirtualClusterStatus | undefined,
  { phase, reason, message }: Pick<Report, "phase" | "reason" | "message">,
): boolean {
  return current?.phase === phase && current.reason === reason && current.message === message
}

function patchOf(quota: TenantQuota | undefined): Required<StatusPatch>["quota"] {
  if (quota === undefined) return null
  return Object.fromEntries(quotaNames.map((name) => [name, quota[name] ?? null])) as Required<StatusPatch>["quota"]
}

/** For an event. */
export function printQuota(quota: TenantQuota = {}): string {
  const limits = quotaNames.flatMap((name) => (quota[name] === undefined ? [] : `${name}=${quota[name]}`))
  return limits.length === 0
    ? "the tenant has no quota of its own now"
    : `the tenant's quota is now ${limits.join(", ")}`
}
