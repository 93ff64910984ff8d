// How often a container was restarted, and when it is again.

import type { Pod } from "../../apimachinery/object.ts"

/** CrashLoopBackOff: doubled with every restart, reset after a run of ten minutes. */
const backOff = { baseMs: 10_000, maxMs: 300_000, forgetMs: 600_000 }

/** After so many restarts, and a run that took so long. */
export function restartDelayMs(restarts: number, ranMs: number): number {
  if (restarts === 0 || ranMs > backOff.forgetMs) return 0
  return Math.min(backOff.baseMs * 2 ** (restarts - 1), backOff.maxMs)
}

/** Restart counts survive a restart of the kubelet. A container that ran in an earlier simulator process is recreated: that counts as one. */
export function restartsBefore(container: string, { status }: Pod): number {
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
  const before = statuses.find(({ name, containerID }) => name === container && containerID)
  return before === undefined ? 0 : before.restartCount + 1
}
