// What every process knows of all tenants: by what names a request may mean one, and which process has it. The primary
// decides and tells the others (primary.ts).

import { X509Certificate } from "node:crypto"
import { tokenIssuer } from "../authentication/service-account-token.ts"
import type { Credentials } from "../authentication/types.ts"
import type { NamedTenant } from "../request/named-tenant.ts"
import { authorityName, issuerCommonName } from "../pki/trust-store.ts"

/** The process that decides, and has whatever is no tenant's. */
export const primary = 0

export interface Route {
  name: string
  uid: string
  /** Of its service-account tokens. */
  issuer: string
  /** The process that has it. Absent: it is on its way from one to another. */
  owner?: number
}

export class Routes {
  readonly self: number
  readonly #byName = new Map<string, Route>()
  readonly #byAuthority = new Map<string, Route>()
  readonly #byIssuer = new Map<string, Route>()
  /** As long as the connection holds the certificate. */
  readonly #issuers = new WeakMap<Uint8Array, string>()
  readonly #waiting = new Set<() => void>()

  constructor(self: number) {
    this.self = self
  }

  get(name: string): Route | undefined {
    return this.#byName.get(name)
  }

  set(routes: readonly Route[]): void {
    for (const route of routes) {
      this.#forget(route.name)
      this.#byName.set(route.name, route)
      this.#byAuthority.set(authorityName(route.uid), route)
      this.#byIssuer.set(route.issuer, route)
    }
    this.#changed()
  }

  delete(name: string): void {
    this.#forget(name)
    this.#changed()
  }

  /**
   * The process that answers; undefined: none at the moment. `otherwise` has what is no tenant's; a tenant that is not known is
   * nobody's everywhere.
   */
  ownerOf(named: NamedTenant, credentials: Credentials, otherwise: number): number | undefined {
    if (named.contradictory) return this.self
    if (named.name !== undefined) return ownerOr(this.#byName.get(named.name), this.self)
    return ownerOr(this.#byCredential(credentials), otherwise)
  }

  /** Resolves when anything has changed, or the signal ends. */
  change(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done)
        signal.removeEventListener("abort", done)
        resolve()
      }
      this.#waiting.add(done)
      signal.addEventListener("abort", done, { once: true })
    })
  }

  /** As tenancy/tenant-resolver.ts: the certificate first. */
  #byCredential({ certificates, bearerToken }: Credentials): Route | undefined {
    const [leaf] = certificates
    const byCertificate = leaf === undefined ? undefined : this.#byAuthority.get(this.#issuerOf(leaf))
    if (byCertificate !== undefined) return byCertificate
    const issuer = bearerToken === undefined ? undefined : tokenIssuer(bearerToken)
    return issuer === undefined ? undefined : this.#byIssuer.get(issuer)
  }

  #issuerOf(certificate: Uint8Array): string {
    let issuer = this.#issuers.get(certificate)
    if (issuer === undefined) {
      this.#issuers.set(certificate, (issuer = issuerCommonName(new X509Certificate(certificate))))
    }
    return issuer
  }

  #forget(name: string): void {
    const route = this.#byName.get(name)
    if (route === undefined) return
    this.#byName.delete(name)
    this.#byAuthority.delete(authorityName(route.uid))
    this.#byIssuer.delete(route.issuer)
  }

  #changed(): void {
    for (const done of this.#waiting) done()
  }
}

function ownerOr(route: Route | undefined, otherwise: number): number | undefined {
  return route === undefined ? otherwise : route.owner
}
