// Authenticates the gateway to servers of aggregated APIs: by a client certificate of an authority of the tenant, which is in its
// ConfigMap kube-system/extension-apiserver-authentication. The authority is one of the tenant's trust roots, so servers of other
// tenants do not trust it.

import { LastingCertificate } from "../pki/lasting-certificate.ts"
import type { Authority, IssuedCertificate } from "../pki/pki.ts"

/** The name that servers require, as in kubeadm. */
export const frontProxyName = "front-proxy-client"

export class FrontProxy {
  readonly #authority: Authority
  readonly #certificate: LastingCertificate

  constructor(authority: Authority) {
    this.#authority = authority
    this.#certificate = new LastingCertificate(authority, { name: frontProxyName, groups: [] })
  }

  /** PEM. */
  get certificateAuthority(): string {
    return this.#authority.certificate
  }

  /** The gateway's client certificate for this control plane. */
  certificate(): Promise<IssuedCertificate> {
    return this.#certificate.current()
  }
}
