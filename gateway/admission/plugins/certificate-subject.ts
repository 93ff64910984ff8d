// The subject of a PKCS#10 request, as far as admission looks: the organizations in it.

import "reflect-metadata" // before x509, which needs it at import

import { Pkcs10CertificateRequest } from "@peculiar/x509"

/** Of a PEM request; none when it cannot be read (validation says so). */
export function organizationsOf(pem: Buffer): string[] {
  const request = parseRequest(pem)
  if (request === undefined) return []
  return request.subjectName.toJSON().flatMap((entry) => entry["O"] ?? [])
}

/** Undefined: not a certificate request. */
export function parseRequest(pem: Buffer): Pkcs10CertificateRequest | undefined {
  try {
    return new Pkcs10CertificateRequest(pem.toString())
  } catch {
    // Whatever the parser dislikes, to the caller it is one thing.
    return undefined
  }
}
