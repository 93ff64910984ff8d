// The main loop of the syncer: informers of both sides → keys → fair queue (round robin over tenants) → one of four reconcilers.
// In addition, the patrol compares everything and enqueues what differs.

import { watchAdmission } from "../client/admission-changes.ts"
import { errorMessage } from "../apimachinery/error-message.ts"
import type { Node } from "../apimachinery/object.ts"
import { EventRecorder } from "../client/events.ts"
import { endsWithin, type Clock } from "../client/clock.ts"
import type { Log } from "../client/log.ts"
import { LimitedWakings } from "../client/limited-wakings.ts"
import type { Tenant, Tenants, TenantUse } from "../client/tenants.ts"
import { FairQueue } from "../client/workqueue/fair-queue.ts"
import { runWorkers } from "../client/workqueue/workers.ts"
import { nodes, pods } from "../client/resources.ts"
import { Caches } from "./clusters/caches.ts"
import { ObservedClient, Reachability } from "./clusters/reachability.ts"
import { Comparisons } from "./comparisons.ts"
import { SyncController, type Outcome } from "./controller.ts"
import { CopyQuota } from "./copy-quota.ts"
import { EventMirror } from "./event-mirror.ts"
import { connectEventSources } from "./event-sources.ts"
import { RefusedError } from "./failures.ts"
import { identify, podTokens, superEvents, type SyncKey } from "./keys.ts"
import { keepNodeLeases } from "./node-leases.ts"
import { clockOf, logOf, settingsOf, syncerLimits, type SyncerOptions } from "./options.ts"
import { Patrol, type PatrolReport } from "./patrol.ts"
import { PatrolMetrics } from "./patrol-metrics.ts"
import { Preemption } from "./preemption.ts"
import { Publisher } from "./publisher.ts"
import { publications, syncOf } from "./resources/index.ts"
import { Retries } from "./retries.ts"
import { TokenKeeper } from "./token-keeper.ts"

export class Syncer implements AsyncDisposable {
  readonly #options: SyncerOptions
  readonly #tenants: Tenants
  readonly #log: Log
  readonly #clock: Clock
  readonly #queue: FairQueue<SyncKey>
  readonly #caches: Caches
  readonly #quota: CopyQuota
  readonly #controller: SyncController
  readonly #publisher: Publisher
  readonly #events: EventMirror
  readonly #tokens: TokenKeeper
  readonly #preemption: Preemption
  readonly #patrol: Patrol
  readonly #recorder: EventRecorder
  readonly #stopping = new AbortController()
  readonly #byClusterKey = new Map<string, Tenant>()
  readonly #retries: Retries
  /** Comparisons of whole tenants, whose results are enqueued in pieces. */
  readonly #comparisons = new Comparisons((tenant) => this.#compare(tenant))
  /** Tenants that have been compared completely since the start. */
  readonly #compared = new Set<string>()
  readonly #stops: (() => void)[] = []
  #synced: Promise<void> = Promise.resolve()
  #running: Promise<void> = Promise.resolve()

  private constructor(options: SyncerOptions) {
    this.#options = options
    const { tenants } = options
    const clock = clockOf(options)
    this.#tenants = tenants
    this.#log = logOf(options)
    this.#clock = clock
    this.#retries = new Retries(new LimitedWakings(tenants, clock, syncerLimits.wakingForFailedMs), clock)
    const superClient = new ObservedClient(options.superClient, new Reachability(this.#log))
    const settings = settingsOf(options)
    const maxWorking = options.workers ?? syncerLimits.workers
    const metrics = options.metrics?.queue("syncer")
    this.#queue = new FairQueue({ identify, group: ({ tenant }) => tenant, maxWorking, clock, metrics })
    this.#caches = new Caches({ tenants, superClient, clock, log: this.#log })
    const caches = this.#caches
    this.#recorder = new EventRecorder({ component: "polyplane-syncer", clock, log: this.#log })
    const schedule = (key: SyncKey, afterMs: number): void => this.#queue.addAfter(key, afterMs)
    this.#tokens = new TokenKeeper({ tenants, superClient, caches, clock, events: this.#recorder, schedule })
    this.#quota = new CopyQuota(caches, clock)
    this.#controller = new SyncController({
      tenants,
      superClient,
      caches,
      settings,
      quota: this.#quota,
      clock,
      events: this.#recorder,
      ensureTokens: (tenant, pod, use) => this.#tokens.ensure(tenant, pod, use),
      ensureNode: (tenant, name, use) => this.#ensureNode(tenant, name, use),
    })
    const contextOf: SyncController["contextOf"] = (tenant) => this.#controller.contextOf(tenant)
    this.#publisher = new Publisher({ tenants, superClient, caches, contextOf, events: this.#recorder })
    this.#preemption = new Preemption({ tenants, superClient, clock, events: this.#recorder, contextOf })
    this.#events = new EventMirror(tenants, caches)
    this.#patrol = new Patrol({
      tenants,
      superClient,
      caches,
      publisher: this.#publisher,
      tokens: this.#tokens,
      waiting: (tenant, context) => this.#preemption.waiting(tenant, context),
      contextOf,
      enqueue: (key) => this.#queue.add(key),
      schedule,
      tenantListComplete: options.tenantListComplete ?? (() => true),
      clock,
      metrics: options.metrics?.of("patrol", () => new PatrolMetrics()),
      log: this.#log,
    })
  }

  static async start(options: SyncerOptions): Promise<Syncer> {
    const syncer = new Syncer(options)
    syncer.#start()
    // Failures after the start are logged where they happen. This turn lets informers send their requests first.
    await Promise.resolve()
    return syncer
  }

  /** Resolves when the super cluster has been listed completely once. */
  whenSynced(): Promise<void> {
    return this.#synced
  }

  /** Compares everything now and enqueues what differs. */
  patrol(): Promise<PatrolReport> {
    return this.#patrol.run(this.#stopping.signal)
  }

  /** Number of keys queued or being processed, without delayed keys. */
  get pending(): number {
    return this.#queue.size + this.#queue.processing
  }

  /** Number of delayed keys: retries and token renewals. */
  get delayed(): number {
    return this.#queue.delayed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    for (const stop of this.#stops) stop()
    await endsWithin(this.#clock, syncerLimits.stopTimeoutMs, this.#running)
    this.#queue[Symbol.dispose]()
    await this.#recorder.drained()
  }

  #start(): void {
    const { signal } = this.#stopping
    this.#stops.push(
      this.#quota.start(),
      this.#tenants.subscribe({
        added: (tenant) => this.#byClusterKey.set(tenant.clusterKey, tenant),
        removed: (tenant) => this.#forget(tenant),
      }),
    )
    this.#stops.push(
      connectEventSources({
        caches: this.#caches,
        isReady: (tenant) => this.#caches.isReady(tenant),
        // At the start none of the thousands of tenants is ready, so they need not be checked individually.
        readyTenants: () =>
          this.#caches.superReady ? this.#tenants.list().filter(({ name }) => this.#caches.isReady(name)) : [],
        wake: (tenant) => this.#wake(tenant),
        tenantOf: (clusterKey) => this.#byClusterKey.get(clusterKey),
        enqueue: (key) => this.#queue.add(key),
        synced: (name) => this.#becameReady(name),
        asleep: (name, resource) => {
          const tenant = this.#tenants.get(name)
          if (tenant === undefined) return
          this.#caches.fold(resource, tenant.clusterKey)
          // A gateway in another process does not know what is left to do. Not at once: the tenant is only about to sleep.
          if (!this.#compared.has(name)) queueMicrotask(() => this.#wake(name))
        },
      }),
    )
    watchAdmission(this.#tenants, (tenant) => this.#tryAgain(tenant), signal)
    this.#synced = this.#caches.start(signal)
    const isBusy = (tenant: string): boolean => this.#queue.isBusy(tenant) || this.#comparisons.isBusy(tenant)
    this.#stops.push(this.#tenants.register({ isBusy, following: this.#synced }))
    this.#running = this.#run(signal)
    this.#running.catch((error: unknown) => this.#log.error({ err: error }, "syncer stopped"))
  }

  async #run(signal: AbortSignal): Promise<void> {
    await this.#synced
    if (signal.aborted) return
    const workers = runWorkers({
      queue: this.#queue,
      workers: this.#options.workers ?? syncerLimits.workers,
      reconcile: (key) => this.#reconcile(key),
      pause: ({ tenant }) => this.#tenants.pause(tenant),
      name: "syncer",
      log: this.#log,
      signal,
    })
    const periodMs = this.#options.patrolPeriodMs ?? syncerLimits.patrolPeriodMs
    await Promise.all([workers, this.#patrol.runForever(periodMs, signal), this.#keepNodeLeases(signal)])
  }

  #keepNodeLeases(signal: AbortSignal): Promise<void> {
    const nodesOf = (tenant: string): readonly Node[] => this.#caches.tenantInformer(nodes).list(tenant) as Node[]
    return keepNodeLeases({ tenants: this.#tenants, nodesOf, clock: this.#clock, log: this.#log }, signal)
  }

  async #reconcile(key: SyncKey): Promise<Outcome> {
    if (this.#tenants.get(key.tenant) === undefined) return this.#retries.end(key)
    if (!this.#caches.isReady(key.tenant)) return this.#wakeFor(key)
    try {
      return this.#retries.done(key, await this.#dispatch(key))
    } catch (error) {
      if (error instanceof RefusedError && !error.mayChangeUnseen) return this.#retries.end(key)
      const failure = this.#retries.failed(key, error)
      // Only conflicts and bugs remain: the workers log and retry them.
      if (failure === undefined) throw error
      const said = { key, error: errorMessage(error) }
      if (failure.isNew)
        this.#log.warn(said, "a tenant refuses what the syncer has for it, or fails to do it; retrying")
      else this.#log.debug(said, "reconcile failed; retrying")
      return failure.again
    }
  }

  /** The tenant fell asleep before the key was due. When it wakes, it is compared completely, except for events. */
  #wakeFor(key: SyncKey): Outcome {
    if (this.#retries.isAtRest(key)) return this.#retries.wakeFor(key)
    // A renewal that is due is compared, too, but nobody else would wake the tenant if that fails, before its pods have lost their tokens.
    const isKept = key.resource === superEvents || key.resource === podTokens
    if (isKept) return this.#retries.waitFor(key, () => this.#wake(key.tenant))
    this.#wake(key.tenant)
    return this.#retries.end(key)
  }

  async #dispatch(key: SyncKey): Promise<Outcome> {
    const use = { isUse: !this.#retries.isAtRest(key) }
    if (key.resource === superEvents) return this.#events.reconcile(key, use)
    if (key.resource === podTokens) return this.#tokens.reconcile(key, use)
    if (syncOf(key) === undefined) return this.#publisher.reconcile(key, use)
    const outcome = await this.#controller.reconcile(key, use)
    const tenant = this.#tenants.get(key.tenant)
    if (key.resource !== pods.resource || tenant === undefined) return outcome
    return outcome ?? this.#preemption.consider(tenant, key.namespace, key.name, use)
  }

  #wake(tenant: string): boolean {
    // Until the super cluster has been listed, every object in it is reported as new, which says nothing about a tenant.
    if (this.#caches.superReady) this.#tenants.wake(tenant)
    return this.#caches.superReady
  }

  async #ensureNode(tenant: Tenant, name: string, use: TenantUse): Promise<void> {
    const kind = publications.find(({ resource }) => resource === nodes)
    if (kind !== undefined) await this.#publisher.publish(kind, tenant, name, use)
  }

  /** A kind of a tenant has been listed. The comparison after the last kind yields only the keys that differ. */
  #becameReady(name: string): void {
    if (!this.#caches.isReady(name)) return
    this.#retries.awake(name)
    void this.#comparisons.ask(name)
  }

  async #compare(name: string): Promise<void> {
    const tenant = this.#tenants.get(name)
    if (tenant === undefined) return
    try {
      await this.#patrol.compareTenant(tenant, this.#stopping.signal, { isFirst: true })
    } catch (error) {
      this.#log.error({ tenant: name, err: error }, "first comparison failed")
    }
    this.#tryAgain(name)
    // Not if it has fallen asleep meanwhile.
    if (this.#caches.isReady(name)) this.#compared.add(name)
    else this.#wake(name)
  }

  /** What has failed may succeed now: the tenant has woken, or its admission has changed. */
  #tryAgain(name: string): void {
    if (!this.#caches.isReady(name)) return
    for (const key of this.#retries.atRest(name)) this.#queue.add(key)
  }

  #forget(tenant: Tenant): void {
    if (this.#byClusterKey.get(tenant.clusterKey)?.uid === tenant.uid) this.#byClusterKey.delete(tenant.clusterKey)
    this.#queue.removeGroup(tenant.name)
    this.#compared.delete(tenant.name)
    this.#preemption.forget(tenant.name)
    this.#publisher.forget(tenant.name)
    this.#retries.forgetTenant(tenant.name)
  }
}
