// Options with their defaults, and all limits of the syncer.

import type { Node } from "../apimachinery/object.ts"
import { systemClock, type Clock } from "../client/clock.ts"
import { silentLog, type Log } from "../client/log.ts"
import type { ClientMetrics } from "../client/metrics/client-metrics.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenants } from "../client/tenants.ts"

/** `type`: of the address, as in a Node's status. */
export interface NodeEndpoint {
  type: string
  address: string
  port: number
}

/** Settings used by the kinds. */
export interface SyncSettings {
  /** resolv.conf options for pods that use the tenant's DNS. */
  dnsOptions: readonly { name: string; value?: string }[]
  /** "all": every tenant sees every node; "used": only those its pods run on. */
  publishNodes: "all" | "used"
  /** Where a node's kubelet API is served to tenants; undefined for the node's own address and port. */
  vnAgentEndpoint: ((node: Node) => NodeEndpoint | undefined) | undefined
  /** Whether tenants' Services may receive traffic for arbitrary addresses, including those of other tenants or of super. */
  externalIPs: "allow" | "deny"
  /** Whether tenants' network policies are copied, where they may allow what the administrator's own do not. */
  networkPolicies: "allow" | "deny"
}

export interface SyncerOptions extends Partial<SyncSettings> {
  tenants: Tenants
  superClient: KubeClient
  /** Number of keys processed concurrently. */
  workers?: number
  /** Pause between two full comparisons. */
  patrolPeriodMs?: number
  /**
   * false while tenants may be missing from `tenants.list()`. Beyond that, a tenant counts as gone only when the super
   * cluster answers that its VirtualCluster does not exist.
   */
  tenantListComplete?: () => boolean
  clock?: Clock
  log?: Log
  /** Receives the metrics of the queue. */
  metrics?: ClientMetrics | undefined
}

export const syncerLimits = {
  workers: 32,
  patrolPeriodMs: 60_000,
  /** Time for which objects are compared before other work gets its turn. */
  patrolTurnMs: 5,
  /** A tenant that has to wake up for an event, or to renew tokens, and does not, is asked again so much later. */
  wakingRetryMs: { first: 200, longest: 30_000 },
  /** Retry delay of writes that super refuses permanently (403, 422, …), doubled from first to longest. */
  refusedRetryMs: { first: 1_000, longest: 60_000 },
  /** Retry delay of calls that fail because a server does not respond. */
  unavailableRetryMs: { first: 500, longest: 30_000 },
  /** A sleeping tenant is woken so often for what it, or super, has kept from being done. */
  wakingForFailedMs: 600_000,
  /**
   * More often for what would come too late, as the renewal of a token that expires: when this share of the time that is left has passed,
   * but not sooner after the last time.
   */
  wakingBeforeLate: { share: 0.25, leastMs: 60_000 },
  /**
   * Before the new copy of a Service gives up a number that super has given to another one, it asks again after these times. So many copies may
   * wait, beyond which they do not; one that does not ask any more is forgotten after a while.
   */
  numberWaits: { afterMs: [100, 300, 1_000], remembered: 4_096, forgottenMs: 5_000 },
  /** Of the same change of a copy: so many are made at once, further ones after a delay. So many changes are remembered. */
  repeatedChanges: { atOnce: 5, delays: { first: 1_000, longest: 60_000 }, remembered: 4_096 },
  /**
   * How long a super Service may exist without a visible tenant Service: the tenant's write may still be in progress. It is not longer than
   * a request, whose webhooks see the address.
   */
  claimGraceMs: 60_000,
  /** After this time a kubelet that should have ended a pod counts as lost, if the tenant's pod is gone. */
  overdueEndMs: 30_000,
  /** Fraction of a token's lifetime after which it is renewed; the rest is how long its issuer may be unreachable. */
  tokenRefreshShare: 0.8,
  /** They are not renewed more often, also if the clocks of tenants and syncer differ by more than their lifetime. */
  tokenRefreshMinMs: 60_000,
  /** What a pod of a tenant that is gone has left once its namespace is being deleted. */
  unknownPodsGraceSeconds: 30,
  /** Namespaces of unknown tenants looked up per patrol. */
  unknownNamespacesPerPatrol: 100,
  /** Namespaces of a tenant in super, also those that still end, unless its quota says otherwise. Beyond: not copied, with an event. */
  namespaces: 10_000,
  /** The namespaces that tenants have in super are counted anew for a Service after this time, and after this one if there is no room. */
  namespacesKnownMs: 10_000,
  namespacesFullMs: 1_000,
  /** At most so much of the time is spent on counting them. */
  countingShare: 0.1,
  /** Runtime classes of a tenant in super: every kubelet there keeps all of them in memory. Beyond: likewise. */
  runtimeClasses: 16,
  /** A copy that the cache has not shown after this time is counted no more. */
  unseenCopyMs: 60_000,
  /** Extended resources per tenant that super counts on one node; the first ones by name. Others are told in an event. */
  resourcesPerNode: 16,
  /**
   * Likewise of all tenants together, those that are there first: kubelets and schedulers read and write them with the node's status. 90 KiB
   * at most.
   */
  resourcesOfAllPerNode: 128,
  /** Limit of nodes examined when a pod of higher priority does not fit anywhere. */
  preemptionCandidates: 16,
  /** Waiting pods of a tenant that are examined in preemptionRetryMs; more are examined later, in turn. */
  preemptionPods: 16,
  /** Delay until an unschedulable pod is examined again, and lifetime of a nomination. */
  preemptionRetryMs: 10_000,
  nominationMs: 120_000,
  stopTimeoutMs: 10_000,
} as const

export const defaultSettings: SyncSettings = {
  dnsOptions: [{ name: "ndots", value: "5" }],
  publishNodes: "all",
  vnAgentEndpoint: undefined,
  externalIPs: "deny",
  networkPolicies: "deny",
}

export function settingsOf(options: Partial<SyncSettings>): SyncSettings {
  return {
    dnsOptions: options.dnsOptions ?? defaultSettings.dnsOptions,
    publishNodes: options.publishNodes ?? defaultSettings.publishNodes,
    vnAgentEndpoint: options.vnAgentEndpoint ?? defaultSettings.vnAgentEndpoint,
    externalIPs: options.externalIPs ?? defaultSettings.externalIPs,
    networkPolicies: options.networkPolicies ?? defaultSettings.networkPolicies,
  }
}

export const clockOf = (options: { clock?: Clock }): Clock => options.clock ?? systemClock
export const logOf = (options: { log?: Log }): Log => options.log ?? silentLog
