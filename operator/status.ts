// The status of a VirtualCluster, with its condition Ready.

import { timestamp } from "../apimachinery/object.ts"
import type { Phase, VirtualClusterStatus } from "./types.ts"

/** Returns the status to write, or undefined if it is unchanged. */
export function nextStatus(
  current: VirtualClusterStatus | undefined,
  wanted: { phase: Phase; reason: string; message: string; clusterNamespace: string | undefined },
  now: number,
): VirtualClusterStatus | undefined {
  const { phase, reason, message, clusterNamespace } = wanted
  const same =
    current?.phase === phase &&
    current?.reason === reason &&
    current?.message === message &&
    current?.clusterNamespace === clusterNamespace
  if (same) return undefined
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
    conditions: [...others, condition],
  }
}
