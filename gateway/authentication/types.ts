import type { KeyObject } from "node:crypto"
import type { User } from "../request/user.ts"

/** The caller's credentials, extracted from the request once. */
export interface Credentials {
  /** DER of the client certificate and its chain, leaf first; TLS has verified possession of the leaf's key. */
  certificates: readonly Uint8Array[]
  bearerToken: string | undefined
  /** A warning for the caller about ignored credentials. */
  warning?: string
}

export interface Authenticated {
  user: User
  audiences?: string[]
  /** The expiry of the authenticating client certificate, in milliseconds since the epoch. */
  certificateEnd?: number
  /** A warning for the caller. */
  warning?: string
  /** For the audit entry: by which kind of token the caller authenticated, if it is one that should be replaced. */
  annotations?: Readonly<Record<string, string>>
}

/**
 * Verifies credentials against one control plane's trust roots only. Returns undefined if it does not recognize any of them; throws
 * Unauthorized for invalid ones. Synchronous if nothing has to be read.
 */
export interface Authenticator {
  authenticate(
    credentials: Credentials,
    audiences?: readonly string[],
  ): Authenticated | undefined | Promise<Authenticated | undefined>
}

/** An authenticator that reads nothing and is always synchronous. */
export interface ImmediateAuthenticator extends Authenticator {
  authenticate(credentials: Credentials): Authenticated | undefined
}

/** A control plane's own keys, as PEM texts and key objects. */
export interface TrustRoots {
  /** Signs client certificates. */
  clientCertificateAuthority: { certificate: string; key: KeyObject }
  /** Signs the gateway's client certificates for calls to the tenant's aggregated API servers. */
  frontProxyAuthority: { certificate: string; key: KeyObject }
  /** Signs service account tokens (ES256). */
  serviceAccountKey: {
    private: KeyObject
    public: KeyObject
    /** The public key as DER SubjectPublicKeyInfo. */
    encodedPublic: Buffer
    keyId: string
  }
  /** `iss` of service account tokens; unique per control plane, so that it identifies the tenant. */
  issuer: string
}

/** Issues service account tokens (KEP-1205). */
export interface TokenIssuer {
  issue(request: {
    namespace: string
    serviceAccount: { name: string; uid: string }
    audiences: readonly string[]
    expirationSeconds: number
    /** The token is valid for this long, although its holder is told the requested time. */
    extendedSeconds?: number
    boundObject?: { kind: string; apiVersion: string; name: string; uid: string } | undefined
  }): Promise<{ token: string; expirationTimestamp: string }>
}
