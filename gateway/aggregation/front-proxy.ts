// Authenticates the gateway to servers of aggregated APIs: by a client certificate of an authority of the tenant, which is in its
// ConfigMap kube-system/extension-apiserver-authentication. The authority is one of the tenant's trust roots, so servers of other
// tenants do not trust it.

import { type Authority, certificateLifetimes, type IssuedCertificate, issueClientCertificate } from "../pki/pki.ts"

/** The name that servers require, as in kubeadm. */
export const frontProxyName = "front-proxy-client"

export class FrontProxy {
  readonly #authority: Authority
  #issued: { certificate: Promise<IssuedCertificate>; from: number; until: number } | undefined

  constructor(authority: Authority) {
    this.#authority = authority
  }

  /** PEM. */
  get certificateAuthority(): string {
    return this.#authority.certificate
  }

  /** The gateway's client certificate for this control plane. */
  certificate(): Promise<IssuedCertificate> {
    const now = Date.now()
    // The clock may have been ahead when it was issued.
    if (this.#issued === undefined || this.#issued.until < now || now < this.#issued.from) {
      const certificate = issueClientCertificate(this.#authority, { name: frontProxyName, groups: [] })
      const { backdateMs, clientMs, renewBeforeMs } = certificateLifetimes
      const issued = { certificate, from: now - backdateMs, until: now + clientMs - renewBeforeMs }
      this.#issued = issued
      // What has failed is tried again.
      certificate.catch(() => {
        if (this.#issued === issued) this.#issued = undefined
      })
    }
    return this.#issued.certificate
  }
}
