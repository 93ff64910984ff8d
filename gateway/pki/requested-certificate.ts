// Signs a certificate for another party's key according to a PKCS#10 request (RFC 2986): key and alternative names are copied from
// the request byte for byte, the subject as it was read (request-subject.ts); the signer determines everything else.

import { X509Certificate } from "node:crypto"
import { describeIssuer, extension, extensionIds, signCertificate } from "./certificate.ts"
import { childrenOf, der, readElements, type Element } from "../../apimachinery/der.ts"
import type { Authority } from "./pki.ts"
import { encodeSubject, readSubject } from "../../apimachinery/request-subject.ts"

const extensionRequest = der.oid("1.2.840.113549.1.9.14")

interface Terms {
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
  const [, , publicKey, attributes] = childrenOf(childrenOf(readElements(request)[0])[0])
  if (publicKey === undefined) throw new Error("not a certificate request")
  const issuer = describeIssuer(authority.certificate)
  const { keyUsages, extendedUsages, notBefore, notAfter } = terms
  const alternatives = requestedAlternatives(attributes)
  const extensions = [
    ...(keyUsages.length === 0 ? [] : [extension(extensionIds.keyUsage, bits(keyUsages), true)]),
    ...(extendedUsages.length === 0
      ? []
      : [extension(extensionIds.extendedKeyUsage, der.sequence(...extendedUsages.map((usage) => der.oid(usage))))]),
    extension(extensionIds.basicConstraints, der.sequence(), true),
    ...(issuer.keyIdentifier === undefined
      ? []
      : [extension(extensionIds.authorityKeyIdentifier, der.sequence(der.implicit(0, issuer.keyIdentifier)))]),
    ...(alternatives === undefined ? [] : [extension(extensionIds.subjectAlternativeName, alternatives)]),
  ]
  const certificate = signCertificate({
    issuer: issuer.subject,
    subject: encodeSubject(readSubject(request)),
    signingKey: authority.key,
    publicKey: publicKey.whole,
    notBefore,
    notAfter,
    extensions,
  })
  // Parsed once, since parts of it are untrusted.
  return new X509Certificate(certificate).toString()
}

function requestedAlternatives(attributes: Element | undefined): Buffer | undefined {
  for (const attribute of childrenOf(attributes)) {
    const [type, values] = childrenOf(attribute)
    if (type?.whole.equals(extensionRequest) !== true) continue
    for (const requested of childrenOf(childrenOf(values)[0])) {
      const parts = childrenOf(requested)
      if (parts[0]?.whole.equals(extensionIds.subjectAlternativeName) === true) return parts.at(-1)?.content
    }
  }
  return undefined
}

/** A named bit list, without trailing zeros. */
function bits(numbers: readonly number[]): Buffer {
  const highest = Math.max(...numbers)
  const bytes = Buffer.alloc((highest >> 3) + 1)
  for (const bit of numbers) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7))
  return der.bitString(bytes, 7 - (highest & 7))
}
