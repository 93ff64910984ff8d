// One syncer and one operator per super cluster, whoever started them: a Lease there says whose turn it is. Two of them would
// undo each other's work without a word, since each removes what its own gateway does not know.

import { pause, systemClock, type Clock } from "../../client/clock.ts"
import { runLeaderElection, type LeaderElectionTimes } from "../../client/leader-election.ts"
import type { Log } from "../../client/log.ts"
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { leases } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { UserError } from "../command.ts"
import { aborted } from "../signals.ts"

/** Where every cluster has one. */
export const leaseNamespace = "kube-system"
export const syncerLease = "polyplane-syncer"
export const operatorLease = "polyplane-operator"
/** Of gateways that share their storage: one of them runs the controllers of all tenants. */
export const controllersLease = "polyplane-controllers"

/** Longer than usual: a super cluster that is away for a moment costs no restart, and nobody else can write to it either. */
const times: LeaderElectionTimes = { leaseMs: 60_000, renewMs: 45_000, retryMs: 5_000 }
/** Among processes that share their storage another is ready at once: its turn comes soon. */
export const replicaTimes: LeaderElectionTimes = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 }
/** After work that could not begin. */
const retryMs = 5_000

export interface LeadershipOptions {
  client: KubeClient
  /** Of the Lease. */
  name: string
  /** Of this process, and of the one that follows it after a restart: that need not wait then. */
  identity: string
  /** Begun when the Lease is held, disposed of when it is not any more; then the same again. */
  work(): Promise<AsyncDisposable>
  log: Log
  /** Where it is told who works. */
  metrics?: ClientMetrics | undefined
  clock?: Clock
  times?: LeaderElectionTimes
}

export class Leadership implements AsyncDisposable {
  readonly #options: LeadershipOptions
  readonly #stopping = new AbortController()
  readonly #working = Promise.withResolvers<void>()
  readonly #running: Promise<void>

  private constructor(options: LeadershipOptions) {
    this.#options = options
    this.#working.promise.catch(() => undefined) // whoever waits for it is told
    options.metrics?.leads(options.name, false)
    this.#running = this.#run()
  }

  static start(options: LeadershipOptions): Leadership {
    return new Leadership(options)
  }

  /** Resolves when the work has begun once; fails as it failed. `timeoutMs`: fails with UserError when another leads so long. */
  async whenWorking(timeoutMs?: number): Promise<void> {
    if (timeoutMs === undefined) return this.#working.promise
    const late = new AbortController()
    const deadline = pause(this.#options.clock ?? systemClock, timeoutMs, late.signal).then(() => "late" as const)
    const first = await Promise.race([this.#working.promise, deadline])
    late.abort()
    if (first === "late") throw new UserError(await this.#whoLeads())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { client, name, identity, log, clock = systemClock } = this.#options
    const { signal } = this.#stopping
    const common = { client, namespace: leaseNamespace, name, identity, signal, log, clock }
    while (!signal.aborted) {
      try {
        await runLeaderElection({ ...common, times: this.#options.times ?? times, lead: (held) => this.#lead(held) })
      } catch (error) {
        this.#working.reject(error) // only the first outcome counts
        log.error({ lease: name, error: String(error) }, "the work of a leader ended, beginning again")
        await pause(clock, retryMs, signal)
      }
    }
  }

  async #lead(held: AbortSignal): Promise<void> {
    const { metrics, name } = this.#options
    await using _work = await this.#options.work()
    metrics?.leads(name, true)
    try {
      this.#working.resolve()
      await aborted(held)
    } finally {
      metrics?.leads(name, false)
    }
  }

  async #whoLeads(): Promise<string> {
    const { client, name } = this.#options
    const lease = await client.get(leases, leaseNamespace, name)
    const { holderIdentity = "nobody" } = (lease["spec"] ?? {}) as { holderIdentity?: string }
    return `another Polyplane works on this super cluster: its Lease ${leaseNamespace}/${name} is held by ${holderIdentity}`
  }
}
