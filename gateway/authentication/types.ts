import type { KeyObject } from "node:crypto"
import type { User } from "../request/user.ts"

/** What a caller presented, taken from the request once. */
export interface Credentials {
  /** DER of the client certificate and the chain it came with, leaf first; TLS has proved possession of the leaf's key. */
  certificates: readonly Uint8Array[]
  bearerToken: string | undefined
  /** Of what was presented and is not looked at, for the caller. */
  warning?: string
}

export interface Authenticated {
  user: User
  audiences?: string[]
  /** Of the client certificate that says so, in milliseconds since the epoch. */
  certificateEnd?: number
  /** For the caller. */
  warning?: string
}

/** Verifies against one control plane's trust roots only. undefined: no credential it knows; throws Unauthorized for a bad one.
 * At once where nothing has to be looked up. */
export interface Authenticator {
  authenticate(
    credentials: Credentials,
    audiences?: readonly string[],
  ): Authenticated | undefined | Promise<Authenticated | undefined>
}

/** One that looks nothing up. */
export interface ImmediateAuthenticator extends Authenticator {
  authenticate(credentials: Credentials): Authenticated | undefined
}

/** A control plane's own keys. PEM texts and key objects. */
export interface TrustRoots {
  /** Signs client certificates. */
  clientCertificateAuthority: { certificate: string; key: KeyObject }
  /** Signs the certificates with which the gateway calls what serves the tenant's aggregated APIs. */
  frontProxyAuthority: { certificate: string; key: KeyObject }
  /** Signs service-account tokens (ES256). */
  serviceAccountKey: {
    private: KeyObject
    public: KeyObject
    /** The public one as DER SubjectPublicKeyInfo. */
    encodedPublic: Buffer
    keyId: string
  }
  /** `iss` of service-account tokens; unique per control plane, so that it can name the tenant. */
  issuer: string
  /** CA of the gateway's serving certificate: what clients and pods trust (kube-root-ca.crt). */
  servingCertificateAuthority: string
}

/** Service-account tokens (KEP-1205). */
export interface TokenIssuer {
  issue(request: {
    namespace: string
    serviceAccount: { name: string; uid: string }
    audiences: readonly string[]
    expirationSeconds: number
    boundObject?: { kind: string; apiVersion: string; name: string; uid: string } | undefined
  }): Promise<{ token: string; expirationTimestamp: string }>
}
