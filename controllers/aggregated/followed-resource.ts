// One resource of an aggregated API, followed by a list and a watch of its objects' metadata. A failing server is backed off
// (reflector.ts). Of the objects only their sizes are kept here, as far as subscribers keep them.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { Clock, Timer } from "../../client/clock.ts"
import { reflect } from "../../client/informers/reflector.ts"
import type { Log } from "../../client/log.ts"
import type { DiscoveredResource, KubeClient, KubeList, ListOptions, ListWatch } from "../../client/rest.ts"
import { foregroundFinalizer, orphanFinalizer } from "../garbage-collector/graph.ts"
import { isTenantGone } from "../tenant-gone.ts"
import type { AggregatedHandler } from "./handler.ts"
import type { Budget } from "./budget.ts"
import { reduced } from "./metadata.ts"

const limits = {
  /** Objects of a resource. One with more is not followed: its list counts as failed. */
  listed: 50_000,
  /** What a page counts at least, as some may be empty. */
  page: 100,
  /** So long is its first list waited for, as by upstream. */
  patienceMs: 30_000,
} as const

interface FollowedResourceParts {
  tenant: string
  resource: DiscoveredResource
  client: KubeClient
  handlers: readonly AggregatedHandler[]
  /** Of the tenant. */
  budget: Budget
  clock: Clock
  log: Log
  signal: AbortSignal
  /** Called when isSettled becomes true. */
  settled(): void
}

export class FollowedResource implements Disposable {
  readonly #parts: FollowedResourceParts
  readonly #ending = new AbortController()
  readonly #until: AbortSignal
  readonly #patience: Timer
  #isSettled = false
  #listed = 0

  constructor(parts: FollowedResourceParts) {
    this.#parts = parts
    this.#until = AbortSignal.any([parts.signal, this.#ending.signal])
    this.#patience = parts.clock.after(limits.patienceMs, () => this.#settle())
    void this.#run()
  }

  get resource(): DiscoveredResource {
    return this.#parts.resource
  }

  /** Its objects have been listed, or that has failed or takes long: nobody waits for a failing server. */
  get isSettled(): boolean {
    return this.#isSettled
  }

  async #run(): Promise<void> {
    const { tenant, resource, handlers, budget, clock, log } = this.#parts
    const until = this.#until
    // Its failures are the tenant's own.
    const debug = log.debug.bind(log)
    const quiet: Log = { debug, info: debug, warn: debug, error: debug }
    const each = (call: (handler: AggregatedHandler) => void): void => {
      for (const handler of handlers) call(handler)
    }
    /** The list that is being delivered. */
    let listed: KubeObject[] | undefined
    await reflect<KubeObject>({
      client: this.#client(),
      resource,
      signal: until,
      log: quiet,
      clock,
      sink: {
        restarted: () => {
          listed = []
        },
        synced: () => {
          if (until.aborted) return
          const objects = listed ?? []
          listed = undefined
          budget.clear(resource)
          const kept = objects.filter((object) => budget.takes(resource, object))
          const uids = new Set(objects.map(({ metadata }) => metadata.uid ?? ""))
          each((handler) => handler.replaced(tenant, resource, kept, uids))
          this.#settle()
        },
        changed: (type, object) => {
          if (until.aborted) return
          if (listed !== undefined) return void listed.push(object)
          if (type === "DELETED") budget.release(resource, object)
          // What does not fit any more is as if it had no owners.
          const kept = type === "DELETED" || budget.takes(resource, object) ? object : withoutOwners(object)
          each((handler) => handler.changed(tenant, resource, type, kept))
        },
      },
    })
  }

  /** Of objects of which only what matters is kept. */
  #client(): ListWatch {
    const { client, resource } = this.#parts
    return {
      list: async <T extends KubeObject>(_: unknown, options: ListOptions = {}) => {
        try {
          this.#until.throwIfAborted()
          const page = await client.list(resource, { ...options, metadataOnly: true })
          const { items, metadata } = page
          this.#listed = (options.continue === undefined ? 0 : this.#listed) + Math.max(items.length, limits.page)
          if (this.#listed > limits.listed) throw new Error(`there are more than ${limits.listed} objects`)
          if (typeof metadata?.resourceVersion !== "string") throw new Error("the list has no revision")
          return { ...page, items: items.flatMap(reduce) } as KubeList<T>
        } catch (error) {
          if (!isTenantGone(error)) this.#settle()
          throw error
        }
      },
      async *watch<T extends KubeObject>(_: unknown, options: Parameters<ListWatch["watch"]>[1]) {
        for await (const { type, object } of client.watch(resource, { ...options, metadataOnly: true })) {
          for (const each of type === "BOOKMARK" ? [object] : reduce(object)) yield { type, object: each as T }
        }
      },
    }
  }

  #settle(): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#patience.cancel()
    this.#parts.settled()
  }

  [Symbol.dispose](): void {
    this.#ending.abort()
    this.#patience.cancel()
    this.#parts.budget.clear(this.#parts.resource)
  }
}

const ofInterest = [foregroundFinalizer, orphanFinalizer]

const reduce = (object: KubeObject): KubeObject[] => {
  const found = reduced(object, ofInterest)
  return found === undefined ? [] : [found]
}

function withoutOwners({ metadata, ...rest }: KubeObject): KubeObject {
  const { ownerReferences: _, finalizers: __, ...others } = metadata
  return { ...rest, metadata: others }
}
