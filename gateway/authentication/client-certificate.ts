// Client certificates (mTLS): the handshake has verified that the caller has the certificate's key; the certificate itself is
// verified here against one authority. Common name → user, organizations → groups. Source:
// k8s.io/apiserver/pkg/authentication/request/x509.

import { X509Certificate, type KeyObject } from "node:crypto"
import type { User } from "../request/user.ts"
import { parsedCertificate } from "./peer-certificate.ts"
import type { ImmediateAuthenticator } from "./types.ts"

const clientAuth = "1.3.6.1.5.5.7.3.2"
const anyUsage = "2.5.29.37.0"

interface Verified {
  user: User
  from: number
  to: number
  /** The end of the certificate's validity. */
  end: number
}

interface Root {
  certificate: X509Certificate
  key: KeyObject
}

export function createCertificateAuthenticator(
  authority: string,
  /** The authority determines the user; its rights may be fixed (the gateway's administrators). */
  asUser: (user: User) => User = (user) => user,
): ImmediateAuthenticator {
  // Parsed at the first certificate.
  let root: Root | undefined
  // Keyed by the connection's buffer: an entry lives as long as its connection.
  const verified = new WeakMap<Uint8Array, Verified | "refused">()
  return {
    authenticate({ certificates }) {
      const [leaf] = certificates
      if (leaf === undefined) return undefined
      let entry = verified.get(leaf)
      if (entry === undefined) {
        entry = verify(leaf, (root ??= readRoot(authority))) ?? "refused"
        if (entry !== "refused") entry.user = asUser(entry.user)
        verified.set(leaf, entry)
      }
      const now = Date.now()
      // Not an error: another authority of the control plane may have issued it.
      if (entry === "refused" || now < entry.from || now > entry.to) return undefined
      return { user: entry.user, certificateEnd: entry.end }
    },
  }
}

function readRoot(authority: string): Root {
  const certificate = new X509Certificate(authority)
  return { certificate, key: certificate.publicKey }
}

/** Returns undefined if the certificate is not of this authority, or not for clients. Does not check its dates. */
function verify(der: Uint8Array, { certificate: root, key: rootKey }: Root): Verified | undefined {
  const certificate = parsedCertificate(der)
  const usages = certificate.keyUsage as string[] | undefined
  const allowed = usages === undefined || usages.includes(clientAuth) || usages.includes(anyUsage)
  if (certificate.ca || !allowed || !certificate.checkIssued(root) || !certificate.verify(rootKey)) return undefined
  const subject = certificate.toLegacyObject().subject as { CN?: string | string[]; O?: string | string[] }
  const names = list(subject.CN)
  const name = names[names.length - 1]
  if (name === undefined || name === "") return undefined
  return {
    user: {
      name,
      groups: list(subject.O),
      extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint(certificate)}`] },
    },
    from: certificate.validFromDate.getTime(),
    to: Math.min(certificate.validToDate.getTime(), root.validToDate.getTime()),
    end: certificate.validToDate.getTime(),
  }
}

function list(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value
}

function fingerprint(certificate: X509Certificate): string {
  return certificate.fingerprint256.replaceAll(":", "").toLowerCase()
}
