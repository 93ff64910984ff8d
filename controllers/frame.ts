// What all controllers have in common: one fair queue over tenants, a limited number of workers, and when a key is reconciled that has
// failed, or whose tenant sleeps.

import { EventRecorder } from "../client/events.ts"
import { FairQueue } from "../client/workqueue/fair-queue.ts"
import { runWorkers, type ReconcileResult, type Untried } from "../client/workqueue/workers.ts"
import { Actor } from "./actor.ts"
import type { ControllerContext } from "./context.ts"
import { queueName } from "./queue-names.ts"
import { giveUpOf, retriesOf } from "./retries.ts"

interface FrameOptions<K> {
  name: string
  /** The source of its events; default: "<name>-controller". */
  eventSource?: string | undefined
  /** Unique within the tenant. */
  identify(key: K): string
  /** What the controller reads of the tenant is known. Nothing is reconciled before. */
  isReady(tenant: string): boolean
  /** Called when a tenant whose keys were refused has room again: all of them must be added. */
  refill?(tenant: string): void
  /** The controller works periodically: its calls do not keep a tenant awake. */
  isPeriodic?: boolean | undefined
  /** When a sleeping tenant is woken for this key, which is due and has not failed. "never": it is added again when the tenant wakes. */
  wakesInMs(key: K): number | "never"
}

export type Reconcile<K> = (key: K, actor: Actor, signal: AbortSignal) => Promise<ReconcileResult | Untried>

/** The share of a controller's workers that one tenant may use while others have work. */
const shareBesideOthers = 4

export class Frame<K extends { tenant: string }> {
  readonly queue: FairQueue<K>
  readonly #ctx: ControllerContext
  readonly #options: FrameOptions<K>
  readonly #events: EventRecorder

  constructor(ctx: ControllerContext, options: FrameOptions<K>) {
    const { name, eventSource } = options
    const { activity, clock, log, metrics, workers } = ctx
    this.#ctx = ctx
    this.#options = options
    this.#events = new EventRecorder({ component: eventSource ?? `${name}-controller`, clock, log })
    this.queue = new FairQueue<K>({
      identify: (key) => `${key.tenant}\n${options.identify(key)}`,
      group: ({ tenant }) => tenant,
      maxWorking: (tenant) => (activity.hasOthers(tenant) ? Math.ceil(workers / shareBesideOthers) : workers),
      clock,
      limits: retriesOf(name),
      refill: (tenant) => options.refill?.(tenant),
      metrics: metrics?.queue(queueName(name)),
    })
  }

  /** Of the tenant that has the name now; undefined if none has. */
  actor(name: string, isUse = true): Actor | undefined {
    const { tenants, activity } = this.#ctx
    const tenant = tenants.get(name)
    if (tenant === undefined) return undefined
    const use = { isUse: isUse && this.#options.isPeriodic !== true }
    return new Actor({ tenants, tenant, use, events: this.#events, activity })
  }

  /** Keys of the tenant that have failed are reconciled now: they may succeed. Called when all that the controller reads is known. */
  tryAgain(tenant: string): void {
    if (this.#options.isReady(tenant)) this.queue.addFailed(tenant)
  }

  /** Resolves when the context's signal has ended and the last reconcile is done. */
  async run(reconcile: Reconcile<K>): Promise<void> {
    const { tenants, failed, workers, log, signal } = this.#ctx
    const { name } = this.#options
    const { queue } = this
    const stops = [tenants.register(queue), tenants.subscribe({ removed: (tenant) => queue.removeGroup(tenant.name) })]
    failed.subscribe((tenant) => this.tryAgain(tenant))
    await runWorkers({
      queue,
      workers,
      name,
      log,
      signal,
      reconcile: (key, until) => this.#reconcile(key, reconcile, until),
      pause: (key) => this.#pause(key),
      giveUp: giveUpOf(name),
    })
    for (const stop of stops) stop()
    queue[Symbol.dispose]()
    await this.#events.drained()
  }

  async #reconcile(key: K, reconcile: Reconcile<K>, signal: AbortSignal): Promise<ReconcileResult | Untried> {
    // What is tried again keeps no tenant awake: it may fail for ever.
    const actor = this.actor(key.tenant, !this.queue.hasFailed(key))
    // The tenant may have been deleted while its key waited.
    if (actor === undefined) return
    if (!this.#options.isReady(key.tenant)) return this.#wakeFor(key)
    return reconcile(key, actor, signal)
  }

  #pause({ tenant }: K): Promise<void> | undefined {
    const { activity, tenants } = this.#ctx
    if (this.#options.isReady(tenant)) activity.observed(tenant)
    return tenants.pause(tenant)
  }

  /** The tenant fell asleep before the key was due. When it wakes, all that have failed are tried again. */
  #wakeFor(key: K): ReconcileResult | Untried {
    const { tenants, failed } = this.#ctx
    if (this.queue.hasFailed(key)) return { isUntried: true, requeueAfterMs: failed.wake(key.tenant) }
    const wait = this.#options.wakesInMs(key)
    if (wait === "never") return
    if (wait > 0) return { requeueAfterMs: wait }
    tenants.wake(key.tenant, { isUse: false })
  }
}
