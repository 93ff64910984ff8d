// Determines the control plane of a request: by the URL, otherwise by the credential, otherwise the super cluster's. Nothing is
// verified here: a credential with a false tenant name fails against that tenant's trust roots.

import { issuerOf } from "../authentication/peer-certificate.ts"
import { tokenIssuer } from "../authentication/service-account-token.ts"
import type { TenantUse } from "../../client/tenants.ts"
import type { Credentials, ImmediateAuthenticator } from "../authentication/types.ts"
import type { NamedTenant } from "../request/named-tenant.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"

interface Caller {
  credentials: Credentials
  /** Verified as an administrator of the gateway. */
  isAdministrator: boolean
}

export interface TenantResolver {
  /** Answers for nonexistent tenants. */
  readonly nobody: ControlPlane
  isAdministrator(credentials: Credentials): boolean
  /**
   * Undefined: the tenant does not exist, or must not be visible to the caller. Synchronous if no tenant has to be woken.
   */
  resolve(named: NamedTenant, caller: Caller, intent?: Intent): Found
}

/** What an administrator's request says that it is meant for. */
interface Intent extends TenantUse {
  /** It is meant for that tenant, and not for the next one of its name. */
  uid?: string | undefined
}

export type Found = ControlPlane | undefined | Promise<ControlPlane | undefined>

/** The interface of the resolver to the existing tenants. Undefined: there is no such tenant. */
export interface TenantLookup {
  byName(name: string, intent?: Intent): Promise<ControlPlane> | undefined
  /** The named tenant, unless it sleeps and would reject this caller: then it is not woken. The same applies to the next two. */
  forCaller(name: string, caller: Credentials): Found
  /** By the common name of its client authority. */
  byAuthority(commonName: string, caller: Credentials): Found
  byIssuer(issuer: string, caller: Credentials): Found
  /** Whether the named tenant may accept certificates of that authority. Does not wake it. */
  mayBeOf(name: string, authority: string): boolean
  /** Set if other gateways create tenants, too: resolves when those created so far are known. */
  readonly settle?: (() => Promise<void>) | undefined
}

export interface TenantResolverParts {
  tenants: TenantLookup
  superCluster: ControlPlane | undefined
  nobody: ControlPlane
  administrators: ImmediateAuthenticator
  /** Common name of their authority, which excludes most certificates without verification. */
  administratorsName: string
}

export function createTenantResolver(parts: TenantResolverParts): TenantResolver {
  const { tenants, superCluster, nobody, administrators } = parts

  /** A certificate of another authority is answered as if the tenant did not exist, without waking it. */
  function byName(name: string, { credentials, isAdministrator }: Caller, intent: Intent | undefined): Found {
    if (isAdministrator) return tenants.byName(name, intent)
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
      return administrators.authenticate({ certificates, bearerToken: undefined }) !== undefined
    },
    resolve(named, caller, intent) {
      const { name } = named
      if (named.contradictory) return undefined
      const find = () => (name === undefined ? byCredential(caller.credentials) : byName(name, caller, intent))
      const otherwise = name === undefined ? superCluster : undefined
      return find() ?? otherwise ?? tenants.settle?.().then(find)
    },
  }
}
