// Keys and certificates (RFC 5280): authorities, client certificates, serving certificates. All keys are ECDSA P-256.
// Who trusts which authority is decided elsewhere (trust-store.ts, gateway-keys.ts).

import { createHash, createPrivateKey, generateKeyPair, randomBytes, sign, X509Certificate } from "node:crypto"
import type { KeyObject } from "node:crypto"
import { isIP } from "node:net"
import { promisify } from "node:util"
import { der, readElements } from "./der.ts"

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

const ecdsaWithSha256 = der.sequence(der.oid("1.2.840.10045.4.3.2"))
const commonName = der.oid("2.5.4.3")
const organization = der.oid("2.5.4.10")
const subjectKeyIdentifier = der.oid("2.5.29.14")
const keyUsage = der.oid("2.5.29.15")
const subjectAlternativeName = der.oid("2.5.29.17")
const basicConstraints = der.oid("2.5.29.19")
const authorityKeyIdentifier = der.oid("2.5.29.35")
const extendedKeyUsage = der.oid("2.5.29.37")
const usages = { server: der.oid("1.3.6.1.5.5.7.3.1"), client: der.oid("1.3.6.1.5.5.7.3.2") }

/** In the subject alternative name's choice of kinds. */
const dnsName = 2
const ipAddress = 7

export async function createAuthority(name: string): Promise<Authority> {
  const { privateKey: key, publicKey } = await generateKeys()
  const subject = nameOf([[commonName, name]])
  const certificate = signCertificate({
    issuer: subject,
    signingKey: key,
    subject,
    publicKey,
    lifetimeMs: certificateLifetimes.authorityMs,
    extensions: [
      extension(basicConstraints, der.sequence(der.true), true),
      // keyCertSign and cRLSign
      extension(keyUsage, der.bitString(Buffer.from([0b0000_0110]), 1), true),
      extension(subjectKeyIdentifier, der.octetString(keyIdentifier(publicKey))),
    ],
  })
  return { certificate, key }
}

/** For mTLS: the common name is the user, organizations are its groups. */
export function issueClientCertificate(
  authority: Authority,
  user: { name: string; groups: readonly string[] },
  lifetimeMs: number = certificateLifetimes.clientMs,
): Promise<IssuedCertificate> {
  const groups = user.groups.map((group) => [organization, group] as const)
  return issue(authority, [...groups, [commonName, user.name]], usages.client, [], lifetimeMs)
}

/** `names`: host names (a leading "*." is allowed) and IP addresses. */
export function issueServingCertificate(authority: Authority, names: readonly string[]): Promise<IssuedCertificate> {
  const alternatives = names.map((name) =>
    isIP(name) === 0 ? der.implicit(dnsName, Buffer.from(name)) : der.implicit(ipAddress, addressBytes(name)),
  )
  return issue(
    authority,
    [[commonName, "polyplane gateway"]],
    usages.server,
    [extension(subjectAlternativeName, der.sequence(...alternatives))],
    certificateLifetimes.servingMs,
  )
}

async function issue(
  authority: Authority,
  subject: readonly (readonly [Buffer, string])[],
  usage: Buffer,
  extensions: readonly Buffer[],
  lifetimeMs: number,
): Promise<IssuedCertificate> {
  const keys = await generateKeys()
  const issuer = describeIssuer(authority.certificate)
  const certificate = signCertificate({
    issuer: issuer.subject,
    signingKey: authority.key,
    subject: nameOf(subject),
    publicKey: keys.publicKey,
    lifetimeMs,
    extensions: [
      extension(basicConstraints, der.sequence(), true),
      // digitalSignature
      extension(keyUsage, der.bitString(Buffer.from([0b1000_0000]), 7), true),
      extension(extendedKeyUsage, der.sequence(usage)),
      extension(authorityKeyIdentifier, der.sequence(der.implicit(0, issuer.keyIdentifier))),
      ...extensions,
    ],
  })
  return { certificate, key: printKey(keys.privateKey) }
}

interface CertificateParts {
  /** DER Name. */
  issuer: Buffer
  subject: Buffer
  signingKey: KeyObject
  publicKey: KeyObject
  lifetimeMs: number
  extensions: readonly Buffer[]
}

function signCertificate(parts: CertificateParts): string {
  const { issuer, subject, signingKey, publicKey, lifetimeMs, extensions } = parts
  const now = Date.now()
  const version3 = der.explicit(0, der.integer(Buffer.from([2])))
  const toBeSigned = der.sequence(
    version3,
    der.integer(serialNumber()),
    ecdsaWithSha256,
    issuer,
    der.sequence(der.time(new Date(now - certificateLifetimes.backdateMs)), der.time(new Date(now + lifetimeMs))),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    der.explicit(3, der.sequence(...extensions)),
  )
  const signature = der.bitString(sign("sha256", toBeSigned, signingKey))
  return pem(der.sequence(toBeSigned, ecdsaWithSha256, signature))
}

function extension(id: Buffer, value: Buffer, critical = false): Buffer {
  return der.sequence(id, ...(critical ? [der.true] : []), der.octetString(value))
}

function nameOf(attributes: readonly (readonly [type: Buffer, value: string])[]): Buffer {
  return der.sequence(...attributes.map(([type, value]) => der.set(der.sequence(type, der.utf8(value)))))
}

/** What a certificate says of its issuer, as the issuer's own certificate has it, byte for byte. */
function describeIssuer(certificate: string): { subject: Buffer; keyIdentifier: Buffer } {
  const { raw, publicKey } = new X509Certificate(certificate)
  const fields = readElements(readElements(readElements(raw)[0]?.content ?? raw)[0]?.content ?? raw)
  // [0] version, serial number, algorithm, issuer, validity, subject, public key, …, [3] extensions
  const subject = fields[5]?.whole
  if (subject === undefined) throw new Error("the authority's certificate has no subject")
  const extensions = readElements(fields.find(({ tag }) => tag === 0xa3)?.content ?? Buffer.alloc(0))[0]
  for (const { content } of readElements(extensions?.content ?? Buffer.alloc(0))) {
    const parts = readElements(content)
    if (parts[0]?.whole.equals(subjectKeyIdentifier) !== true) continue
    const value = readElements(parts.at(-1)?.content ?? Buffer.alloc(0))[0]
    if (value !== undefined) return { subject, keyIdentifier: value.content }
  }
  return { subject, keyIdentifier: keyIdentifier(publicKey) }
}

/** RFC 5280 §4.2.1.2, the first method: SHA-1 of the public key's bits. */
function keyIdentifier(key: KeyObject): Buffer {
  const [, bits] = readElements(
    readElements(key.export({ type: "spki", format: "der" }))[0]?.content ?? Buffer.alloc(0),
  )
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

/** A group of four hexadecimal digits, or the IPv4 address an IPv6 address may end with. */
function addressWords(group: string): number[] {
  if (!group.includes(".")) return [Number.parseInt(group, 16)]
  const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number)
  return [a * 256 + b, c * 256 + d]
}

export function printKey(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString()
}

export function parseKey(text: string): KeyObject {
  return createPrivateKey(text)
}

const generate = promisify(generateKeyPair)

/** Off the loop: in a thread of the pool. */
function generateKeys(): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  return generate("ec", { namedCurve: "P-256" })
}

/** A signing key pair for tokens. */
export async function createSigningKey(): Promise<KeyObject> {
  return (await generateKeys()).privateKey
}

/** Positive and 16 bytes, as RFC 5280 wants it at most 20. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`
}
