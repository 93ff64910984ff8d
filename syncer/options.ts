// What can be set, with defaults. Every limit of the syncer is here.

import type { Node } from "../apimachinery/object.ts"
import { systemClock, type Clock } from "../client/clock.ts"
import { silentLog, type Log } from "../client/log.ts"
import type { ClientMetrics } from "../client/metrics/client-metrics.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenants } from "../client/tenants.ts"

/** What kinds need to know. */
export interface SyncSettings {
  /** resolv.conf options of pods that use the tenant's DNS. */
  dnsOptions: readonly { name: string; value?: string }[]
  /** "all": every tenant sees every node; "used": only those its pods run on. */
  publishNodes: "all" | "used"
  /** Where a node's kubelet API is served for tenants. Undefined: the node's own address and port. */
  vnAgentEndpoint: ((node: Node) => { address: string; port: number } | undefined) | undefined
  /** Whether tenants' Services may draw the traffic to addresses of their choice, which may be other tenants' or super's own. */
  externalIPs: "allow" | "deny"
  /** Whether tenants' network policies are copied, where they may allow what the administrator's own do not. */
  networkPolicies: "allow" | "deny"
}

export interface SyncerOptions extends Partial<SyncSettings> {
  tenants: Tenants
  superClient: KubeClient
  /** Keys worked on at the same time. */
  workers?: number
  /** Between the ends of one full comparison and the start of the next. */
  patrolPeriodMs?: number
  /**
   * false while tenants may be missing from `tenants.list()`. Beyond that, a tenant counts as gone only when the super
   * cluster answers that its VirtualCluster does not exist.
   */
  tenantListComplete?: () => boolean
  clock?: Clock
  log?: Log
  /** Where its queue is counted. */
  metrics?: ClientMetrics | undefined
}

export const syncerLimits = {
  workers: 32,
  patrolPeriodMs: 60_000,
  /** Objects compared before others may use the event loop. */
  patrolSlice: 500,
  /** An event's key, whose tenant has to wake first, comes again. */
  wakingRetryMs: { first: 200, longest: 30_000 },
  /** Retry of what super refuses for good (403, 422, …) doubles from the first to the second. */
  refusedRetryMs: { first: 1_000, longest: 60_000 },
  /** Retry of what fails because a server does not answer. */
  unavailableRetryMs: { first: 500, longest: 30_000 },
  /** How long a super Service may exist without its tenant Service being visible: the write that claimed it is under way. */
  claimGraceMs: 30_000,
  /** Share of a token's life after which it is issued anew, and how long its issuer may be out of reach. */
  tokenRefreshShare: 0.8,
  /** Namespaces of unknown tenants looked up per patrol. */
  unknownNamespacesPerPatrol: 100,
  /** Extended resources of one tenant that super counts on one node; the first ones by name. */
  resourcesPerNode: 16,
  /** Nodes looked at for room when a pod of higher priority finds none. */
  preemptionCandidates: 16,
  /** After which a pod without room is looked at again, and a room made for it counts as lost. */
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
