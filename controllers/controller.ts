// A controller that reconciles the objects of an informer: no reconcile for a tenant before the informers that the controller reads are
// synced for it.

import { equalIgnoringNulls } from "../apimachinery/equality.ts"
import type { KubeObject } from "../apimachinery/object.ts"
import type { TenantInformer } from "../client/informers/tenant-informer.ts"
import type { Actor } from "./actor.ts"
import type { ControllerContext } from "./context.ts"
import { Frame, type Reconcile } from "./frame.ts"

/** Identifies an object of a tenant. `namespace` is "" for cluster-scoped objects. */
export interface Key {
  tenant: string
  namespace: string
  name: string
}

/** The part of an informer that a controller needs if it only reads. */
interface Synced {
  isSynced(tenant: string): boolean
  subscribe(handler: { synced?(tenant: string): void }): () => void
}

interface ControllerOptions<T extends KubeObject> {
  name: string
  /** The source of its events; default: "<name>-controller". */
  eventSource?: string
  /** The informer of the objects that are reconciled: each change enqueues its object. */
  primary: TenantInformer<T>
  /** false: the object in this state needs no reconcile, and neither did a new object in this state. Default: true. */
  concerns?: (object: T) => boolean
  /** false: this update needs no reconcile. Default: true, if `concerns` holds before or after. */
  matters?: (object: T, previous: T) => boolean
  /** Milliseconds before the round that follows a change of the object's status alone (round-pause.ts). Default: 0. */
  statusPauseMs?: (object: T) => number
  /** Other informers that are read. Reconciles wait until they are synced too. */
  reads?: readonly Synced[]
  /**
   * Keys of what is no object of `primary` and may have to be reconciled, such as what one that is gone has left behind. Asked when
   * all objects are enqueued: nothing else would bring back what happened before. Default: none.
   */
  others?(tenant: string): Iterable<Omit<Key, "tenant">>
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
  readonly #options: ControllerOptions<T>
  readonly #frame: Frame<Key>

  constructor(ctx: ControllerContext, options: ControllerOptions<T>) {
    this.#options = options
    const { name, eventSource, isPeriodic } = options
    this.#frame = new Frame<Key>(ctx, {
      name,
      eventSource,
      identify: (key) => `${key.namespace}\n${key.name}`,
      isReady: (tenant) => this.#ready(tenant),
      refill: (tenant) => this.#fill(tenant),
      isPeriodic,
      wakesInMs: (key) => options.wakesInMs?.(key) ?? 0,
    })
  }

  enqueue(tenant: string, namespace: string | undefined, name: string): void {
    // Before synced, #fill() at synced covers the change.
    if (this.#ready(tenant)) this.#frame.queue.add({ tenant, namespace: namespace ?? "", name })
  }

  enqueueObject(tenant: string, object: KubeObject): void {
    this.enqueue(tenant, object.metadata.namespace, object.metadata.name ?? "")
  }

  enqueueAfter(key: Key, ms: number): void {
    if (this.#ready(key.tenant)) this.#frame.queue.addAfter(key, ms)
  }

  enqueueAll(tenant: string, namespace?: string): void {
    for (const object of this.#options.primary.list(tenant, namespace)) {
      if (this.#concerns(object)) this.enqueueObject(tenant, object)
    }
  }

  /** Of the tenant that has the name now; undefined if none has. For handlers: a reconcile is given its own. */
  actor(name: string): Actor | undefined {
    return this.#frame.actor(name)
  }

  run(reconcile: Reconcile<Key>): Promise<void> {
    const { primary, reads = [], matters, statusPauseMs } = this.#options
    primary.subscribe({
      added: (tenant, object) => {
        if (this.#concerns(object)) this.enqueueObject(tenant, object)
      },
      updated: (tenant, object, previous) => {
        const isRelevant = this.#concerns(object) || this.#concerns(previous)
        if (!isRelevant || matters?.(object, previous) === false) return
        const pauseMs = statusPauseMs !== undefined && isOfStatus(object, previous) ? statusPauseMs(object) : 0
        const { namespace = "", name = "" } = object.metadata
        if (pauseMs === 0) this.enqueue(tenant, namespace, name)
        else this.enqueueAfter({ tenant, namespace, name }, pauseMs)
      },
      deleted: (tenant, object) => this.enqueueObject(tenant, object),
      synced: (tenant) => this.#synced(tenant),
      removed: (tenant) => this.#options.forget?.(tenant),
    })
    for (const informer of reads) informer.subscribe({ synced: (tenant) => this.#synced(tenant) })
    return this.#frame.run(reconcile)
  }

  #concerns(object: T): boolean {
    return this.#options.concerns?.(object) !== false
  }

  #fill(tenant: string): void {
    this.enqueueAll(tenant)
    for (const { namespace, name } of this.#options.others?.(tenant) ?? []) this.enqueue(tenant, namespace, name)
  }

  #ready(tenant: string): boolean {
    const { primary, reads = [] } = this.#options
    return primary.isSynced(tenant) && reads.every((informer) => informer.isSynced(tenant))
  }

  #synced(tenant: string): void {
    if (!this.#ready(tenant)) return
    this.#fill(tenant)
    this.#frame.tryAgain(tenant)
  }
}

/** Whether the change is one of the status: nobody wants anything else of the object. */
function isOfStatus({ metadata: after }: KubeObject, { metadata: before }: KubeObject): boolean {
  return (
    after.generation === before.generation &&
    after.deletionTimestamp === before.deletionTimestamp &&
    equalIgnoringNulls(
      [after.labels, after.annotations, after.ownerReferences],
      [before.labels, before.annotations, before.ownerReferences],
    )
  )
}
