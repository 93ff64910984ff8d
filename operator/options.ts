// The operator's options and limits.

import type { Clock } from "../client/clock.ts"
import type { Log } from "../client/log.ts"
import type { ClientMetrics } from "../client/metrics/client-metrics.ts"
import type { KubeClient } from "../client/rest.ts"
import type { TenantAdmin } from "../client/tenants.ts"

export interface OperatorOptions {
  superClient: KubeClient
  tenants: TenantAdmin
  clock?: Clock
  log?: Log
  /** Counts its queue. */
  metrics?: ClientMetrics | undefined
}

export const operatorLimits = {
  workers: 8,
  /** Obstacles that the user must resolve (a taken name, an unknown version) are checked again at this interval. */
  recheckMs: 30_000,
  /** The gateway is asked at this interval which tenants it cannot serve. */
  faultsMs: 5_000,
  /** If creating a tenant takes longer, the status reports that it is in progress. */
  slowMs: 500,
  /** The first pause while the super cluster does not serve our resources; it doubles up to the longest. */
  firstBackoffMs: 100,
  longestBackoffMs: 10_000,
  /** The admin kubeconfig in the root namespace is renewed at this age. */
  kubeconfigMaxAgeMs: 30 * 24 * 3_600_000,
  stopTimeoutMs: 10_000,
  /** Kubernetes' limit in bytes for a namespace's name and a label's value; the cluster key is used as both. */
  maxClusterKeyLength: 63,
} as const
