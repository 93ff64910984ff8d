// Parses the subject of a PKCS#10 request as far as admission needs it: its organizations and its common name.

import { createRequire } from "node:module"
import type { Pkcs10CertificateRequest } from "@peculiar/x509"
import { readSubject, type RequestSubject } from "../../../apimachinery/request-subject.ts"

const load = createRequire(import.meta.url)

/** The organizations of a PEM request; none if it cannot be parsed (validation reports that). */
export function organizationsOf(pem: Buffer): readonly string[] {
  return subjectOf(pem)?.organization ?? []
}

/** "" if there is none or the request cannot be parsed. */
export function commonNameOf(pem: Buffer): string {
  return subjectOf(pem)?.commonName[0] ?? ""
}

function subjectOf(pem: Buffer): RequestSubject | undefined {
  const request = parseRequest(pem)
  return request === undefined ? undefined : readSubject(Buffer.from(request.rawData))
}

/** Returns undefined if it is not a certificate request. */
export function parseRequest(pem: Buffer): Pkcs10CertificateRequest | undefined {
  const { Pkcs10CertificateRequest } = library()
  try {
    const request = new Pkcs10CertificateRequest(pem.toString())
    readSubject(Buffer.from(request.rawData)) // which throws as well
    return request
  } catch {
    // All errors of the parser mean the same to the caller.
    return undefined
  }
}

/** Loaded by the first request: it is large, and few tenants have requests. */
function library(): typeof import("@peculiar/x509") {
  load("reflect-metadata") // must be loaded first
  return load("@peculiar/x509") as typeof import("@peculiar/x509")
}
