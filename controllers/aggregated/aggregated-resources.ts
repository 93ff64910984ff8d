// The resources of the tenants' aggregated APIs, for controllers that follow objects of all kinds (docs/decisions/0025). While a tenant
// is awake, each resource has one watch, which serves all controllers. A tenant without such APIs costs nothing.
//
//   APIServices (an informer) ──▶ AggregatedTenant: discovery ──▶ FollowedResource: list and watch ──▶ subscribers

import { parseGroupVersion, type OwnerReference } from "../../apimachinery/object.ts"
import { type APIService, apiServices, isRemote } from "../../client/api-services.ts"
import type { Clock } from "../../client/clock.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import type { Log } from "../../client/log.ts"
import type { DiscoveredResource, Resource } from "../../client/rest.ts"
import type { Tenants } from "../../client/tenants.ts"
import type { Informers } from "../informers.ts"
import { AggregatedTenant } from "./aggregated-tenant.ts"
import type { AggregatedHandler } from "./handler.ts"

interface AggregatedParts {
  tenants: Tenants
  informers: Informers
  clock: Clock
  log: Log
  signal: AbortSignal
}

export class AggregatedResources {
  readonly #parts: AggregatedParts
  readonly #tenants = new Map<string, AggregatedTenant>()
  readonly #handlers: AggregatedHandler[] = []
  #services: TenantInformer<APIService> | undefined

  constructor(parts: AggregatedParts) {
    this.#parts = parts
  }

  /** Call before the first tenant is there. */
  subscribe(handler: AggregatedHandler): void {
    this.#handlers.push(handler)
    if (this.#services === undefined) this.#start()
  }

  /** All resources have been listed, or their server has failed to. */
  isComplete(tenant: string): boolean {
    return this.#services?.isSynced(tenant) === true && this.#tenants.get(tenant)?.isComplete !== false
  }

  /** The resource of the kind that a reference names, in the version that it names. */
  resourceOf(tenant: string, { apiVersion, kind }: OwnerReference): DiscoveredResource | undefined {
    const { group, version } = parseGroupVersion(apiVersion)
    return this.#tenants.get(tenant)?.resourceOf(group, version, kind)
  }

  /** The resource is one of an aggregated API. */
  has(tenant: string, resource: Resource): boolean {
    return this.#tenants.get(tenant)?.has(resource) === true
  }

  #start(): void {
    const { informers, tenants } = this.#parts
    // Those without a Service are the tenant's own.
    this.#services = informers.mentioning<APIService>(apiServices, [`"service"`])
    const changed = (tenant: string, service: APIService): void => {
      if (isRemote(service)) this.#of(tenant).changed()
      else this.#tenants.get(tenant)?.changed()
    }
    const end = (tenant: string): void => {
      this.#tenants.get(tenant)?.[Symbol.dispose]()
      this.#tenants.delete(tenant)
    }
    this.#services.subscribe({
      added: changed,
      updated: changed,
      deleted: (tenant) => this.#tenants.get(tenant)?.changed(),
      synced: (tenant) => {
        if (this.isComplete(tenant)) for (const handler of this.#handlers) handler.complete(tenant)
      },
      removed: end,
      asleep: end,
    })
    // What the previous process has not finished is found only if the tenant stays awake until its objects have been listed.
    tenants.register({ isBusy: (tenant) => this.#tenants.get(tenant)?.isComplete === false })
  }

  #of(tenant: string): AggregatedTenant {
    let found = this.#tenants.get(tenant)
    if (found === undefined) {
      const { tenants, clock, log, signal } = this.#parts
      found = new AggregatedTenant({
        tenant,
        // Neither discovery nor watches keep the tenant awake.
        client: tenants.client(tenant, { isUse: false }),
        services: () => this.#services?.list(tenant).filter(isRemote) ?? [],
        handlers: this.#handlers,
        clock,
        log,
        signal,
      })
      this.#tenants.set(tenant, found)
    }
    return found
  }
}
