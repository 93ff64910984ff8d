// Certificates, requests for them and keys, as PEM that is not quite what it should be.

import { createPrivateKey, generateKeyPairSync } from "node:crypto"
import type { Json } from "../../../../apimachinery/object.ts"
import { printPEM } from "../../../../apimachinery/pem.ts"
import { createAuthority } from "../../../../gateway/pki/pki.ts"
import { kindNamed } from "../generate/objects.ts"
import { patch, post, put, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"

type Body = Record<string, Json>

const core = "/api/v1/namespaces/@{ns}"
const pair = await createAuthority("a")

export function keyTextCases(): Scenario[] {
  return [
    { name: "keys that are no one's are warned of", steps: ofSecrets() },
    { name: "certificate requests and certificates are PEM", steps: ofRequests() },
  ]
}

function ofSecrets(): RequestStep[] {
  const secret = (certificate: string, key: string): Body => ({
    metadata: { name: "pair" },
    type: "kubernetes.io/tls",
    data: {
      "tls.crt": Buffer.from(certificate).toString("base64"),
      "tls.key": Buffer.from(key).toString("base64"),
    },
  })
  const { certificate, keyText: key } = pair
  const sec1Key = createPrivateKey(key).export({ type: "sec1", format: "pem" }).toString()
  const pkcs8 = { type: "pkcs8", format: "pem" } as const
  const otherKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export(pkcs8).toString()
  const rsaKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export(pkcs8).toString()
  const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
  const brokenKey = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
  const pairs: Readonly<Record<string, readonly [string, string]>> = {
    "that fits": [certificate, key],
    "that fits, in its older form": [certificate, sec1Key],
    "after other words": [`hello\n${certificate}`, `hello\n${broken}${key}`],
    "with headers": [certificate.replace("-\n", "-\nA: b\n\n"), key],
    nothing: ["", ""],
    "no PEM": ["a", "b"],
    "the other way round": [key, certificate],
    "no key": [certificate, certificate],
    "no key, but much": [certificate, `${certificate}${certificate}`],
    "a key for a certificate": [key + key, key],
    "another's": [certificate, otherKey],
    "another kind": [certificate, rsaKey],
    "a broken certificate": [broken, key],
    "a broken key": [certificate, brokenKey],
    "cut off": [certificate.slice(0, 200), key],
    "a type that does not end as it began": [certificate.replace("END CERTIFICATE", "END THING"), key],
    "spoilt inside": [certificate.replace("\nMI", "\n*I"), key],
  }
  return [
    ...Object.entries(pairs).map(([label, texts]) =>
      post(`${core}/secrets?dryRun=All`, secret(...texts), { label: `a pair ${label}` }),
    ),
    post(`${core}/secrets`, secret("a", "b")),
    patch(`${core}/secrets/pair`, strategicPatch, { metadata: { labels: { a: "b" } } }),
    put(`${core}/secrets/pair`, secret(certificate, key)),
  ]
}

function ofRequests(): RequestStep[] {
  const kind = kindNamed("certificates.k8s.io/v1/certificatesigningrequests")
  const { certificate, keyText } = pair
  const object = kind.object() as { spec: { request: string } } & Body
  const request = Buffer.from(object.spec.request, "base64").toString()
  const encoded = (text: string): string => Buffer.from(text).toString("base64")
  const requests: Readonly<Record<string, string>> = {
    "after other words": `hello\n${request}`,
    "after a key": `${keyText}${request}`,
    "with headers": request.replace("-\n", "-\nA: b\n\n"),
    indented: ` ${request}`,
    "that ends as another": request.replace("END CERTIFICATE REQUEST", "END THING"),
    "of another type": request.replaceAll("CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"),
    empty: "",
  }
  const issued: Readonly<Record<string, string>> = {
    "as it is": certificate,
    "two of them": certificate + certificate,
    "after other words": `hello\n${certificate}`,
    "with a key": certificate + keyText,
    "a key": keyText,
    "with headers": certificate.replace("-\n", "-\nA: b\n\n"),
    "with nothing in it": printPEM("CERTIFICATE", Buffer.alloc(0)),
    broken: printPEM("CERTIFICATE", Buffer.alloc(3)),
    "no PEM": "not a certificate",
  }
  return [
    ...Object.entries(requests).map(([label, text]) =>
      post(
        `${kind.path}?dryRun=All`,
        { ...object, spec: { ...object.spec, request: encoded(text) } },
        { label: `requests, ${label}` },
      ),
    ),
    post(kind.path, object),
    ...Object.entries(issued).map(([label, text]) =>
      put(
        `${kind.objectPath}/status?dryRun=All`,
        { ...object, status: { certificate: encoded(text) } },
        { label: `issued, ${label}` },
      ),
    ),
  ]
}
