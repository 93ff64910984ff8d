// Who can sign certificates that a tenant's API accepts: whoever holds the tenant's keys, which is the gateway.

export interface CertificateToSign {
  /** PKCS#10, PEM. */
  request: string
  /** As in a CertificateSigningRequest: "client auth". */
  usages: readonly string[]
  lifetimeMs: number
}

export interface CertificateSigner {
  /** PEM. Fails when the request is not signed by the key it is for. */
  sign(tenant: string, request: CertificateToSign): Promise<string>
}
