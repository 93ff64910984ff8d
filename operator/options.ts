// What the operator is given, and its limits.

import type { Clock } from "../client/clock.ts"
import type { Log } from "../client/log.ts"
import type { ClientMetrics } from "../client/metrics/client-metrics.ts"
import type { KubeClient } from "../client/rest.ts"
import type { TenantAdmin } from "../client/tenants.ts"

export interface OperatorOptions {
  superClient: KubeClient
  tenants: TenantAdmin
  workers?: number
  clock?: Clock
  log?: Log
  /** Where its queue is counted. */
  metrics?: ClientMetrics | undefined
}

export const operatorLimits = {
  workers: 8,
  /** What only somebody's change can mend (a taken name, an unknown version) is looked at again this often. */
  recheckMs: 30_000,
  /** A tenant that takes longer to make is told to be under way. */
  slowMs: 500,
  /** First pause while the super cluster does not serve our resources; doubles up to the longest. */
  firstBackoffMs: 100,
  longestBackoffMs: 10_000,
  /** The admin kubeconfig in the root namespace is renewed when it is this old. */
  kubeconfigMaxAgeMs: 30 * 24 * 3_600_000,
  stopTimeoutMs: 10_000,
  /** Bytes in a namespace's name and in a label's value, which the cluster key is. */
  maxClusterKeyLength: 63,
} as const
