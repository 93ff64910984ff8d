// PKCS#10 requests for tests.

import { createRequire } from "node:module"

const load = createRequire(import.meta.url)

export async function createClientRequest(
  /** Such as "CN=jane, O=team". */
  name: string,
  { algorithm = "ECDSA", hosts = [] }: { algorithm?: "ECDSA" | "RSA"; hosts?: readonly string[] } = {},
): Promise<{ request: string }> {
  load("reflect-metadata")
  const { Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } = load(
    "@peculiar/x509",
  ) as typeof import("@peculiar/x509")
  const keyAlgorithm =
    algorithm === "ECDSA"
      ? { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }
      : {
          name: "RSASSA-PKCS1-v1_5",
          hash: "SHA-256",
          publicExponent: new Uint8Array([1, 0, 1]),
          modulusLength: 2048,
        }
  const keys = await crypto.subtle.generateKey(keyAlgorithm, true, ["sign", "verify"])
  const extensions =
    hosts.length === 0
      ? []
      : [new SubjectAlternativeNameExtension(hosts.map((value) => ({ type: "dns" as const, value })))]
  const request = await Pkcs10CertificateRequestGenerator.create({
    name,
    keys,
    signingAlgorithm: keyAlgorithm,
    extensions,
  })
  return { request: request.toString("pem") }
}
