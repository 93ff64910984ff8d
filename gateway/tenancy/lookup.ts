// The tenants this process has, as a request asks for them: by a name, and by what credentials name.

import type { KnownTenants } from "./known-tenants.ts"
import type { TenantLookup } from "./tenant-resolver.ts"

/** `settle`: where others make tenants, too. */
export function lookupIn(known: KnownTenants, settle: TenantLookup["settle"]): TenantLookup {
  return {
    byName: (name) => known.get(name)?.controlPlane(),
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
