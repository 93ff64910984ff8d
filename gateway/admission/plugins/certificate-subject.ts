// Parses the subject of a PKCS#10 request as far as admission needs it: its organizations.

import { createRequire } from "node:module"
import type { Pkcs10CertificateRequest } from "@peculiar/x509"

const load = createRequire(import.meta.url)

/** The organizations of a PEM request; none if it cannot be parsed (validation reports that). */
export function organizationsOf(pem: Buffer): string[] {
  const request = parseRequest(pem)
  if (request === undefined) return []
  return request.subjectName.toJSON().flatMap((entry) => entry["O"] ?? [])
}

/** Returns undefined if it is not a certificate request. */
export function parseRequest(pem: Buffer): Pkcs10CertificateRequest | undefined {
  const { Pkcs10CertificateRequest } = library()
  try {
    const request = new Pkcs10CertificateRequest(pem.toString())
    const texts = request.subjectName.toJSON().flatMap((entry) => Object.values(entry).flat())
    return texts.some(isFalseNumber) ? undefined : request
  } catch {
    // All errors of the parser mean the same to the caller.
    return undefined
  }
}

/** A NumericString, for which the library returns only the bytes. */
const numeric = /^#12(?:[\da-f]{2}){2,}$/i

/**
 * Upstream's parser rejects a NumericString that contains letters. OpenSSL, which parses the issued certificate, accepts it, so its
 * group would have escaped all checks.
 */
function isFalseNumber(text: string): boolean {
  if (!numeric.test(text)) return false
  const bytes = Buffer.from(text.slice(1), "hex")
  const [, length = 0] = bytes
  const head = length < 0x80 ? 2 : 2 + (length & 0x7f)
  return !/^[\d ]*$/.test(bytes.subarray(head).toString("latin1"))
}

/** Loaded by the first request: it is large, and few tenants have requests. */
function library(): typeof import("@peculiar/x509") {
  load("reflect-metadata") // must be loaded first
  return load("@peculiar/x509") as typeof import("@peculiar/x509")
}
