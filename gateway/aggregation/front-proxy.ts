// How programs that serve aggregated APIs know the gateway: by a client certificate of an authority of the tenant's own,
// which its ConfigMap kube-system/extension-apiserver-authentication names. The authority's key is derived from the tenant's
// client authority: nothing is stored, and no other tenant's program trusts it.

import { createECDH, createPrivateKey, hkdfSync, type KeyObject } from "node:crypto"
import type { TrustRoots } from "../authentication/types.ts"
import {
  type Authority,
  authorityOf,
  certificateLifetimes,
  type IssuedCertificate,
  issueClientCertificate,
} from "../tenancy/pki.ts"

/** The name programs ask for, as kubeadm has it. */
export const frontProxyName = "front-proxy-client"

const curve = "prime256v1"

export class FrontProxy {
  readonly #trust: Pick<TrustRoots, "clientCertificateAuthority">
  #authority: Authority | undefined
  #issued: { certificate: Promise<IssuedCertificate>; until: number } | undefined

  constructor(trust: Pick<TrustRoots, "clientCertificateAuthority">) {
    this.#trust = trust
  }

  /** PEM. */
  get certificateAuthority(): string {
    return this.#own.certificate
  }

  get #own(): Authority {
    return (this.#authority ??= authorityOf("front-proxy-ca", deriveKey(this.#trust.clientCertificateAuthority.key)))
  }

  /** The gateway's certificate for programs of this control plane. */
  certificate(): Promise<IssuedCertificate> {
    if (this.#issued === undefined || this.#issued.until < Date.now()) {
      const certificate = issueClientCertificate(this.#own, { name: frontProxyName, groups: [] })
      const lifetimeMs = certificateLifetimes.clientMs - certificateLifetimes.renewBeforeMs
      this.#issued = { certificate, until: Date.now() + lifetimeMs }
    }
    return this.#issued.certificate
  }
}

/** A P-256 key from another one, by HKDF. A number beyond the curve's order (one of 2^32) is taken anew. */
function deriveKey(source: KeyObject): KeyObject {
  const material = source.export({ type: "pkcs8", format: "der" })
  for (let attempt = 0; ; attempt++) {
    const scalar = Buffer.from(hkdfSync("sha256", material, "", `polyplane front proxy ${attempt}`, 32))
    const ecdh = createECDH(curve)
    try {
      ecdh.setPrivateKey(scalar)
    } catch {
      continue
    }
    // 0x04, x, y
    const point = ecdh.getPublicKey()
    const [x, y] = [point.subarray(1, 33), point.subarray(33)]
    const key = { kty: "EC", crv: "P-256", d: scalar, x, y }
    const encoded = Object.entries(key).map(([name, value]) => [
      name,
      typeof value === "string" ? value : value.toString("base64url"),
    ])
    return createPrivateKey({ key: Object.fromEntries(encoded) as Record<string, string>, format: "jwk" })
  }
}
