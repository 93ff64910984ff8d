// The routes to all tenants in every process: the names by which a request may refer to a tenant, and the process that owns it. The
// primary decides and notifies the others (primary.ts).

import { issuerOf } from "../authentication/peer-certificate.ts"
import { tokenIssuer } from "../authentication/service-account-token.ts"
import type { Credentials } from "../authentication/types.ts"
import type { NamedTenant } from "../request/named-tenant.ts"
import { Waiters } from "../request/waiters.ts"
import { authorityName } from "../pki/trust-store.ts"

/** The process that decides, and owns everything that belongs to no tenant. */
export const primary = 0

export interface Route {
  name: string
  uid: string
  /** The issuer of its service account tokens. */
  issuer: string
  /** The process that owns it. Absent while it moves. */
  owner?: number
}

/** A tenant, also while it moves, but no other one that gets its name. */
class RoutedTenant {
  readonly #routes: Routes
  readonly #name: string
  readonly #uid: string

  constructor(routes: Routes, { name, uid }: Route) {
    this.#routes = routes
    this.#name = name
    this.#uid = uid
  }

  get exists(): boolean {
    return this.#routes.get(this.#name)?.uid === this.#uid
  }
}

export class Routes {
  readonly self: number
  readonly #byName = new Map<string, Route>()
  readonly #byAuthority = new Map<string, Route>()
  readonly #byIssuer = new Map<string, Route>()
  readonly #waiters = new Waiters<void>()

  constructor(self: number) {
    this.self = self
  }

  get(name: string): Route | undefined {
    return this.#byName.get(name)
  }

  /** Tells of a tenant as long as it is asked. */
  tenant(name: string): RoutedTenant | undefined {
    const route = this.get(name)
    return route === undefined ? undefined : new RoutedTenant(this, route)
  }

  set(routes: readonly Route[]): void {
    for (const route of routes) {
      this.#forget(route.name)
      this.#byName.set(route.name, route)
      this.#byAuthority.set(authorityName(route.uid), route)
      this.#byIssuer.set(route.issuer, route)
    }
    this.#waiters.wake()
  }

  delete(name: string): void {
    this.#forget(name)
    this.#waiters.wake()
  }

  /**
   * The process that must answer; undefined if there is none at the moment. `otherwise` owns what belongs to no tenant; unknown
   * tenants are answered by any process.
   */
  ownerOf(named: NamedTenant, credentials: Credentials, otherwise: number): number | undefined {
    if (named.contradictory) return this.self
    if (named.name !== undefined) return ownerOr(this.#byName.get(named.name), this.self)
    return ownerOr(this.#byCredential(credentials), otherwise)
  }

  /** The tenant that the request is for, if it says so. */
  nameOf(named: NamedTenant, credentials: Credentials): string | undefined {
    return named.name ?? this.#byCredential(credentials)?.name
  }

  /** Resolves when anything has changed, or the signal is aborted. */
  change(signal: AbortSignal): Promise<void> {
    return this.#waiters.next(signal)
  }

  /** As in tenancy/tenant-resolver.ts: the certificate takes precedence. */
  #byCredential({ certificates, bearerToken }: Credentials): Route | undefined {
    const [leaf] = certificates
    const byCertificate = leaf === undefined ? undefined : this.#byAuthority.get(issuerOf(leaf))
    if (byCertificate !== undefined) return byCertificate
    const issuer = bearerToken === undefined ? undefined : tokenIssuer(bearerToken)
    return issuer === undefined ? undefined : this.#byIssuer.get(issuer)
  }

  #forget(name: string): void {
    const route = this.#byName.get(name)
    if (route === undefined) return
    this.#byName.delete(name)
    this.#byAuthority.delete(authorityName(route.uid))
    this.#byIssuer.delete(route.issuer)
  }
}

function ownerOr(route: Route | undefined, otherwise: number): number | undefined {
  return route === undefined ? otherwise : route.owner
}
