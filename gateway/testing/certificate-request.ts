// PKCS#10 requests for tests.

import { generateKeyPairSync, sign } from "node:crypto"
import { createRequire } from "node:module"
import { der } from "../../apimachinery/der.ts"

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

/** With that DER as subject, however odd. */
export function requestWithSubject(subject: Buffer): string {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const version = der.integer(Buffer.from([0]))
  const key = publicKey.export({ type: "spki", format: "der" })
  const info = der.sequence(version, subject, key, der.explicit(0, Buffer.alloc(0)))
  const signature = der.bitString(sign("sha256", info, privateKey))
  const request = der.sequence(info, der.sequence(der.oid("1.2.840.10045.4.3.2")), signature)
  return `-----BEGIN CERTIFICATE REQUEST-----\n${request.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`
}
