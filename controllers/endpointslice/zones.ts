// The zones of a tenant, and the Services whose endpoints are assigned to zones. As upstream, shares are computed when a node is
// added or deleted, or changes its readiness or zone, but not when only its CPUs change. Then only the Services with too few
// endpoints in a zone are enqueued.

import type { Node } from "../../apimachinery/object.ts"
import { nodes as nodeResource } from "../../client/resources.ts"
import type { ControllerContext } from "../context.ts"
import { zoneLabel } from "./endpoints-of.ts"
import { type Counts, isOverloaded, type Shares, sharesOf } from "./topology-hints.ts"

interface TenantZones {
  /** undefined if nodes have changed since they were computed. */
  shares: { are: Shares | undefined } | undefined
  /** By the Service's uid, then by family. */
  hinted: Map<string, Map<string, Counts>>
}

export class Zones {
  readonly #ctx: ControllerContext
  readonly #tenants = new Map<string, TenantZones>()

  /** `outgrown` is called with Services that have too few endpoints for the current zones. */
  constructor(ctx: ControllerContext, onTooFewEndpoints: (tenant: string, uids: ReadonlySet<string>) => void) {
    this.#ctx = ctx
    const nodes = ctx.informers.of<Node>(nodeResource)
    const changed = (tenant: string): void => {
      const zones = this.#tenants.get(tenant)
      if (zones === undefined) return
      zones.shares = undefined
      // All Services are enqueued at synced.
      if (zones.hinted.size === 0 || !nodes.isSynced(tenant)) return
      const shares = this.shares(tenant)
      const isShort = (counts: Counts): boolean => isOverloaded(shares, counts)
      const short = [...zones.hinted].filter(([, families]) => [...families.values()].some(isShort))
      if (short.length > 0) onTooFewEndpoints(tenant, new Set(short.map(([uid]) => uid)))
    }
    nodes.subscribe({
      added: changed,
      updated(tenant, node, previous) {
        const isSame = node.metadata.labels?.[zoneLabel] === previous.metadata.labels?.[zoneLabel]
        if (!isSame || readiness(node) !== readiness(previous)) changed(tenant)
      },
      deleted: changed,
      removed: (tenant) => this.#tenants.delete(tenant),
    })
  }

  shares(tenant: string): Shares | undefined {
    const zones = this.#of(tenant)
    zones.shares ??= { are: sharesOf(this.#ctx.informers.of<Node>(nodeResource).list(tenant)) }
    return zones.shares.are
  }

  isHinted(tenant: string, uid: string): boolean {
    return this.#tenants.get(tenant)?.hinted.has(uid) === true
  }

  hint(tenant: string, uid: string, family: string, counts: Counts): void {
    const { hinted } = this.#of(tenant)
    hinted.set(uid, new Map([...(hinted.get(uid) ?? []), [family, counts]]))
  }

  /** The Service no longer has hints. */
  forget(tenant: string, uid: string): void {
    this.#tenants.get(tenant)?.hinted.delete(uid)
  }

  #of(tenant: string): TenantZones {
    const known = this.#tenants.get(tenant)
    if (known !== undefined) return known
    const made: TenantZones = { shares: undefined, hinted: new Map() }
    this.#tenants.set(tenant, made)
    return made
  }
}

const readiness = ({ status }: Node): unknown => status?.conditions?.find(({ type }) => type === "Ready")?.status
