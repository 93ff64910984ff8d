// Which control plane a request is for: what the URL names, else what the credential names, else the super cluster's.
// Nothing is verified here: a credential that names a tenant falsely fails against that tenant's trust roots.

import { X509Certificate } from "node:crypto"
import { hasReason } from "../../apimachinery/status.ts"
import { tokenIssuer } from "../authentication/service-account-token.ts"
import type { Credentials, ImmediateAuthenticator } from "../authentication/types.ts"
import type { NamedTenant } from "../request/named-tenant.ts"
import type { ControlPlane } from "./control-plane.ts"
import { issuerCommonName } from "../pki/trust-store.ts"

export interface Caller {
  credentials: Credentials
  /** Of the gateway, verified. */
  isAdministrator: boolean
}

export interface TenantResolver {
  /** Answers for tenants that do not exist. */
  readonly nobody: ControlPlane
  isAdministrator(credentials: Credentials): boolean
  /** Undefined: there is no such tenant, or none that the caller need know of. At once where nobody has to be woken. */
  resolve(named: NamedTenant, caller: Caller): Found
}

export type Found = ControlPlane | undefined | Promise<ControlPlane | undefined>

/** What the resolver asks of the tenants there are. Undefined: none. */
export interface TenantLookup {
  byName(name: string): Promise<ControlPlane> | undefined
  /** The named one, unless it sleeps and would do nothing for this caller: then it is not woken. So are the next two. */
  forCaller(name: string, caller: Credentials): Found
  /** By the common name of its client authority. */
  byAuthority(commonName: string, caller: Credentials): Found
  byIssuer(issuer: string, caller: Credentials): Found
  /** Whether certificates of that authority may be the named tenant's. Wakes nobody. */
  mayBeOf(name: string, authority: string): boolean
  /** Where others make tenants, too: those they have made until now are known afterwards. */
  readonly settle?: (() => Promise<void>) | undefined
}

export interface TenantResolverParts {
  tenants: TenantLookup
  superCluster: ControlPlane | undefined
  nobody: ControlPlane
  administrators: ImmediateAuthenticator
  /** Common name of their authority: most certificates are not theirs, and this tells without verifying. */
  administratorsName: string
}

export function createTenantResolver(parts: TenantResolverParts): TenantResolver {
  const { tenants, superCluster, nobody, administrators } = parts
  // As long as the connection holds the certificate.
  const issuers = new WeakMap<Uint8Array, string>()

  function issuerOf(certificate: Uint8Array): string {
    let issuer = issuers.get(certificate)
    if (issuer === undefined) issuers.set(certificate, (issuer = issuerCommonName(new X509Certificate(certificate))))
    return issuer
  }

  /** A certificate of somebody else's is refused as if there were no such tenant, which sleeps on. */
  function byName(name: string, { credentials, isAdministrator }: Caller): Found {
    if (isAdministrator) return tenants.byName(name)
    const [leaf] = credentials.certificates
    if (leaf !== undefined && !tenants.mayBeOf(name, issuerOf(leaf))) return undefined
    return tenants.forCaller(name, credentials)
  }

  function byCredential(credentials: Credentials): Found {
    const [leaf] = credentials.certificates
    const byCertificate = leaf === undefined ? undefined : tenants.byAuthority(issuerOf(leaf), credentials)
    if (byCertificate !== undefined) return byCertificate
    const issuer = credentials.bearerToken === undefined ? undefined : tokenIssuer(credentials.bearerToken)
    return issuer === undefined ? undefined : tenants.byIssuer(issuer, credentials)
  }

  return {
    nobody,
    isAdministrator({ certificates }) {
      const [leaf] = certificates
      if (leaf === undefined || issuerOf(leaf) !== parts.administratorsName) return false
      try {
        return administrators.authenticate({ certificates, bearerToken: undefined }) !== undefined
      } catch (error) {
        if (hasReason(error, "Unauthorized")) return false
        throw error
      }
    },
    resolve(named, caller) {
      if (named.contradictory) return undefined
      const find = () => (named.name === undefined ? byCredential(caller.credentials) : byName(named.name, caller))
      const otherwise = named.name === undefined ? superCluster : undefined
      return find() ?? otherwise ?? tenants.settle?.().then(find)
    },
  }
}
