// Keys and certificates (RFC 5280): authorities, client certificates, serving certificates. All keys are ECDSA P-256. Trust is
// decided elsewhere (trust-store.ts, gateway-keys.ts).

import { createHash, createPrivateKey, type KeyObject, type X509Certificate } from "node:crypto"
import { isIP } from "node:net"
import { describeIssuer, extension, extensionIds, signCertificate } from "./certificate.ts"
import { childrenOf, der, readElements } from "../../apimachinery/der.ts"
import { createKeyPair } from "./key-pair.ts"

export interface Authority {
  /** PEM. */
  certificate: string
  key: KeyObject
}

export interface NewAuthority extends Authority {
  /** The key as PEM. */
  keyText: string
}

export interface IssuedCertificate {
  /** PEM. */
  certificate: string
  key: string
}

const dayMs = 24 * 60 * 60_000

export const certificateLifetimes = {
  authorityMs: 10 * 365 * dayMs,
  servingMs: 365 * dayMs,
  clientMs: 365 * dayMs,
  /** The gateway's own certificates are renewed if less than this remains: after five sixths of their lifetime. */
  renewBeforeMs: 60 * dayMs,
  /** Allowed lag of clients' clocks. */
  backdateMs: 5 * 60_000,
} as const

/** It ends soon, or it begins only later: it was issued while the clock was ahead. */
export function mustBeRenewed({ validFromDate, validToDate }: X509Certificate, now = Date.now()): boolean {
  return validToDate.getTime() - now <= certificateLifetimes.renewBeforeMs || validFromDate.getTime() > now
}

const commonName = der.oid("2.5.4.3")
const organization = der.oid("2.5.4.10")
const usages = { server: der.oid("1.3.6.1.5.5.7.3.1"), client: der.oid("1.3.6.1.5.5.7.3.2") }

/** Tags of the subject alternative name's choices. */
const dnsName = 2
const ipAddress = 7

export async function createAuthority(name: string): Promise<NewAuthority> {
  const { key, pem: keyText, publicKey } = createKeyPair()
  const subject = nameOf([[commonName, name]])
  const certificate = signCertificate({
    issuer: subject,
    signingKey: key,
    subject,
    publicKey,
    ...validity(certificateLifetimes.authorityMs),
    extensions: [
      extension(extensionIds.basicConstraints, der.sequence(der.true), true),
      // keyCertSign and cRLSign
      extension(extensionIds.keyUsage, der.bitString(Buffer.from([0b0000_0110]), 1), true),
      extension(extensionIds.subjectKeyIdentifier, der.octetString(keyIdentifier(publicKey))),
    ],
  })
  return { certificate, key, keyText }
}

/** For mTLS: the common name is the user, organizations are its groups. */
export function issueClientCertificate(
  authority: Authority,
  user: { name: string; groups: readonly string[] },
  lifetimeMs: number = certificateLifetimes.clientMs,
  now = Date.now(),
): Promise<IssuedCertificate> {
  const groups = user.groups.map((group) => [organization, group] as const)
  return issue(authority, [...groups, [commonName, user.name]], usages.client, [], validity(lifetimeMs, now))
}

/** `names`: host names (a leading "*." is allowed) and IP addresses. */
export function issueServingCertificate(
  authority: Authority,
  names: readonly string[],
  now = Date.now(),
): Promise<IssuedCertificate> {
  const alternatives = names.map((name) =>
    isIP(name) === 0 ? der.implicit(dnsName, Buffer.from(name)) : der.implicit(ipAddress, addressBytes(name)),
  )
  return issue(
    authority,
    [[commonName, "polyplane gateway"]],
    usages.server,
    [extension(extensionIds.subjectAlternativeName, der.sequence(...alternatives))],
    validity(certificateLifetimes.servingMs, now),
  )
}

async function issue(
  authority: Authority,
  subject: readonly (readonly [Buffer, string])[],
  usage: Buffer,
  extensions: readonly Buffer[],
  valid: Validity,
): Promise<IssuedCertificate> {
  const keys = createKeyPair()
  const issuer = describeIssuer(authority.certificate)
  const issuerKey = issuer.keyIdentifier ?? keyIdentifier(issuer.publicKey)
  const certificate = signCertificate({
    issuer: issuer.subject,
    signingKey: authority.key,
    subject: nameOf(subject),
    publicKey: keys.publicKey,
    ...valid,
    extensions: [
      extension(extensionIds.basicConstraints, der.sequence(), true),
      // digitalSignature
      extension(extensionIds.keyUsage, der.bitString(Buffer.from([0b1000_0000]), 7), true),
      extension(extensionIds.extendedKeyUsage, der.sequence(usage)),
      extension(extensionIds.authorityKeyIdentifier, der.sequence(der.implicit(0, issuerKey))),
      ...extensions,
    ],
  })
  return { certificate, key: keys.pem }
}

interface Validity {
  notBefore: Date
  notAfter: Date
}

/** From now on, backdated to allow for clocks that are behind. */
function validity(lifetimeMs: number, now = Date.now()): Validity {
  return { notBefore: new Date(now - certificateLifetimes.backdateMs), notAfter: new Date(now + lifetimeMs) }
}

function nameOf(attributes: readonly (readonly [type: Buffer, value: string])[]): Buffer {
  return der.sequence(...attributes.map(([type, value]) => der.set(der.sequence(type, der.utf8(value)))))
}

/** RFC 5280 §4.2.1.2, the first method: SHA-1 of the public key's bits. `publicKey`: DER SubjectPublicKeyInfo. */
function keyIdentifier(publicKey: Buffer): Buffer {
  const [, bits] = childrenOf(readElements(publicKey)[0])
  return createHash("sha1")
    .update(bits?.content.subarray(1) ?? Buffer.alloc(0))
    .digest()
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number))
  const [head = "", tail] = address.split("::")
  const words = (text: string | undefined): number[] =>
    text === undefined || text === "" ? [] : text.split(":").flatMap(addressWords)
  const [first, last] = [words(head), words(tail)]
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => 0)
  const bytes = Buffer.alloc(16)
  for (const [index, word] of [...first, ...zeros, ...last].entries()) bytes.writeUInt16BE(word, index * 2)
  return bytes
}

/** A group of four hexadecimal digits, or the IPv4 address at the end of an IPv6 address. */
function addressWords(group: string): number[] {
  if (!group.includes(".")) return [Number.parseInt(group, 16)]
  const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number)
  return [a * 256 + b, c * 256 + d]
}

/** An ECDSA key as `KeyPair.pem`. */
export function printKey(key: KeyObject): string {
  return key.export({ type: "sec1", format: "pem" }).toString()
}

export function parseKey(text: string): KeyObject {
  return createPrivateKey(text)
}

/** A signing key for tokens. */
export async function createSigningKey(): Promise<KeyObject> {
  return createKeyPair().key
}
