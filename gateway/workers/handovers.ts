// Tells workers which tenants they own, and all processes who owns which. Who that is, placement.ts decides.

import type { Log } from "../../client/log.ts"
import type { TenantRecord } from "../tenancy/tenant-record.ts"
import { ignoreClosed, type Worker, type WorkerPool } from "./pool.ts"
import type { Route, Routes } from "./routes.ts"

export interface Held {
  record: TenantRecord
  /** Undefined while it moves to the next owner. */
  owner: Worker | undefined
  /** The tenant is being created: its creator determines its owner, and nobody has been told of it. */
  creating: boolean
  /** Resolves when its creation or the latest move has ended. Never rejects. */
  moving: Promise<void>
}

interface HandoversParts {
  pool: Pick<WorkerPool, "broadcast">
  /** The primary's own routes. */
  routes: Routes
  /** Not of one that was removed: there may be another tenant of its name by now. */
  isHeld(held: Held): boolean
  /** Its owner could not take it over. */
  failed(held: Held): void
  log: Log
}

/** Tenants per message to a worker. */
const batch = 500

export class Handovers {
  readonly #parts: HandoversParts

  constructor(parts: HandoversParts) {
    this.#parts = parts
  }

  /** Gives each worker its tenants. Resolves when all processes know of it. Never rejects. */
  async adopt(byHome: ReadonlyMap<Worker, Held[]>): Promise<void> {
    await Promise.all([...byHome].flatMap(([home, theirs]) => batches(theirs).map((some) => this.#adoptBy(home, some))))
  }

  async #adoptBy(home: Worker, some: readonly Held[]): Promise<void> {
    try {
      const records = some.map(({ record }) => record)
      const failed = new Set(await ignoreClosed(home.channel.call("adopt", records)))
      for (const held of some) if (failed.has(held.record.tenant.name) && held.owner === home) this.#parts.failed(held)
      await this.publish(some)
    } catch (error) {
      this.#parts.log.error({ err: error, worker: home.place }, "tenants could not be taken over")
    }
  }

  /** Notifies all processes of their owners. */
  async publish(some: readonly Held[]): Promise<void> {
    const { routes, pool } = this.#parts
    const set = some.filter((held) => this.#parts.isHeld(held)).map(routeOf)
    routes.set(set)
    await pool.broadcast("route", { set, gone: [] })
  }
}

export function routeOf({ record, owner }: Held): Route {
  const { tenant, issuer } = record
  const { name, uid } = tenant
  return { name, uid, issuer, ...(owner === undefined ? {} : { owner: owner.self }) }
}

function batches<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / batch) }, (_, index) =>
    all.slice(index * batch, (index + 1) * batch),
  )
}
