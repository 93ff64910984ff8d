// Credentials of the connections to etcd, which can be renewed. Open connections keep the old ones.

import { getCACertificates } from "node:tls"
import { type ChannelCredentials, experimental } from "@grpc/grpc-js"

export interface EtcdTls {
  /** PEM. Default: the system's CAs. */
  certificateAuthority?: Buffer
  /** PEM, both or none. */
  certificate?: Buffer
  key?: Buffer
}

type Provider = experimental.CertificateProvider

export class EtcdCertificates {
  readonly credentials: ChannelCredentials
  readonly #authorities = new Set<experimental.CaCertificateUpdateListener>()
  readonly #identities = new Set<experimental.IdentityCertificateUpdateListener>()
  #tls: EtcdTls

  constructor(tls: EtcdTls) {
    this.#tls = tls
    const provider: Provider = {
      addCaCertificateListener: (listener) => {
        this.#authorities.add(listener)
        listener(this.#authority())
      },
      removeCaCertificateListener: (listener) => void this.#authorities.delete(listener),
      addIdentityCertificateListener: (listener) => {
        this.#identities.add(listener)
        listener(this.#identity())
      },
      removeIdentityCertificateListener: (listener) => void this.#identities.delete(listener),
    }
    const shown = tls.certificate === undefined ? null : provider
    this.credentials = experimental.createCertificateProviderChannelCredentials(provider, shown)
  }

  renew(tls: EtcdTls): void {
    this.#tls = tls
    for (const listener of this.#authorities) listener(this.#authority())
    for (const listener of this.#identities) listener(this.#identity())
  }

  #authority(): experimental.CaCertificateUpdate {
    return { caCertificate: this.#tls.certificateAuthority ?? Buffer.from(getCACertificates().join("\n")) }
  }

  /** Null: no certificate, so connections that need one fail. */
  #identity(): experimental.IdentityCertificateUpdate | null {
    const { certificate, key } = this.#tls
    return certificate === undefined || key === undefined ? null : { certificate, privateKey: key }
  }
}
