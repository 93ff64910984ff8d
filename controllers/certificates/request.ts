// Reads CertificateSigningRequests and the PKCS#10 requests in them.

import { createRequire } from "node:module"
import type { CertificateSigningRequest } from "../../apimachinery/object.ts"
import { parsePEM } from "../../apimachinery/pem.ts"
import { readSubject } from "../../apimachinery/request-subject.ts"

export const kubeletClientSigner = "kubernetes.io/kube-apiserver-client-kubelet"

export const hasCondition = ({ status }: CertificateSigningRequest, type: string): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === type)

export const pemOf = ({ spec }: CertificateSigningRequest): string =>
  Buffer.from(spec?.request ?? "", "base64").toString()

interface Subject {
  /** The last common name of the subject, as programs that verify the certificate read it. */
  commonName: string
  organizations: readonly string[]
  /** Types of the subject alternative names, in the terms of @peculiar/x509: "dns", "ip", "email", "url". */
  alternatives: string[]
}

const subjectAlternativeName = "2.5.29.17"

const load = createRequire(import.meta.url)

/** Throws if the request cannot be parsed; the API does not accept such requests. */
export function subjectOf(pem: string): Subject {
  // Loaded lazily: few tenants have such requests, and the library is large.
  load("reflect-metadata") // @peculiar/x509 requires it
  const { Pkcs10CertificateRequest, SubjectAlternativeNameExtension } = load(
    "@peculiar/x509",
  ) as typeof import("@peculiar/x509")
  const request = new Pkcs10CertificateRequest(parsePEM(pem))
  // Not as the library reads it: a subject that is approved must be the one that is signed.
  const { commonName, organization } = readSubject(Buffer.from(request.rawData))
  const extension = request.getExtension(subjectAlternativeName)
  const alternatives =
    extension instanceof SubjectAlternativeNameExtension ? extension.names.items.map(({ type }) => String(type)) : []
  return { commonName: commonName[0] ?? "", organizations: organization, alternatives }
}

/** Why this is not a kubelet's request for a client certificate; undefined if it is one. */
export function notKubeletClient(
  { commonName, organizations, alternatives }: Subject,
  usages: readonly string[],
): string | undefined {
  if (organizations.length !== 1 || organizations[0] !== "system:nodes") {
    return "subject organization is not system:nodes"
  }
  const refused = [
    ["dns", "DNS"],
    ["email", "Email"],
    ["ip", "IP"],
    ["url", "URI"],
  ].find(([type = ""]) => alternatives.includes(type))
  if (refused !== undefined) return `${refused[1]} subjectAltNames are not allowed`
  if (!commonName.startsWith("system:node:")) return "subject common name does not begin with system:node:"
  const others = new Set(usages)
  others.delete("key encipherment")
  const isRight = others.size === 2 && others.has("digital signature") && others.has("client auth")
  return isRight ? undefined : "usages did not match [client auth digital signature key encipherment]"
}

/** Why this is not a request for a client certificate; undefined if it is one. */
export function notClient(usages: readonly string[]): string | undefined {
  const other = usages.find((usage) => !["digital signature", "key encipherment", "client auth"].includes(usage))
  if (other !== undefined) return `invalid usage for client certificate: ${other}`
  return usages.includes("client auth") ? undefined : "missing required usage for client certificate: client auth"
}

/** Why this is not a kubelet's request for a serving certificate; undefined if it is one. */
export function notKubeletServing(
  { commonName, organizations, alternatives }: Subject,
  usages: readonly string[],
): string | undefined {
  if (organizations.length !== 1 || organizations[0] !== "system:nodes") {
    return "subject organization is not system:nodes"
  }
  if (!alternatives.some((type) => type === "dns" || type === "ip")) return "DNS or IP subjectAltName is required"
  if (alternatives.includes("email")) return "Email subjectAltNames are not allowed"
  if (alternatives.includes("url")) return "URI subjectAltNames are not allowed"
  const others = new Set(usages)
  others.delete("key encipherment")
  const isRight = others.size === 2 && others.has("digital signature") && others.has("server auth")
  if (!isRight) return "usages did not match [digital signature key encipherment server auth]"
  return commonName.startsWith("system:node:") ? undefined : "subject common name does not begin with system:node:"
}
