// What is known of a sleeping tenant about those who call it, so that strangers do not wake it: whoever presents what it would
// refuse, or presents nothing where nothing is granted to that, is answered as if there were no such tenant, which is the same
// answer. Read when it falls asleep; while it sleeps nobody changes it. In doubt it is woken, and says itself.

import { createPublicKey, X509Certificate } from "node:crypto"
import { isSignedToken, tokenIssuer } from "../authentication/service-account-token.ts"
import type { Credentials } from "../authentication/types.ts"
import { describeIssuer } from "../pki/certificate.ts"
import type { ControlPlane } from "./control-plane.ts"

/** Public keys are DER in base64: a third of a key object's memory. */
export interface Admittance {
  readonly clientAuthorityKey: string
  readonly tokenKey: string
  readonly issuer: string
  /** Issuers of its own choice: whether their tokens are good, only the tenant can find out. */
  readonly otherIssuers: readonly string[]
  /** Callers without credentials may do what they may in every new control plane, and no more. */
  readonly isAnonymousAsBorn: boolean
}

/** `bornRights`: what every new control plane grants to callers without credentials. */
export async function admittanceOf(controlPlane: ControlPlane, bornRights: string): Promise<Admittance> {
  const { trust } = controlPlane
  const { anonymousRights, issuers } = await controlPlane.openness()
  // Taken out of the texts as bytes: every tenant falls asleep, and few callers have a key read again.
  const { publicKey } = describeIssuer(trust.clientCertificateAuthority.certificate)
  return {
    clientAuthorityKey: publicKey.toString("base64"),
    tokenKey: trust.serviceAccountKey.encodedPublic.toString("base64"),
    issuer: trust.issuer,
    otherIssuers: issuers,
    isAnonymousAsBorn: anonymousRights === bornRights,
  }
}

/** false: the tenant would refuse these credentials, or answer as every new one does. */
export function admits(known: Admittance, { certificates, bearerToken }: Credentials): boolean | Promise<boolean> {
  const [leaf] = certificates
  if (leaf === undefined && bearerToken === undefined) return !known.isAnonymousAsBorn
  // Whatever is presented must be good.
  if (leaf !== undefined && !isGoodCertificate(known, new X509Certificate(leaf))) return false
  return bearerToken === undefined || mayBeGoodToken(known, bearerToken)
}

function isGoodCertificate({ clientAuthorityKey }: Admittance, certificate: X509Certificate): boolean {
  const now = Date.now()
  const isOfNow = certificate.validFromDate.getTime() <= now && now <= certificate.validToDate.getTime()
  return isOfNow && certificate.verify(read(clientAuthorityKey))
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
