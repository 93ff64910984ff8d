// Steps that scenarios of requests for certificates have in common.

import { createAuthority, issueClientCertificate } from "../../../../gateway/pki/pki.ts"
import { createClientRequest } from "../../../../gateway/testing/certificate-request.ts"
import type { Step } from "../scenario.ts"

export const requestOf = async (subject: string, hosts: readonly string[] = []): Promise<string> =>
  Buffer.from((await createClientRequest(subject, { hosts })).request).toString("base64")

const authority = await createAuthority("of a scenario")

/** Of another signer. */
export async function certificateFor(lifetimeMs: number): Promise<string> {
  const { certificate } = await issueClientCertificate(authority, { name: "jane", groups: [] }, lifetimeMs)
  return Buffer.from(certificate).toString("base64")
}

export const saidOf = (type: string): object => ({ type, status: "True", reason: "Test", message: "of a scenario" })

export const request = (of: string, spec: object = {}, name = "NAMESPACE"): Step => ({
  create: {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: { request: of, signerName: "kubernetes.io/kube-apiserver-client", usages: ["client auth"], ...spec },
  },
})
