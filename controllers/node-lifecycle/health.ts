// Whether a node still reports: its status or its Lease changes. Times are those at which a change was observed, not those that the node
// reports, and count what has elapsed: no correction of a clock makes a node silent.
// Source: k8s.io/kubernetes/pkg/controller/nodelifecycle (tryUpdateNodeHealth).

import { timestamp, type KubeObject, type Node } from "../../apimachinery/object.ts"
import type { Clock } from "../../client/clock.ts"
import { readyCondition } from "./taints.ts"

/** Grace periods: of a node that has never reported, and of one that has. */
const startupGraceMs = 60_000
const graceMs = 50_000
/** Upstream looks at nodes so often. */
const lookMs = 5_000

export interface Lease extends KubeObject {
  spec?: { renewTime?: string }
}

export interface Health {
  /** When the last change was observed, as elapsed(). */
  seenAt: number
  /** "": it names none; undefined: the node has no Ready condition. */
  heartbeat: string | undefined
  /** "": it was never renewed; undefined: there was no Lease. */
  renewTime: string | undefined
}

export function observe(
  before: Health | undefined,
  node: Node,
  lease: Lease | undefined,
  clock: Pick<Clock, "now" | "elapsed">,
): Health {
  const ready = readyCondition(node)
  const heartbeat = ready && (ready.lastHeartbeatTime ?? "")
  const renewTime = lease === undefined ? before?.renewTime : (lease.spec?.renewTime ?? "")
  const seenAt = clock.elapsed()
  if (before === undefined) {
    const age = Math.max(0, clock.now() - Date.parse(node.metadata.creationTimestamp ?? "")) || 0
    return { seenAt: heartbeat === undefined ? seenAt - age : seenAt, heartbeat, renewTime }
  }
  const isAlive =
    (heartbeat !== undefined && heartbeat !== before.heartbeat) ||
    (renewTime !== undefined && (before.renewTime === undefined || renewTime > before.renewTime))
  return isAlive ? { seenAt, heartbeat, renewTime } : { ...before, heartbeat }
}

/**
 * What is known of a node of the same name that was deleted. As upstream, one that says nothing has no more time than the former one
 * had, but until upstream looks at it.
 */
export function inherited({ seenAt, ...health }: Health, elapsed: number): Health {
  return { ...health, seenAt: Math.max(seenAt, elapsed + lookMs - startupGraceMs) }
}

/** Time until the node's grace period ends; 0: it has ended. `elapsed`: now. */
export function silentInMs(node: Node, { seenAt }: Health, elapsed: number): number {
  const grace = readyCondition(node) === undefined ? startupGraceMs : graceMs
  return Math.max(0, seenAt + grace + 1 - elapsed)
}

type Conditions = NonNullable<NonNullable<Node["status"]>["conditions"]>

/** The state of a node that does not report is unknown. */
export function silentConditions(node: Node, now: number): Conditions {
  const conditions = [...(node.status?.conditions ?? [])]
  const at = timestamp(new Date(now))
  for (const type of ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"]) {
    const index = conditions.findIndex((condition) => condition.type === type)
    const current = conditions[index]
    const unknown = { type, status: "Unknown", lastTransitionTime: at }
    if (current === undefined) {
      const created = node.metadata.creationTimestamp ?? at
      const [reason, message] = ["NodeStatusNeverUpdated", "Kubelet never posted node status."]
      conditions.push({ ...unknown, lastHeartbeatTime: created, reason, message })
    } else if (current.status !== "Unknown") {
      const [reason, message] = ["NodeStatusUnknown", "Kubelet stopped posting node status."]
      conditions[index] = { ...current, ...unknown, reason, message }
    }
  }
  return conditions
}
