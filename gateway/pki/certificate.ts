// Creates a certificate (RFC 5280) as DER: the common parts of all certificates (pki.ts creates those with the gateway's own keys,
// requested-certificate.ts those for other parties' keys). Also parses an issuer's certificate.

import { randomBytes, sign, type KeyObject } from "node:crypto"
import { childrenOf, der, readElements } from "../../apimachinery/der.ts"
import { parsePEM, printPEM } from "../../apimachinery/pem.ts"

const ecdsaWithSha256 = der.sequence(der.oid("1.2.840.10045.4.3.2"))

export const extensionIds = {
  subjectKeyIdentifier: der.oid("2.5.29.14"),
  keyUsage: der.oid("2.5.29.15"),
  subjectAlternativeName: der.oid("2.5.29.17"),
  basicConstraints: der.oid("2.5.29.19"),
  authorityKeyIdentifier: der.oid("2.5.29.35"),
  extendedKeyUsage: der.oid("2.5.29.37"),
} as const

interface CertificateParts {
  /** DER Name. */
  issuer: Buffer
  subject: Buffer
  /** ECDSA P-256. */
  signingKey: KeyObject
  /** DER SubjectPublicKeyInfo. */
  publicKey: Buffer
  notBefore: Date
  notAfter: Date
  /** Created by {@link extension}. */
  extensions: readonly Buffer[]
}

/** PEM. */
export function signCertificate(parts: CertificateParts): string {
  const { issuer, subject, signingKey, publicKey, notBefore, notAfter, extensions } = parts
  const version3 = der.explicit(0, der.integer(Buffer.from([2])))
  const toBeSigned = der.sequence(
    version3,
    der.integer(serialNumber()),
    ecdsaWithSha256,
    issuer,
    der.sequence(der.time(notBefore), der.time(notAfter)),
    subject,
    publicKey,
    der.explicit(3, der.sequence(...extensions)),
  )
  const signature = der.bitString(sign("sha256", toBeSigned, signingKey))
  return printPEM("CERTIFICATE", der.sequence(toBeSigned, ecdsaWithSha256, signature))
}

export function extension(id: Buffer, value: Buffer, critical = false): Buffer {
  return der.sequence(id, ...(critical ? [der.true] : []), der.octetString(value))
}

/** The fields of an issuer's certificate, as their exact bytes. */
export function describeIssuer(certificate: string): {
  subject: Buffer
  publicKey: Buffer
  keyIdentifier: Buffer | undefined
} {
  // [0] version, serial number, algorithm, issuer, validity, subject, public key, …, [3] extensions
  const fields = childrenOf(childrenOf(readElements(parsePEM(certificate))[0])[0])
  const [subject, publicKey] = [fields[5]?.whole, fields[6]?.whole]
  if (subject === undefined || publicKey === undefined) throw new Error("the authority's certificate has no subject")
  const extensions = childrenOf(childrenOf(fields.find(({ tag }) => tag === 0xa3))[0])
  const { subjectKeyIdentifier } = extensionIds
  const found = extensions.map(childrenOf).find(([type]) => type?.whole.equals(subjectKeyIdentifier) === true)
  return { subject, publicKey, keyIdentifier: childrenOf(found?.at(-1))[0]?.content }
}

/** Positive and 16 bytes long; RFC 5280 allows at most 20. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes
}
