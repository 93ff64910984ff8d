// A reconcile's access to its tenant: to the one that it began with, and never to the next one of that name.

import type { KubeObject } from "../apimachinery/object.ts"
import type { EventRecorder, EventType } from "../client/events.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant, TenantIdentity, Tenants, TenantUse } from "../client/tenants.ts"
import type { Activity, Pace } from "./activity.ts"

interface Parts {
  tenants: Tenants
  tenant: Tenant
  use: TenantUse
  events: EventRecorder
  activity: Activity
}

/** There is one for each reconcile, so it is no literal with an accessor (docs/decisions/0022). */
export class Actor {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The tenant's name, under which informers know its objects. */
  get tenant(): string {
    return this.#parts.tenant.name
  }

  /** For calls that are made without its client. */
  get identity(): TenantIdentity {
    return this.#parts.tenant
  }

  /** Throws NotFound as soon as the tenant is no longer managed. */
  get client(): KubeClient {
    const { tenants, tenant, use } = this.#parts
    return tenants.client(tenant, use)
  }

  event(object: KubeObject, type: EventType, reason: string, message: string): void {
    this.#parts.events.event(this.client, object, type, reason, message, this.tenant)
  }

  /** The pace for this number of calls. */
  pace(calls: number): Pace {
    return this.#parts.activity.pace(this.tenant, calls)
  }
}
