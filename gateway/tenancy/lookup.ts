// Finds the tenants of this process for requests: by name and by the names in credentials.

import type { KnownTenants } from "./known-tenants.ts"
import type { TenantLookup } from "./tenant-resolver.ts"

/** `settle`: set if other gateways create tenants, too. */
export function lookupIn(known: KnownTenants, settle: TenantLookup["settle"]): TenantLookup {
  return {
    byName: (name, { uid, isUse } = {}) => known.get(name, uid)?.controlPlane(isUse),
    forCaller: (name, caller) => known.get(name)?.forCaller(caller),
    byAuthority: (commonName, caller) => known.byAuthority(commonName)?.forCaller(caller),
    byIssuer: (issuer, caller) => known.byIssuer(issuer)?.forCaller(caller),
    mayBeOf(name, authority) {
      const entry = known.byAuthority(authority)
      return entry !== undefined && entry === known.get(name)
    },
    settle,
  }
}
