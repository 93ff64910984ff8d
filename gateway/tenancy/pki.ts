// Keys and certificates: authorities, client certificates, serving certificates, and the kubeconfigs that carry them.
// All keys are ECDSA P-256. Who trusts which authority is decided elsewhere (trust-store.ts, gateway-keys.ts).

import "reflect-metadata" // before x509, which needs it at import
import { createPrivateKey, KeyObject, webcrypto } from "node:crypto"
import { isIP } from "node:net"
import * as x509 from "@peculiar/x509"

export interface Authority {
  /** PEM. */
  certificate: string
  key: KeyObject
}

export interface IssuedCertificate {
  /** PEM. */
  certificate: string
  key: string
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const
const dayMs = 24 * 60 * 60_000

export const certificateLifetimes = {
  authorityMs: 10 * 365 * dayMs,
  servingMs: 365 * dayMs,
  clientMs: 365 * dayMs,
  /** Own certificates with less left than this are made anew at start. */
  renewBeforeMs: 60 * dayMs,
  /** Clocks of clients may be behind ours by this much. */
  backdateMs: 5 * 60_000,
} as const

x509.cryptoProvider.set(webcrypto)

export async function createAuthority(commonName: string): Promise<Authority> {
  const keys = await generateKeys()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ CN: [commonName] }],
    ...validity(certificateLifetimes.authorityMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: pem(certificate), key: KeyObject.from(keys.privateKey) }
}

/** For mTLS: the common name is the user, organizations are its groups. */
export function issueClientCertificate(
  authority: Authority,
  user: { name: string; groups: readonly string[] },
  lifetimeMs: number = certificateLifetimes.clientMs,
): Promise<IssuedCertificate> {
  const name = [...user.groups.map((group) => ({ O: [{ utf8String: group }] })), { CN: [{ utf8String: user.name }] }]
  return issue(authority, name, [x509.ExtendedKeyUsage.clientAuth], [], lifetimeMs)
}

/** `names`: host names (a leading "*." is allowed) and IP addresses. */
export function issueServingCertificate(authority: Authority, names: readonly string[]): Promise<IssuedCertificate> {
  const alternatives = names.map((value) => ({ type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const), value }))
  return issue(
    authority,
    [{ CN: [{ utf8String: "polyplane gateway" }] }],
    [x509.ExtendedKeyUsage.serverAuth],
    [new x509.SubjectAlternativeNameExtension(alternatives)],
    certificateLifetimes.servingMs,
  )
}

async function issue(
  authority: Authority,
  subject: x509.JsonNameParams,
  usages: x509.ExtendedKeyUsage[],
  extensions: x509.Extension[],
  lifetimeMs: number,
): Promise<IssuedCertificate> {
  const keys = await generateKeys()
  const issuer = new x509.X509Certificate(authority.certificate)
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: new x509.Name(subject),
    issuer: issuer.subject,
    ...validity(lifetimeMs),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: authority.key.toCryptoKey(algorithm, false, ["sign"]),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(usages),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      ...extensions,
    ],
  })
  return { certificate: pem(certificate), key: printKey(KeyObject.from(keys.privateKey)) }
}

export function printKey(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString()
}

export function parseKey(text: string): KeyObject {
  return createPrivateKey(text)
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])
}

/** A signing key pair for tokens. */
export async function createSigningKey(): Promise<KeyObject> {
  return KeyObject.from((await generateKeys()).privateKey)
}

function validity(lifetimeMs: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now()
  return { notBefore: new Date(now - certificateLifetimes.backdateMs), notAfter: new Date(now + lifetimeMs) }
}

/** Positive and 16 bytes, as RFC 5280 wants it at most 20. */
function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16))
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return Buffer.from(bytes).toString("hex")
}

function pem(certificate: x509.X509Certificate): string {
  return certificate.toString("pem") + "\n"
}
