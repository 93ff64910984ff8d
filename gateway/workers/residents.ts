// The tenants that the primary has assigned to this process: it takes over more, and gives away those that sleep.

import type { Log } from "../../client/log.ts"
import type { TenantDirectory } from "../tenancy/tenant-directory.ts"
import type { TenantRecord } from "../tenancy/tenant-record.ts"
import type { Routes } from "./routes.ts"

interface ResidentsParts {
  tenants: Pick<TenantDirectory, "get" | "adopt" | "release">
  /** This process's own. */
  routes: Routes
  log: Log
}

export class Residents {
  readonly #parts: ResidentsParts

  constructor(parts: ResidentsParts) {
    this.#parts = parts
  }

  /** Takes existing tenants over. Returns the names of those that it could not. One that waits holds up no other. */
  async adopt(records: readonly TenantRecord[]): Promise<string[]> {
    const { tenants, log } = this.#parts
    const failed: string[] = []
    const adopting = records.map(async (record) => {
      const { name } = record.tenant
      try {
        await tenants.adopt(record, false)
      } catch (error) {
        failed.push(name)
        log.error({ err: error, tenant: name }, "a tenant could not be taken over")
      }
    })
    await Promise.all(adopting)
    return failed
  }

  /** Returns false if the tenant is in use and stays. Otherwise it is closed, and its next requests wait for its new owner. */
  async release(name: string): Promise<boolean> {
    const { tenants, routes } = this.#parts
    const tenant = tenants.get(name)
    const route = routes.get(name)
    if (tenant === undefined || route === undefined) return tenant === undefined
    const { owner: _owner, ...onItsWay } = route
    routes.set([onItsWay])
    // After a failure it may be here no longer, and the primary asks again.
    const released = await tenants.release(name)
    // Unless the primary has said something else meanwhile.
    if (!released && routes.get(name) === onItsWay) routes.set([route])
    return released
  }
}
