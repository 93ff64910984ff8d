// The subject of a PKCS#10 request as far as admission needs it: its organizations and its common name.

import { parsePEM } from "../../../apimachinery/pem.ts"
import { readSubject, type RequestSubject } from "../../../apimachinery/request-subject.ts"

/** The organizations of a PEM request; none if it cannot be parsed (validation reports that). */
export function organizationsOf(pem: Buffer): readonly string[] {
  return subjectOf(pem)?.organization ?? []
}

/** "" if there is none or the request cannot be parsed. */
export function commonNameOf(pem: Buffer): string {
  return subjectOf(pem)?.commonName[0] ?? ""
}

function subjectOf(pem: Buffer): RequestSubject | undefined {
  try {
    return readSubject(parsePEM(pem.toString("latin1")))
  } catch {
    return undefined // no request: all faults mean the same to the caller
  }
}
