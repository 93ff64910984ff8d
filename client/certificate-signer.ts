// Signs certificates that a tenant's API accepts. Implemented by the gateway, which has the tenant's keys.

import type { TenantIdentity } from "./tenants.ts"

export interface CertificateToSign {
  /** PKCS#10, PEM. */
  request: string
  /** As in a CertificateSigningRequest: "client auth". */
  usages: readonly string[]
  lifetimeMs: number
}

export interface CertificateSigner {
  /** Returns PEM. Fails if the request is not signed with the key it contains, and with NotFound for the next tenant of that name. */
  sign(tenant: TenantIdentity, request: CertificateToSign): Promise<string>
}
