// One of several replicas works, the others wait: a Lease that the working one renews. Times are measured on one's own
// clock from when a change of the Lease was seen, so clocks need not agree, only run equally fast.
// Source: k8s.io/client-go/tools/leaderelection/leaderelection.go.

import { microTimestamp, type KubeObject } from "../apimachinery/object.ts"
import { isNotFound } from "../apimachinery/status.ts"
import { pause, systemClock, type Clock } from "./clock.ts"
import { silentLog, type Log } from "./log.ts"
import { leases } from "./resources.ts"
import type { KubeClient } from "./rest.ts"

export interface LeaderElectionTimes {
  /** How long others wait after the last renewal they saw. */
  leaseMs: number
  /** The leader gives up when it could not renew for so long; below leaseMs. A call may take half of it. */
  renewMs: number
  /** Between two attempts. */
  retryMs: number
}

const defaultTimes: LeaderElectionTimes = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 }

export interface LeaderElectionOptions {
  client: KubeClient
  namespace: string
  name: string
  /** Unique among the replicas. */
  identity: string
  /** The work. Its signal ends when leadership is lost; it must then stop, and resolve, before another takes over. */
  lead(signal: AbortSignal): Promise<void>
  signal: AbortSignal
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

/** Resolves when the signal ends (the Lease is then given back) or when leadership was lost after it was won. */
export async function runLeaderElection(options: LeaderElectionOptions): Promise<void> {
  const { signal } = options
  const election = new Election(options)
  if (!(await election.acquire())) return
  const leading = new AbortController()
  const work = options.lead(AbortSignal.any([signal, leading.signal]))
  // Work that ends, well or not, ends the leadership: nobody should hold a Lease it does not serve.
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
  /** The Lease as last seen, and when a change of it was seen. */
  #observed: { lease: Lease; at: number } | undefined
  /** When the last try that succeeded began: whoever sees it counts from later on. */
  #renewedAt = 0

  constructor(options: LeaderElectionOptions) {
    this.#options = options
    this.#times = { ...defaultTimes, ...options.times }
    this.#clock = options.clock ?? systemClock
    this.#log = options.log ?? silentLog
  }

  /** false: the signal ended first. */
  async acquire(): Promise<boolean> {
    const { signal, name } = this.#options
    while (!signal.aborted) {
      if (await this.#attempt(this.#times.renewMs / 2, signal)) {
        this.#log.info({ lease: name }, "became leader")
        return true
      }
      // Jitter as upstream: 1.2 times at most.
      await pause(this.#clock, this.#times.retryMs * (1 + Math.random() * 0.2), signal)
    }
    return false
  }

  /** Resolves when the signal ended or the Lease could not be renewed in time. */
  async renew(signal: AbortSignal): Promise<void> {
    const { retryMs, renewMs } = this.#times
    const leftMs = (): number => this.#renewedAt + renewMs - this.#clock.now()
    for (;;) {
      await pause(this.#clock, Math.min(retryMs, leftMs()), signal)
      if (signal.aborted) return
      // One that is not answered leaves time for another.
      if (leftMs() > 0 && (await this.#attempt(Math.min(leftMs(), renewMs / 2), signal))) continue
      if (signal.aborted || leftMs() > 0) continue
      this.#log.warn({ lease: this.#options.name }, "lost leadership")
      return
    }
  }

  /** So that the next one need not wait. Upstream's release leaves a Lease of one second without holder. */
  async release(): Promise<void> {
    const lease = this.#observed?.lease
    if (lease?.spec?.holderIdentity !== this.#options.identity) return
    const now = microTimestamp(new Date(this.#clock.now()))
    const transitions = lease.spec.leaseTransitions ?? 0
    const spec = { leaseDurationSeconds: 1, renewTime: now, acquireTime: now, leaseTransitions: transitions }
    const released = { ...lease, spec: { holderIdentity: "", ...spec } }
    // Otherwise it runs out by itself.
    await this.#inTime(this.#times.renewMs / 2, undefined, async () => {
      await this.#options.client.update<Lease>(leases, released)
      return true
    })
  }

  /** Whether the Lease is ours. */
  async #attempt(ms: number, signal: AbortSignal): Promise<boolean> {
    const began = this.#clock.now()
    const isOurs = await this.#inTime(ms, signal, (over) => this.#tryLease(over))
    if (isOurs) this.#renewedAt = began
    return isOurs
  }

  /** What takes longer, or is still under way when the signal ends, counts as failed: `work` is told that it is over. */
  async #inTime(
    ms: number,
    signal: AbortSignal | undefined,
    work: (over: AbortSignal) => Promise<boolean>,
  ): Promise<boolean> {
    const over = new AbortController()
    const until = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal])
    const isLate = pause(this.#clock, ms, until).then(() => false)
    const done = work(over.signal).catch((error: unknown) => {
      this.#log.debug({ lease: this.#options.name, error: String(error) }, "lease not written")
      return false
    })
    try {
      return await Promise.race([done, isLate])
    } finally {
      over.abort()
    }
  }

  /** Once `over` it writes nothing any more, and what it finds is not minded. */
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
    if (holder !== "" && holder !== identity && until > this.#clock.now()) return false
    this.#observe(await client.update<Lease>(leases, { ...lease, spec: this.#spec(lease.spec) }), over)
    return true
  }

  #observe(lease: Lease, over: AbortSignal): void {
    if (!over.aborted) this.#observed = { lease, at: this.#clock.now() }
  }

  #spec(current: LeaseSpec | undefined): LeaseSpec {
    const now = microTimestamp(new Date(this.#clock.now()))
    const mine = current?.holderIdentity === this.#options.identity
    const transitions = current?.leaseTransitions ?? 0
    return {
      ...current,
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.max(1, Math.ceil(this.#times.leaseMs / 1000)),
      acquireTime: mine ? (current.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: current === undefined || mine ? transitions : transitions + 1,
    }
  }
}
