// Decides whether a caller may wake a sleeping tenant, so that strangers do not wake it. Credentials that the tenant would reject,
// and anonymous requests for which nothing is granted, are answered as if the tenant did not exist, which is the same response. The
// data is captured when the tenant falls asleep and cannot change while it sleeps. In doubt the tenant is woken.

import { createPublicKey, type X509Certificate } from "node:crypto"
import { parsedCertificate } from "../authentication/peer-certificate.ts"
import { isSignedToken, tokenIssuer } from "../authentication/service-account-token.ts"
import type { Credentials } from "../authentication/types.ts"
import { describeIssuer } from "../pki/certificate.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"

/** Public keys are base64 of DER, which takes a third of the memory of a key object. */
export interface Admittance {
  readonly clientAuthorityKey: string
  readonly tokenKey: string
  readonly issuer: string
  /** Additional issuers that the tenant has configured. Only the tenant itself can verify their tokens. */
  readonly otherIssuers: readonly string[]
  /** Anonymous callers have exactly the rights that they have in every new control plane. */
  readonly isAnonymousAsBorn: boolean
}

/** `bornRights`: the rights of anonymous callers in every new control plane. */
export async function admittanceOf(controlPlane: ControlPlane, bornRights: string): Promise<Admittance> {
  const { trust } = controlPlane
  const { anonymousRights, issuers } = await controlPlane.openness()
  // Extracted as bytes without parsing the keys: every tenant falls asleep, but few callers need the keys.
  const { publicKey } = describeIssuer(trust.clientCertificateAuthority.certificate)
  return {
    clientAuthorityKey: publicKey.toString("base64"),
    tokenKey: trust.serviceAccountKey.encodedPublic.toString("base64"),
    issuer: trust.issuer,
    otherIssuers: issuers,
    isAnonymousAsBorn: anonymousRights === bornRights,
  }
}

/** Returns false if the tenant would reject these credentials, or answer like every new control plane. */
export function admits(known: Admittance, { certificates, bearerToken }: Credentials): boolean | Promise<boolean> {
  const [leaf] = certificates
  if (leaf === undefined && bearerToken === undefined) return !known.isAnonymousAsBorn
  // All presented credentials must be valid.
  if (leaf !== undefined && !isGoodCertificate(known, parsedCertificate(leaf))) return false
  return bearerToken === undefined || mayBeGoodToken(known, bearerToken)
}

function isGoodCertificate({ clientAuthorityKey }: Admittance, certificate: X509Certificate): boolean {
  const now = Date.now()
  const isValidNow = certificate.validFromDate.getTime() <= now && now <= certificate.validToDate.getTime()
  return isValidNow && certificate.verify(read(clientAuthorityKey))
}

function mayBeGoodToken(known: Admittance, token: string): boolean | Promise<boolean> {
  const issuer = tokenIssuer(token)
  if (issuer === undefined) return false
  if (known.otherIssuers.includes(issuer)) return true
  return issuer === known.issuer && isSignedToken(token, { issuer, key: read(known.tokenKey) })
}

function read(key: string): ReturnType<typeof createPublicKey> {
  return createPublicKey({ key: Buffer.from(key, "base64"), type: "spki", format: "der" })
}
