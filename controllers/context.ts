// The context and the common frame of all controllers: one fair queue over tenants, a limited number of workers, and no reconcile for
// a tenant before the informers that the controller reads are synced for it.

import type { KubeObject } from "../apimachinery/object.ts"
import type { CertificateSigner } from "../client/certificate-signer.ts"
import type { Clock } from "../client/clock.ts"
import { EventRecorder } from "../client/events.ts"
import type { Log } from "../client/log.ts"
import type { ClientMetrics } from "../client/metrics/client-metrics.ts"
import type { TenantInformer } from "../client/informers/tenant-informer.ts"
import type { Tenants } from "../client/tenants.ts"
import { FairQueue } from "../client/workqueue/fair-queue.ts"
import { runWorkers, type ReconcileResult, type Untried } from "../client/workqueue/workers.ts"
import type { Activity } from "./activity.ts"
import { Actor } from "./actor.ts"
import type { AggregatedResources } from "./aggregated/aggregated-resources.ts"
import type { FailedKeys } from "./failed-keys.ts"
import type { Informers } from "./informers.ts"
import { queueName } from "./queue-names.ts"
import { giveUpOf, retriesOf } from "./retries.ts"

/** Identifies an object of a tenant. `namespace` is "" for cluster-scoped objects. */
export interface Key {
  tenant: string
  namespace: string
  name: string
}

/** Settings for which kube-controller-manager has flags. */
export interface ControllerLimits {
  /** Number of finished pods kept per control plane (--terminated-pod-gc-threshold). */
  finishedPods: number
  /** How long a Secret with an unused token is kept (--legacy-service-account-token-clean-up-period). */
  unusedTokenMs: number
  /** How often each autoscaler is reconciled (--horizontal-pod-autoscaler-sync-period). */
  autoscalerPeriodMs: number
}

export const defaultLimits: ControllerLimits = {
  finishedPods: 12_500,
  unusedTokenMs: 365 * 86_400_000,
  autoscalerPeriodMs: 15_000,
}

export interface ControllerContext {
  tenants: Tenants
  informers: Informers
  /** Of the tenants' aggregated APIs. */
  aggregated: AggregatedResources
  clock: Clock
  log: Log
  /** Stops all controllers. */
  signal: AbortSignal
  /** PEM of the CA of the tenants' API. */
  rootCertificateAuthority: string
  /** Signs with the tenants' own certificate authorities; undefined if this process does not have their keys. */
  signer?: CertificateSigner
  /** Number of keys processed at the same time, per controller. */
  workers: number
  activity: Activity
  failed: FailedKeys
  limits: ControllerLimits
  /** Counts the queues. */
  metrics?: ClientMetrics | undefined
}

/** The share of a controller's workers that one tenant may use while others have work. */
const shareBesideOthers = 4

/** Number of keys of a tenant that may currently be processed at the same time. */
export function workersFor({ activity, workers }: ControllerContext, tenant: string): number {
  return activity.hasOthers(tenant) ? Math.ceil(workers / shareBesideOthers) : workers
}

/** Starts a controller; resolves when the context's signal has ended and its last reconcile is done. */
export type RunController = (ctx: ControllerContext) => Promise<void>

/** The part of an informer that a controller needs if it only reads. */
export interface Synced {
  isSynced(tenant: string): boolean
  subscribe(handler: { synced?(tenant: string): void }): () => void
}

export interface ControllerOptions<T extends KubeObject> {
  name: string
  /** The source of its events; default: "<name>-controller". */
  eventSource?: string
  /** The informer of the objects that are reconciled: each change enqueues its object. */
  primary: TenantInformer<T>
  /** false: the object in this state needs no reconcile, and neither did a new object in this state. Default: true. */
  concerns?: (object: T) => boolean
  /** false: this update needs no reconcile. Default: true, if `concerns` holds before or after. */
  matters?: (object: T, previous: T) => boolean
  /** Other informers that are read. Reconciles wait until they are synced too. */
  reads?: readonly Synced[]
  /** Called when a tenant has been deleted. */
  forget?(tenant: string): void
  /** The controller works periodically: its calls do not keep a tenant awake. */
  isPeriodic?: boolean
  /**
   * When a sleeping tenant is woken for this key, which is due. "never": only what happens in the tenant itself matters, whose waking
   * enqueues all objects anyway. Default: now.
   */
  wakesInMs?(key: Key): number | "never"
}

export class Controller<T extends KubeObject> {
  readonly name: string
  readonly #ctx: ControllerContext
  readonly #options: ControllerOptions<T>
  readonly #queue: FairQueue<Key>
  readonly #events: EventRecorder

  constructor(ctx: ControllerContext, options: ControllerOptions<T>) {
    this.name = options.name
    this.#ctx = ctx
    this.#options = options
    const component = options.eventSource ?? `${options.name}-controller`
    this.#events = new EventRecorder({ component, clock: ctx.clock, log: ctx.log })
    this.#queue = new FairQueue<Key>({
      identify: (key) => `${key.tenant}\n${key.namespace}\n${key.name}`,
      group: (key) => key.tenant,
      maxWorking: (tenant) => workersFor(ctx, tenant),
      clock: ctx.clock,
      limits: retriesOf(options.name),
      refill: (tenant) => this.enqueueAll(tenant),
      metrics: ctx.metrics?.queue(queueName(options.name)),
    })
  }

  enqueue(tenant: string, namespace: string | undefined, name: string): void {
    // Before synced, enqueueAll() at synced covers the change.
    if (this.#ready(tenant)) this.#queue.add({ tenant, namespace: namespace ?? "", name })
  }

  enqueueObject(tenant: string, object: KubeObject): void {
    this.enqueue(tenant, object.metadata.namespace, object.metadata.name ?? "")
  }

  enqueueAfter(key: Key, ms: number): void {
    if (this.#ready(key.tenant)) this.#queue.addAfter(key, ms)
  }

  enqueueAll(tenant: string, namespace?: string): void {
    for (const object of this.#options.primary.list(tenant, namespace)) {
      if (this.#concerns(object)) this.enqueueObject(tenant, object)
    }
  }

  /** Of the tenant that has the name now; undefined if none has. For handlers: a reconcile is given its own. */
  actor(name: string, isUse = true): Actor | undefined {
    const { tenants, activity } = this.#ctx
    const tenant = tenants.get(name)
    if (tenant === undefined) return undefined
    const use = { isUse: isUse && this.#options.isPeriodic !== true }
    return new Actor({ tenants, tenant, use, events: this.#events, activity })
  }

  async run(reconcile: (key: Key, actor: Actor, signal: AbortSignal) => Promise<ReconcileResult>): Promise<void> {
    const { primary, reads = [], name, matters } = this.#options
    const { signal, log, workers } = this.#ctx
    primary.subscribe({
      added: (tenant, object) => {
        if (this.#concerns(object)) this.enqueueObject(tenant, object)
      },
      updated: (tenant, object, previous) => {
        const isRelevant = this.#concerns(object) || this.#concerns(previous)
        if (isRelevant && matters?.(object, previous) !== false) this.enqueueObject(tenant, object)
      },
      deleted: (tenant, object) => this.enqueueObject(tenant, object),
      synced: (tenant) => this.#synced(tenant),
      removed: (tenant) => {
        this.#queue.removeGroup(tenant)
        this.#options.forget?.(tenant)
      },
    })
    for (const informer of reads) informer.subscribe({ synced: (tenant) => this.#synced(tenant) })
    const unregister = this.#ctx.tenants.register(this.#queue)
    this.#ctx.failed.subscribe((tenant) => this.#tryAgain(tenant))
    const guarded = async (key: Key, until: AbortSignal): Promise<ReconcileResult | Untried> => {
      // What is tried again keeps no tenant awake: it may fail for ever.
      const actor = this.actor(key.tenant, !this.#queue.hasFailed(key))
      // The tenant may have been deleted while its key waited.
      if (actor === undefined) return
      if (!this.#ready(key.tenant)) return this.#wakeFor(key)
      this.#ctx.activity.observed(key.tenant)
      return reconcile(key, actor, until)
    }
    const giveUp = giveUpOf(name)
    await runWorkers({ queue: this.#queue, workers, name, log, signal, reconcile: guarded, giveUp })
    unregister()
    this.#queue[Symbol.dispose]()
    await this.#events.drained()
  }

  /** The tenant fell asleep before the key was due. When it is woken, all its objects are reconciled, and all keys that have failed. */
  #wakeFor(key: Key): ReconcileResult | Untried {
    if (this.#queue.hasFailed(key)) return { isUntried: true, requeueAfterMs: this.#ctx.failed.wake(key.tenant) }
    const wait = this.#options.wakesInMs?.(key) ?? 0
    if (wait === "never") return
    if (wait > 0) return { requeueAfterMs: wait }
    this.#ctx.tenants.wake(key.tenant, { isUse: false })
  }

  #tryAgain(tenant: string): void {
    if (this.#ready(tenant)) this.#queue.addFailed(tenant)
  }

  #concerns(object: T): boolean {
    return this.#options.concerns?.(object) !== false
  }

  #ready(tenant: string): boolean {
    const { primary, reads = [] } = this.#options
    return primary.isSynced(tenant) && reads.every((informer) => informer.isSynced(tenant))
  }

  #synced(tenant: string): void {
    if (!this.#ready(tenant)) return
    this.enqueueAll(tenant)
    this.#queue.addFailed(tenant)
  }
}
