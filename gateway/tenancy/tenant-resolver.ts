// Which control plane a request is for: what the URL names, else what the credential names, else the super cluster's.
// Nothing is verified here: a credential that names a tenant falsely fails against that tenant's trust roots.

import { X509Certificate } from "node:crypto"
import { hasReason } from "../../apimachinery/status.ts"
import { tokenIssuer } from "../authentication/service-account-token.ts"
import type { Authenticator, Credentials } from "../authentication/types.ts"
import type { NamedTenant } from "../request/named-tenant.ts"
import type { ControlPlane } from "./control-plane.ts"
import { issuerCommonName } from "./trust-store.ts"

export interface TenantResolver {
  /** Answers for tenants that do not exist. */
  readonly nobody: ControlPlane
  isAdministrator(credentials: Credentials): Promise<boolean>
  /** Undefined: there is no such tenant. */
  resolve(named: NamedTenant, credentials: Credentials): Promise<ControlPlane | undefined>
}

/** What the resolver asks of the tenants there are. Undefined: none. */
export interface TenantLookup {
  byName(name: string): Promise<ControlPlane> | undefined
  /** By the common name of its client authority. */
  byAuthority(commonName: string): Promise<ControlPlane> | undefined
  byIssuer(issuer: string): Promise<ControlPlane> | undefined
  /** Whether certificates of that authority may be the named tenant's. Wakes nobody. */
  mayBeOf(name: string, authority: string): boolean
  /** Where others make tenants, too: those they have made until now are known afterwards. */
  readonly settle?: (() => Promise<void>) | undefined
}

export interface TenantResolverParts {
  tenants: TenantLookup
  superCluster: ControlPlane | undefined
  nobody: ControlPlane
  administrators: Authenticator
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

  /** A certificate of somebody else's, and nothing beside it: refused as if there were no such tenant, which sleeps on. */
  function byName(name: string, { certificates, bearerToken }: Credentials): Promise<ControlPlane> | undefined {
    const [leaf] = certificates
    if (leaf !== undefined && bearerToken === undefined) {
      const authority = issuerOf(leaf)
      if (authority !== parts.administratorsName && !tenants.mayBeOf(name, authority)) return undefined
    }
    return tenants.byName(name)
  }

  function byCredential({ certificates, bearerToken }: Credentials): Promise<ControlPlane> | undefined {
    const [leaf] = certificates
    const byCertificate = leaf === undefined ? undefined : tenants.byAuthority(issuerOf(leaf))
    if (byCertificate !== undefined) return byCertificate
    const issuer = bearerToken === undefined ? undefined : tokenIssuer(bearerToken)
    return issuer === undefined ? undefined : tenants.byIssuer(issuer)
  }

  return {
    nobody,
    async isAdministrator({ certificates }) {
      const [leaf] = certificates
      if (leaf === undefined || issuerOf(leaf) !== parts.administratorsName) return false
      try {
        return (await administrators.authenticate({ certificates, bearerToken: undefined })) !== undefined
      } catch (error) {
        if (hasReason(error, "Unauthorized")) return false
        throw error
      }
    },
    async resolve(named, credentials) {
      if (named.contradictory) return undefined
      const find = () => (named.name === undefined ? byCredential(credentials) : byName(named.name, credentials))
      const otherwise = named.name === undefined ? superCluster : undefined
      const found = find() ?? otherwise
      if (found !== undefined || tenants.settle === undefined) return found
      await tenants.settle()
      return find()
    },
  }
}
