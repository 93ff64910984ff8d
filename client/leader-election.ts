// Leader election: one of several replicas works and renews a Lease, the others wait. Each measures time with its own clock from
// when it observed a change of the Lease, so clocks need not agree but only run at the same rate. Source:
// k8s.io/client-go/tools/leaderelection/leaderelection.go.

import { microTimestamp, type KubeObject } from "../apimachinery/object.ts"
import { isAlreadyExists, isConflict, isNotFound } from "../apimachinery/status.ts"
import { pause, systemClock, type Clock } from "./clock.ts"
import { failureFields, silentLog, type Log } from "./log.ts"
import { leases } from "./resources.ts"
import type { KubeClient } from "./rest.ts"

export interface LeaderElectionTimes {
  /** How long others wait after the last observed renewal. */
  leaseMs: number
  /** The leader gives up if it could not renew for this long; less than leaseMs. A call may take half of it. */
  renewMs: number
  /** Between two attempts. */
  retryMs: number
}

const defaultTimes: LeaderElectionTimes = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 }

interface LeaderElectionOptions {
  client: KubeClient
  namespace: string
  name: string
  /** Unique among the replicas. */
  identity: string
  /** The work. Its signal ends when leadership is lost; it must then stop and resolve before another replica takes over. */
  lead(signal: AbortSignal): Promise<void>
  signal: AbortSignal
  /** Called when an attempt has failed, which is repeated. */
  failed?(error: unknown): void
  times?: Partial<LeaderElectionTimes>
  clock?: Clock
  log?: Log
}

interface LeaseSpec {
  holderIdentity?: string
  leaseDurationSeconds?: number
  acquireTime?: string
  renewTime?: string
  leaseTransitions?: number
}

interface Lease extends KubeObject {
  spec?: LeaseSpec
}

/** Resolves when the signal ends (the Lease is then released) or when leadership is lost. */
export async function runLeaderElection(options: LeaderElectionOptions): Promise<void> {
  const { signal } = options
  const election = new Election(options)
  if (!(await election.acquire())) return
  const leading = new AbortController()
  const work = options.lead(AbortSignal.any([signal, leading.signal]))
  // Work that ends for any reason ends the leadership: a replica that does not work should not hold the Lease.
  const ended = work.then(
    () => leading.abort(),
    () => leading.abort(),
  )
  try {
    await election.renew(AbortSignal.any([signal, leading.signal]))
  } finally {
    leading.abort()
    await ended
    await election.release()
  }
  await work
}

class Election {
  readonly #options: LeaderElectionOptions
  readonly #times: LeaderElectionTimes
  readonly #clock: Clock
  readonly #log: Log
  /** The last observed Lease, and when its change was observed. */
  #observed: { lease: Lease; at: number } | undefined
  /** Start of the last successful attempt. Other replicas observe it later, so they wait longer. */
  #renewedAt = 0

  constructor(options: LeaderElectionOptions) {
    this.#options = options
    this.#times = { ...defaultTimes, ...options.times }
    this.#clock = options.clock ?? systemClock
    this.#log = options.log ?? silentLog
  }

  /** Returns false if the signal ended first. */
  async acquire(): Promise<boolean> {
    const { signal, name } = this.#options
    while (!signal.aborted) {
      if (await this.#attempt(this.#times.renewMs / 2, signal)) {
        this.#log.info({ lease: name }, "became leader")
        return true
      }
      // The jitter of upstream: a factor of up to 1.2.
      await pause(this.#clock, this.#times.retryMs * (1 + Math.random() * 0.2), signal)
    }
    return false
  }

  /** Resolves when the signal has ended or the Lease could not be renewed in time. */
  async renew(signal: AbortSignal): Promise<void> {
    const { retryMs, renewMs } = this.#times
    const leftMs = (): number => this.#renewedAt + renewMs - this.#clock.elapsed()
    for (;;) {
      await pause(this.#clock, Math.min(retryMs, leftMs()), signal)
      if (signal.aborted) return
      // An attempt without a response leaves time for another one.
      if (leftMs() > 0 && (await this.#attempt(Math.min(leftMs(), renewMs / 2), signal))) continue
      if (signal.aborted || leftMs() > 0) continue
      this.#log.warn({ lease: this.#options.name }, "lost leadership")
      return
    }
  }

  /**
   * Releases the Lease, so that the next replica need not wait. Like upstream, it leaves a Lease of one second without a holder.
   */
  async release(): Promise<void> {
    const lease = this.#observed?.lease
    if (lease?.spec?.holderIdentity !== this.#options.identity) return
    const now = microTimestamp(new Date(this.#clock.now()))
    const transitions = lease.spec.leaseTransitions ?? 0
    const spec = { leaseDurationSeconds: 1, renewTime: now, acquireTime: now, leaseTransitions: transitions }
    const released = { ...lease, spec: { holderIdentity: "", ...spec } }
    // If this fails, the Lease expires.
    await this.#inTime(this.#times.renewMs / 2, undefined, async () => {
      await this.#options.client.update<Lease>(leases, released)
      return true
    })
  }

  /** Returns whether this replica holds the Lease. */
  async #attempt(ms: number, signal: AbortSignal): Promise<boolean> {
    const began = this.#clock.elapsed()
    const isOurs = await this.#inTime(ms, signal, (over) => this.#tryLease(over))
    if (isOurs) this.#renewedAt = began
    return isOurs
  }

  /** Work that takes longer, or is in progress when the signal ends, counts as failed; its own signal then ends. */
  async #inTime(
    ms: number,
    signal: AbortSignal | undefined,
    work: (over: AbortSignal) => Promise<boolean>,
  ): Promise<boolean> {
    const over = new AbortController()
    const until = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal])
    const lease = this.#options.name
    const isLate = pause(this.#clock, ms, until).then(() => {
      if (!until.aborted) this.#log.warn({ lease, ms }, "no answer about the Lease in time; retrying")
      return false
    })
    const done = work(over.signal).catch((error: unknown) => {
      if (!over.signal.aborted && !isLostRace(error)) {
        this.#log.warn({ lease, ...failureFields(error) }, "the Lease cannot be read or written; retrying")
        this.#options.failed?.(error)
      }
      return false
    })
    try {
      return await Promise.race([done, isLate])
    } finally {
      over.abort()
    }
  }

  /** After `over` has ended, it writes nothing more, and its observations are ignored. */
  async #tryLease(over: AbortSignal): Promise<boolean> {
    const { client, namespace, name, identity } = this.#options
    let lease: Lease
    try {
      lease = await client.get<Lease>(leases, namespace, name)
    } catch (error) {
      if (!isNotFound(error)) throw error
      if (over.aborted) return false
      const metadata = { namespace, name }
      const made: Lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec: this.#spec(undefined) }
      this.#observe(await client.create<Lease>(leases, made), over)
      return true
    }
    if (over.aborted) return false
    if (this.#observed?.lease.metadata.resourceVersion !== lease.metadata.resourceVersion) this.#observe(lease, over)
    const holder = lease.spec?.holderIdentity ?? ""
    const heldMs = (lease.spec?.leaseDurationSeconds ?? 0) * 1000
    const until = (this.#observed?.at ?? 0) + heldMs
    if (holder !== "" && holder !== identity && until > this.#clock.elapsed()) return false
    this.#observe(await client.update<Lease>(leases, { ...lease, spec: this.#spec(lease.spec) }), over)
    return true
  }

  #observe(lease: Lease, over: AbortSignal): void {
    if (!over.aborted) this.#observed = { lease, at: this.#clock.elapsed() }
  }

  #spec(current: LeaseSpec | undefined): LeaseSpec {
    const now = microTimestamp(new Date(this.#clock.now()))
    const isHolder = current?.holderIdentity === this.#options.identity
    const transitions = current?.leaseTransitions ?? 0
    return {
      ...current,
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.max(1, Math.ceil(this.#times.leaseMs / 1000)),
      acquireTime: isHolder ? (current.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: current === undefined || isHolder ? transitions : transitions + 1,
    }
  }
}

/** Another replica was faster. */
function isLostRace(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error)
}
