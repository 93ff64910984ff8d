// How programs that serve aggregated APIs know the gateway: by a client certificate of an authority of the tenant's own,
// which its ConfigMap kube-system/extension-apiserver-authentication names. It is one of the tenant's trust roots, so no
// other tenant's program trusts it.

import { type Authority, certificateLifetimes, type IssuedCertificate, issueClientCertificate } from "../pki/pki.ts"

/** The name programs ask for, as kubeadm has it. */
export const frontProxyName = "front-proxy-client"

export class FrontProxy {
  readonly #authority: Authority
  #issued: { certificate: Promise<IssuedCertificate>; until: number } | undefined

  constructor(authority: Authority) {
    this.#authority = authority
  }

  /** PEM. */
  get certificateAuthority(): string {
    return this.#authority.certificate
  }

  /** The gateway's certificate for programs of this control plane. */
  certificate(): Promise<IssuedCertificate> {
    if (this.#issued === undefined || this.#issued.until < Date.now()) {
      const certificate = issueClientCertificate(this.#authority, { name: frontProxyName, groups: [] })
      const lifetimeMs = certificateLifetimes.clientMs - certificateLifetimes.renewBeforeMs
      this.#issued = { certificate, until: Date.now() + lifetimeMs }
    }
    return this.#issued.certificate
  }
}
