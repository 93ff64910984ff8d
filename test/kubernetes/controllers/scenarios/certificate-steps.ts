// Steps that scenarios of requests for certificates have in common.

import { createClientRequest } from "../../../../gateway/testing/certificate-request.ts"
import type { Step } from "../scenario.ts"

export const requestOf = async (subject: string): Promise<string> =>
  Buffer.from((await createClientRequest(subject)).request).toString("base64")

export const request = (of: string, spec: object = {}, name = "NAMESPACE"): Step => ({
  create: {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: { request: of, signerName: "kubernetes.io/kube-apiserver-client", usages: ["client auth"], ...spec },
  },
})
