// A certificate for a key that somebody else holds, as a PKCS#10 request asks for it (RFC 2986): subject, key and alternative
// names are the request's, byte for byte; all else is the signer's to choose.

import { randomBytes, sign, X509Certificate } from "node:crypto"
import { der, readElements, type Element } from "./der.ts"
import type { Authority } from "./pki.ts"

const ecdsaWithSha256 = der.sequence(der.oid("1.2.840.10045.4.3.2"))
const extensionRequest = der.oid("1.2.840.113549.1.9.14")
const subjectKeyIdentifier = der.oid("2.5.29.14")
const keyUsage = der.oid("2.5.29.15")
const subjectAlternativeName = der.oid("2.5.29.17")
const basicConstraints = der.oid("2.5.29.19")
const authorityKeyIdentifier = der.oid("2.5.29.35")
const extendedKeyUsage = der.oid("2.5.29.37")

export interface Terms {
  /** Bits of RFC 5280 §4.2.1.3. */
  keyUsages: readonly number[]
  /** Object identifiers. */
  extendedUsages: readonly string[]
  notBefore: Date
  notAfter: Date
}

/** DER of a request whose signature has been verified → PEM. */
export function signRequest(authority: Authority, request: Buffer, terms: Terms): string {
  // CertificationRequest: info, algorithm, signature. Info: version, subject, public key, [0] attributes.
  const [, subject, publicKey, attributes] = childrenOf(childrenOf(readElements(request)[0])[0])
  if (subject === undefined || publicKey === undefined) throw new Error("not a certificate request")
  const issuer = issuerOf(authority.certificate)
  const { keyUsages, extendedUsages, notBefore, notAfter } = terms
  const alternatives = requestedAlternatives(attributes)
  const extensions = [
    ...(keyUsages.length === 0 ? [] : [extension(keyUsage, bits(keyUsages), true)]),
    ...(extendedUsages.length === 0
      ? []
      : [extension(extendedKeyUsage, der.sequence(...extendedUsages.map((usage) => der.oid(usage))))]),
    extension(basicConstraints, der.sequence(), true),
    ...(issuer.keyIdentifier === undefined
      ? []
      : [extension(authorityKeyIdentifier, der.sequence(der.implicit(0, issuer.keyIdentifier)))]),
    ...(alternatives === undefined ? [] : [extension(subjectAlternativeName, alternatives)]),
  ]
  const toBeSigned = der.sequence(
    der.explicit(0, der.integer(Buffer.from([2]))),
    der.integer(serialNumber()),
    ecdsaWithSha256,
    issuer.name,
    der.sequence(der.time(notBefore), der.time(notAfter)),
    subject.whole,
    publicKey.whole,
    der.explicit(3, der.sequence(...extensions)),
  )
  const signature = der.bitString(sign("sha256", toBeSigned, authority.key))
  return new X509Certificate(der.sequence(toBeSigned, ecdsaWithSha256, signature)).toString()
}

const childrenOf = (element: Element | undefined): Element[] =>
  element === undefined ? [] : readElements(element.content)

function requestedAlternatives(attributes: Element | undefined): Buffer | undefined {
  for (const attribute of childrenOf(attributes)) {
    const [type, values] = childrenOf(attribute)
    if (type?.whole.equals(extensionRequest) !== true) continue
    for (const requested of childrenOf(childrenOf(values)[0])) {
      const parts = childrenOf(requested)
      if (parts[0]?.whole.equals(subjectAlternativeName) === true) return parts.at(-1)?.content
    }
  }
  return undefined
}

/** What the authority's certificate says of itself, byte for byte. */
function issuerOf(certificate: string): { name: Buffer; keyIdentifier: Buffer | undefined } {
  // [0] version, serial number, algorithm, issuer, validity, subject, public key, …, [3] extensions
  const fields = childrenOf(childrenOf(readElements(new X509Certificate(certificate).raw)[0])[0])
  const name = fields[5]?.whole
  if (name === undefined) throw new Error("the authority's certificate has no subject")
  const extensions = childrenOf(childrenOf(fields.find(({ tag }) => tag === 0xa3))[0])
  const found = extensions.map(childrenOf).find(([type]) => type?.whole.equals(subjectKeyIdentifier) === true)
  return { name, keyIdentifier: childrenOf(found?.at(-1))[0]?.content }
}

function extension(id: Buffer, value: Buffer, critical = false): Buffer {
  return der.sequence(id, ...(critical ? [der.true] : []), der.octetString(value))
}

/** A named bit list: without trailing zeros. */
function bits(numbers: readonly number[]): Buffer {
  const highest = Math.max(...numbers)
  const bytes = Buffer.alloc((highest >> 3) + 1)
  for (const bit of numbers) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7))
  return der.bitString(bytes, 7 - (highest & 7))
}

/** Positive and 16 bytes; RFC 5280 wants at most 20. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes
}
