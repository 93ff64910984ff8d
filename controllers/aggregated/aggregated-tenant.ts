// The aggregated APIs of one awake tenant: which resources they have, and which of them are followed. Discovery is repeated, as by
// upstream's garbage collector, because a server may be replaced by one with other resources. While a server is unavailable, its
// resources stay known.

import { printGroupVersion } from "../../apimachinery/object.ts"
import { type APIService, isAvailable } from "../../client/api-services.ts"
import { pause, type Clock, type Timer } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import type { DiscoveredResource, KubeClient, Resource } from "../../client/rest.ts"
import { isTenantGone } from "../tenant-gone.ts"
import type { AggregatedHandler } from "./handler.ts"
import { Budget } from "./budget.ts"
import { FollowedResource } from "./followed-resource.ts"

const limits = {
  /** Watches. Further resources are not followed. */
  resources: 32,
  /** Interval of discovery, besides changes of APIServices. */
  discoverEveryMs: 30_000,
  /** So long is the first one waited for. */
  patienceMs: 30_000,
} as const

interface AggregatedTenantParts {
  tenant: string
  client: KubeClient
  /** The APIServices with a server. */
  services(): readonly APIService[]
  handlers: readonly AggregatedHandler[]
  clock: Clock
  log: Log
  signal: AbortSignal
}

export class AggregatedTenant implements Disposable {
  readonly #parts: AggregatedTenantParts
  readonly #ending = new AbortController()
  /** By "group/resource"; also those that cannot be watched. */
  readonly #resources = new Map<string, DiscoveredResource>()
  readonly #followed = new Map<string, FollowedResource>()
  readonly #budget = new Budget()
  /** Group versions, at the last discovery. */
  #unavailable: ReadonlySet<string> = new Set()
  readonly #patience: Timer
  #isDiscovered = false
  #hasReported = false
  /** Ends the pause before the next discovery. */
  #due = new AbortController()

  constructor(parts: AggregatedTenantParts) {
    this.#parts = parts
    this.#patience = parts.clock.after(limits.patienceMs, () => this.#discovered())
    void this.#run()
  }

  /** An APIService has changed. */
  changed(): void {
    this.#due.abort()
  }

  get isComplete(): boolean {
    return this.#isDiscovered && [...this.#followed.values()].every(({ isSettled }) => isSettled)
  }

  has(resource: Resource): boolean {
    return this.#resources.has(idOf(resource))
  }

  resourceOf(group: string, version: string, kind: string): DiscoveredResource | undefined {
    for (const resource of this.#resources.values()) {
      if (resource.group !== group || resource.kind !== kind) continue
      const { otherVersions = [] } = resource
      if (resource.version === version || otherVersions.includes(version)) return { ...resource, version }
    }
    return undefined
  }

  async #run(): Promise<void> {
    const { clock, log, tenant } = this.#parts
    const signal = AbortSignal.any([this.#parts.signal, this.#ending.signal])
    while (!signal.aborted) {
      this.#due = new AbortController()
      const until = AbortSignal.any([signal, this.#due.signal])
      try {
        await this.#discover(signal)
      } catch (error) {
        if (signal.aborted || isTenantGone(error)) return
        log.warn({ tenant, err: error }, "discovery of aggregated APIs failed; retrying")
      }
      this.#discovered()
      await pause(clock, limits.discoverEveryMs, until)
    }
  }

  async #discover(signal: AbortSignal): Promise<void> {
    const { client } = this.#parts
    const services = this.#parts.services()
    if (services.length === 0 && this.#resources.size === 0) return
    const all = await client.discover()
    signal.throwIfAborted()
    // A server may have answered before that is written to its APIService; until then it is not asked.
    const unlisted = services.filter((service) => !isAvailable(service)).map(groupVersionOf)
    const unavailable = new Set([...(await client.unavailable()), ...unlisted])
    signal.throwIfAborted()
    const groupVersions = new Set(services.map(groupVersionOf))
    const found = new Map<string, DiscoveredResource>()
    for (const resource of all) {
      const groupVersion = printGroupVersion(resource)
      if (!groupVersions.has(groupVersion) || unavailable.has(groupVersion)) continue
      found.set(idOf(resource), { ...resource, isAggregated: true })
    }
    // As upstream: what a server has listed before is there while it is unavailable.
    for (const [id, resource] of this.#resources) {
      if (unavailable.has(printGroupVersion(resource)) && !found.has(id)) found.set(id, resource)
    }
    const recovered = new Set([...this.#unavailable].filter((groupVersion) => !unavailable.has(groupVersion)))
    this.#unavailable = unavailable
    this.#replace(found, recovered)
  }

  /** Resources of `recovered` group versions are listed again at once. */
  #replace(found: ReadonlyMap<string, DiscoveredResource>, recovered: ReadonlySet<string>): void {
    for (const [id, followed] of this.#followed) {
      const now = found.get(id)
      const isThere = now !== undefined && isWatchable(now) && now.version === followed.resource.version
      if (isThere && !recovered.has(printGroupVersion(now))) continue
      followed[Symbol.dispose]()
      this.#followed.delete(id)
      if (isThere) continue
      for (const handler of this.#parts.handlers) handler.forgotten(this.#parts.tenant, followed.resource)
    }
    this.#resources.clear()
    for (const [id, resource] of found) this.#resources.set(id, resource)
    for (const [id, resource] of found) {
      if (!isWatchable(resource) || this.#followed.has(id)) continue
      if (this.#followed.size >= limits.resources) {
        const { log, tenant } = this.#parts
        log.warn(
          { tenant, resource: id },
          `more than ${limits.resources} aggregated resources; this one is not followed`,
        )
        break
      }
      this.#followed.set(id, this.#follow(resource))
      this.#hasReported = false
    }
  }

  #follow(resource: DiscoveredResource): FollowedResource {
    const { client, handlers, clock, log, signal, tenant } = this.#parts
    return new FollowedResource({
      tenant,
      resource,
      client,
      handlers,
      budget: this.#budget,
      clock,
      log,
      signal: AbortSignal.any([signal, this.#ending.signal]),
      settled: () => this.#settled(),
    })
  }

  #discovered(): void {
    this.#patience.cancel()
    this.#isDiscovered = true
    this.#settled()
  }

  #settled(): void {
    const { isComplete } = this
    if (isComplete && !this.#hasReported) {
      for (const handler of this.#parts.handlers) handler.complete(this.#parts.tenant)
    }
    this.#hasReported = isComplete
  }

  [Symbol.dispose](): void {
    this.#ending.abort()
    this.#patience.cancel()
  }
}

const idOf = ({ group, resource }: Resource): string => `${group}/${resource}`

const groupVersionOf = ({ spec: { group = "", version = "" } = {} }: APIService): string =>
  printGroupVersion({ group, version })

function isWatchable({ verbs }: DiscoveredResource): boolean {
  return ["list", "watch", "delete"].every((verb) => verbs.includes(verb))
}
