// The subject of a PKCS#10 request, as far as admission looks: the organizations in it.

import { createRequire } from "node:module"
import type { Pkcs10CertificateRequest } from "@peculiar/x509"

const load = createRequire(import.meta.url)

/** Of a PEM request; none when it cannot be read (validation says so). */
export function organizationsOf(pem: Buffer): string[] {
  const request = parseRequest(pem)
  if (request === undefined) return []
  return request.subjectName.toJSON().flatMap((entry) => entry["O"] ?? [])
}

/** Undefined: not a certificate request. */
export function parseRequest(pem: Buffer): Pkcs10CertificateRequest | undefined {
  const { Pkcs10CertificateRequest } = library()
  try {
    return new Pkcs10CertificateRequest(pem.toString())
  } catch {
    // Whatever the parser dislikes, to the caller it is one thing.
    return undefined
  }
}

/** Loaded by the first request there is: few tenants have any, and it is large. */
function library(): typeof import("@peculiar/x509") {
  load("reflect-metadata") // which it needs to be there before
  return load("@peculiar/x509") as typeof import("@peculiar/x509")
}
