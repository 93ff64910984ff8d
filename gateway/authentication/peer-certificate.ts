// A caller's certificate is looked at by several parts one after the other, all before its first request is answered: they share the
// parsed one. A parsed certificate costs as much to free as to parse, during a pause for garbage collection.

import { X509Certificate } from "node:crypto"
import { Recent } from "../../apimachinery/recent.ts"
import { issuerCommonName } from "../pki/trust-store.ts"

const parsed = new Recent<Uint8Array, X509Certificate>({ keptMs: 1_000, maxFresh: 32 })

/** Cached as long as the connection holds the certificate. */
const issuers = new WeakMap<Uint8Array, string>()

/** Registers the parsed form of `certificate`, which is DER. */
export function rememberParsed(certificate: Uint8Array, known: X509Certificate): void {
  parsed.set(certificate, known, 1)
}

/** `certificate`: DER; the same bytes object for each call about one certificate. */
export function parsedCertificate(certificate: Uint8Array): X509Certificate {
  let found = parsed.get(certificate)
  if (found === undefined) parsed.set(certificate, (found = new X509Certificate(certificate)), 1)
  return found
}

/** Common name of the authority that has issued the certificate, or says it has: nothing is verified. */
export function issuerOf(certificate: Uint8Array): string {
  let issuer = issuers.get(certificate)
  if (issuer === undefined) issuers.set(certificate, (issuer = issuerCommonName(parsedCertificate(certificate))))
  return issuer
}
