// The creations and deletions of tenants in progress: one operation at a time for each name. Used by the directory of a process
// (tenant-directory.ts) and by that of the primary (workers/spread-tenants.ts), which differ in what an operation does.

import { isDeepStrictEqual } from "node:util"
import { hasSettings, settingsOf, type TenantSettings } from "../../client/tenant-settings.ts"
import type { MeantTenant, Tenant } from "../../client/tenants.ts"
import { checkTenantName, tenantExists } from "./tenant-errors.ts"

export type TenantRequest = Omit<Tenant, "uid">

interface TenantOperationsParts {
  get: (name: string) => Tenant | undefined
  /** Called when the name is not in use. */
  create: (request: TenantRequest) => Promise<Tenant>
  /** Gives an existing tenant other settings. Throws NotFound if it does not exist any more. */
  change: (tenant: Tenant, settings: TenantSettings) => Promise<void>
  /** Does nothing for an unknown name, or if the tenant of that name is not meant. */
  delete: (meant: MeantTenant) => Promise<void>
  /** Takes over what other gateways have changed, before `get` is asked whether a new tenant exists. */
  settle?: () => Promise<void> | undefined
  /** After an operation on a name, during which its changes by other gateways were not taken over. */
  ended?: (name: string) => void
}

interface Deletion {
  meant: MeantTenant
  ended: Promise<void>
}

export class TenantOperations {
  readonly #parts: TenantOperationsParts
  readonly #creating = new Map<string, Promise<Tenant>>()
  readonly #deleting = new Map<string, Deletion>()

  constructor(parts: TenantOperationsParts) {
    this.#parts = parts
  }

  isDeleting(name: string): boolean {
    return this.#deleting.has(name)
  }

  isInProgress(name: string): boolean {
    return this.#creating.has(name) || this.isDeleting(name)
  }

  /** The names of which this is true; some may be there twice. */
  inProgress(): string[] {
    return [...this.#creating.keys(), ...this.#deleting.keys()]
  }

  /** The deletion in progress, if any. */
  deletion(name: string): Promise<void> | undefined {
    return this.#deleting.get(name)?.ended
  }

  /**
   * Throws AlreadyExists, unless the existing tenant belongs to the same VirtualCluster; it then has the requested settings.
   */
  async create(request: TenantRequest): Promise<Tenant> {
    const tenant = await this.#create(request)
    if (!hasSettings(tenant, request)) await this.#parts.change(tenant, settingsOf(request))
    return tenant
  }

  async #create(request: TenantRequest): Promise<Tenant> {
    const { name } = request
    checkTenantName(name)
    await this.#parts.settle?.()
    while (this.isInProgress(name)) {
      await this.deletion(name)
      await this.#created(name)
      await this.#parts.settle?.()
    }
    const existing = this.#parts.get(name)
    if (existing !== undefined) return ofSameOwner(existing, request)
    const creating = this.#parts.create(request)
    this.#creating.set(name, creating)
    try {
      return ofSameOwner(await creating, request)
    } finally {
      this.#creating.delete(name)
      this.#parts.ended?.(name)
    }
  }

  /** Counts as a creation until it ends. */
  async track(name: string, creating: Promise<Tenant>): Promise<void> {
    this.#creating.set(name, creating)
    await creating.finally(() => this.#creating.delete(name))
  }

  delete(tenant: string | MeantTenant): Promise<void> {
    const { name, uid, owner }: MeantTenant = typeof tenant === "string" ? { name: tenant } : tenant
    const meant = { name, uid, owner }
    const running = this.#deleting.get(name)
    // One that is meant for another tenant of that name may do nothing.
    if (running !== undefined && isDeepStrictEqual(running.meant, meant)) return running.ended
    const deletion: Deletion = { meant, ended: Promise.resolve() }
    deletion.ended = this.#delete(meant, running).finally(() => {
      if (this.#deleting.get(name) === deletion) this.#deleting.delete(name)
      this.#parts.ended?.(name)
    })
    this.#deleting.set(name, deletion)
    return deletion.ended
  }

  async #delete(meant: MeantTenant, before: Deletion | undefined): Promise<void> {
    await before?.ended.catch(() => undefined) // reported to its own caller
    await this.#created(meant.name)
    await this.#parts.delete(meant)
  }

  /** Its failure is reported to the caller who began it. */
  #created(name: string): Promise<unknown> | undefined {
    return this.#creating.get(name)?.catch(() => undefined)
  }

  /** Resolves when all current operations have ended. */
  async settled(): Promise<void> {
    const deletions = this.#deleting.values().map(({ ended }) => ended)
    await Promise.allSettled([...this.#creating.values(), ...deletions])
  }
}

function ofSameOwner(tenant: Tenant, request: TenantRequest): Tenant {
  if (tenant.virtualCluster.uid !== request.virtualCluster.uid) throw tenantExists(request.name)
  return tenant
}
