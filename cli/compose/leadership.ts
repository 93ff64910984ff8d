// Only one syncer and one operator work per super cluster, chosen by a Lease in it. Two of them would silently undo each other's
// work, since each deletes objects of tenants that its own gateway does not know.

import { hasReason, isAlreadyExists } from "../../apimachinery/status.ts"
import { aborted, endsWithin, pause, systemClock } from "../../client/clock.ts"
import { runLeaderElection, type LeaderElectionTimes } from "../../client/leader-election.ts"
import { failureFields, type Log } from "../../client/log.ts"
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { leases } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { UserError } from "../command.ts"

/** Exists in every cluster. */
export const leaseNamespace = "kube-system"
export const syncerLease = "polyplane-syncer"
export const operatorLease = "polyplane-operator"
/** For gateways that share their storage: one of them runs the controllers of all tenants. */
export const controllersLease = "polyplane-controllers"

/**
 * Longer than usual: a short outage of the super cluster then causes no restart, and other processes cannot write to it during
 * the outage either.
 */
const times: LeaderElectionTimes = { leaseMs: 60_000, renewMs: 45_000, retryMs: 5_000 }
/** Replicas that share their storage have a standby ready, so they take over sooner. */
export const replicaTimes: LeaderElectionTimes = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 }
/** The API allows no more. */
const longestSeconds = 2 ** 31 - 1
/** After this time a command that waits says for whom. */
const noticeMs = 5_000
/** Delay after work that failed to start. */
const retryMs = 5_000

/**
 * For a super cluster that exists only while this process works on it: the Leases are not renewed, and keep processes out that are
 * given its kubeconfig.
 */
export async function holdForever(client: KubeClient, identity: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const metadata = { namespace: leaseNamespace, name }
    const spec = { holderIdentity: identity, leaseDurationSeconds: longestSeconds }
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec }
    try {
      await client.create(leases, lease)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      // Of an earlier start. Usually it is the same: nothing is written.
      await client.patch(leases, leaseNamespace, name, { spec }, { type: "merge" })
    }
  }
}

interface LeadershipOptions {
  client: KubeClient
  /** Name of the Lease. */
  name: string
  /** Identity of this process. After a restart it is the same, so the new process need not wait for the Lease to expire. */
  identity: string
  /** Started when the Lease is acquired, disposed when it is lost; this may repeat. */
  work(): Promise<AsyncDisposable>
  log: Log
  /** Records which process leads. */
  metrics?: ClientMetrics | undefined
  times?: LeaderElectionTimes
}

export class Leadership implements AsyncDisposable {
  readonly #options: LeadershipOptions
  readonly #stopping = new AbortController()
  readonly #working = Promise.withResolvers<void>()
  readonly #running: Promise<void>

  private constructor(options: LeadershipOptions) {
    this.#options = options
    this.#working.promise.catch(() => undefined) // untilWorking() reports it
    options.metrics?.setLeader(options.name, false)
    this.#running = this.#run()
  }

  static start(options: LeadershipOptions): Leadership {
    return new Leadership(options)
  }

  /**
   * Resolves when the work has started once; fails if that failed, or if the super cluster refuses the Lease. `timeoutMs`: fails with
   * UserError if another process leads for that long.
   */
  async untilWorking(timeoutMs?: number): Promise<void> {
    const working = this.#working.promise
    if (timeoutMs === undefined) return working
    const firstMs = Math.min(noticeMs, timeoutMs)
    if (await endsWithin(systemClock, firstMs, working)) return
    await this.#tellWhoLeads()
    if (await endsWithin(systemClock, timeoutMs - firstMs, working)) return
    throw new UserError(toldAbout(this.#options.name, (await this.#currentLeader()) ?? "nobody"))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { client, name, identity, log } = this.#options
    const { signal } = this.#stopping
    const common = { client, namespace: leaseNamespace, name, identity, signal, log }
    while (!signal.aborted) {
      try {
        await runLeaderElection({
          ...common,
          times: this.#options.times ?? times,
          failed: (error) => {
            if (hasReason(error, "Unauthorized", "Forbidden")) this.#working.reject(error) // only the first result counts
          },
          lead: (held) => this.#whileLeading(held),
        })
      } catch (error) {
        this.#working.reject(error)
        log.error({ lease: name, ...failureFields(error) }, "the leader's work failed; restarting it")
        await pause(systemClock, retryMs, signal)
      }
    }
  }

  async #whileLeading(held: AbortSignal): Promise<void> {
    const { metrics, name } = this.#options
    await using _work = await this.#options.work()
    metrics?.setLeader(name, true)
    try {
      this.#working.resolve()
      await aborted(held)
    } finally {
      metrics?.setLeader(name, false)
    }
  }

  async #tellWhoLeads(): Promise<void> {
    const { identity, log, name } = this.#options
    try {
      const leader = await this.#currentLeader()
      if (leader !== undefined && leader !== identity) log.warn({}, `${toldAbout(name, leader)}; waiting for it`)
    } catch {
      // That the Lease cannot be read is logged already.
    }
  }

  /** Undefined: it has been released. */
  async #currentLeader(): Promise<string | undefined> {
    const { client, name } = this.#options
    const lease = await client.get(leases, leaseNamespace, name)
    const { holderIdentity } = (lease["spec"] ?? {}) as { holderIdentity?: string }
    return holderIdentity || undefined
  }
}

function toldAbout(lease: string, leader: string): string {
  return `another Polyplane works on this super cluster: its Lease ${leaseNamespace}/${lease} is held by ${leader}`
}
