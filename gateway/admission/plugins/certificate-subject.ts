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
    const request = new Pkcs10CertificateRequest(pem.toString())
    const texts = request.subjectName.toJSON().flatMap((entry) => Object.values(entry).flat())
    return texts.some(isFalseNumber) ? undefined : request
  } catch {
    // Whatever the parser dislikes, to the caller it is one thing.
    return undefined
  }
}

/** A NumericString of which the library shows the bytes alone. */
const numeric = /^#12(?:[\da-f]{2}){2,}$/i

/**
 * One that holds letters is none, to upstream's parser. OpenSSL, which reads the certificate that is made of it, does not mind: the
 * group it says would have been seen by nobody before.
 */
function isFalseNumber(text: string): boolean {
  if (!numeric.test(text)) return false
  const bytes = Buffer.from(text.slice(1), "hex")
  const [, length = 0] = bytes
  const head = length < 0x80 ? 2 : 2 + (length & 0x7f)
  return !/^[\d ]*$/.test(bytes.subarray(head).toString("latin1"))
}

/** Loaded by the first request there is: few tenants have any, and it is large. */
function library(): typeof import("@peculiar/x509") {
  load("reflect-metadata") // which it needs to be there before
  return load("@peculiar/x509") as typeof import("@peculiar/x509")
}
