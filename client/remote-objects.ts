// The objects of one kind as a gateway in another process streams them, for a handler. Which tenants there are comes by another stream, and
// either may be behind or broken, while a tenant is deleted and another one is made with its name: the handler must never take the objects of
// one for the other's.

import type { KubeObject } from "../apimachinery/object.ts"
import type { Tenant, TenantWatchHandler } from "./tenants.ts"

export type ObjectsLine<T> =
  | { type: "PING" }
  | { type: "RESTARTED" | "ASLEEP" | "REMOVED"; tenant: string }
  | { type: "SYNCED"; tenant: string; uid?: string }
  | { type: "ADDED" | "MODIFIED" | "DELETED"; tenant: string; object: T }

export class RemoteObjects<T extends KubeObject> {
  readonly #handler: TenantWatchHandler<T>
  readonly #tenants: ReadonlyMap<string, Tenant>
  /** The tenants that the handler has heard of, with the uids that were told with all their objects. */
  readonly #known = new Map<string, string | undefined>()
  /** Those of them that the present stream has not mentioned yet. If they are deleted before that, it never will. */
  readonly #undelivered = new Set<string>()
  /** Uids of tenants whose objects have been told, and that are not, or not yet, in the list. */
  readonly #unlisted = new Map<string, string>()

  /** `tenants`: the list. */
  constructor(handler: TenantWatchHandler<T>, tenants: ReadonlyMap<string, Tenant>) {
    this.#handler = handler
    this.#tenants = tenants
  }

  /** A new stream delivers everything again, except tenants that were deleted meanwhile. */
  opened(): void {
    for (const tenant of this.#known.keys()) {
      this.#undelivered.add(tenant)
      if (this.#tenants.has(tenant)) this.#handler.restarted(tenant)
      else this.#forget(tenant)
    }
  }

  read(line: ObjectsLine<T>): void {
    if (line.type === "PING") return
    const { tenant } = line
    if (line.type === "REMOVED") return this.#forget(tenant)
    if (!this.#known.has(tenant)) this.#known.set(tenant, undefined)
    this.#undelivered.delete(tenant)
    if ("object" in line) this.#handler.event({ tenant, type: line.type, object: line.object })
    else if (line.type === "SYNCED") this.#synced(tenant, line.uid)
    else if (line.type === "RESTARTED") this.#handler.restarted(tenant)
    else this.#handler.asleep?.(tenant)
  }

  #synced(tenant: string, uid: string | undefined): void {
    this.#known.set(tenant, uid)
    if (uid === undefined || this.#tenants.get(tenant)?.uid === uid) this.#handler.synced(tenant)
    else this.#unlisted.set(tenant, uid)
  }

  /** The list has the tenant. */
  listed({ name, uid }: Tenant): void {
    if (this.#unlisted.get(name) !== uid) return
    this.#unlisted.delete(name)
    this.#handler.synced(name)
  }

  /** The list has the tenant no more. */
  unlisted({ name, uid }: Tenant): void {
    if (this.#undelivered.has(name) || this.#known.get(name) === uid) this.#forget(name)
  }

  #forget(tenant: string): void {
    this.#undelivered.delete(tenant)
    this.#unlisted.delete(tenant)
    if (this.#known.delete(tenant)) this.#handler.removed(tenant)
  }
}
