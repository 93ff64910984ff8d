// Merges the streams of all workers for followers of all tenants: events from a worker count only for tenants that it owns. The
// placement reports that a tenant was deleted, or that its stream starts again with another owner.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { Resource } from "../../client/rest.ts"
import type { TenantWatchHandler, TenantWatchOptions } from "../../client/tenants.ts"
import type { Worker } from "./pool.ts"

interface Watch {
  resource: Resource
  handler: TenantWatchHandler<KubeObject>
  signal: AbortSignal
  options: TenantWatchOptions | undefined
}

export class Followers {
  readonly #watches = new Set<Watch>()
  readonly #isOwner: (worker: Worker, tenant: string) => boolean

  constructor(isOwner: (worker: Worker, tenant: string) => boolean) {
    this.#isOwner = isOwner
  }

  /** `workers`: the current ones. */
  add(watch: Watch, workers: Iterable<Worker>): void {
    const { signal } = watch
    if (signal.aborted) return
    this.#watches.add(watch)
    signal.addEventListener("abort", () => this.#watches.delete(watch), { once: true })
    for (const worker of workers) this.#attach(watch, worker)
  }

  joined(worker: Worker): void {
    for (const watch of this.#watches) this.#attach(watch, worker)
  }

  removed(tenant: string): void {
    for (const { handler } of this.#watches) handler.removed(tenant)
  }

  restarted(tenant: string): void {
    for (const { handler } of this.#watches) handler.restarted(tenant)
  }

  #attach({ resource, handler, signal, options }: Watch, worker: Worker): void {
    const isOwned = (tenant: string): boolean => this.#isOwner(worker, tenant)
    worker.tenants.watch(
      resource,
      {
        event(event) {
          if (isOwned(event.tenant)) handler.event(event)
        },
        synced(tenant) {
          if (isOwned(tenant)) handler.synced(tenant)
        },
        restarted(tenant) {
          if (isOwned(tenant)) handler.restarted(tenant)
        },
        asleep(tenant) {
          if (isOwned(tenant)) handler.asleep?.(tenant)
        },
        removed(tenant) {
          // What this stream has delivered before is of a tenant that was deleted, or of the time before it has moved away and back. The
          // present one may be new: then nothing is delivered of it before it is used.
          if (isOwned(tenant)) handler.asleep?.(tenant)
        },
      },
      AbortSignal.any([signal, worker.ended]),
      options,
    )
  }
}
