// Requests of certificates: whether they are signed by their own key, names of signers, and conditions that exclude each other.

import { generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { der } from "../../../../apimachinery/der.ts"
import type { Json } from "../../../../apimachinery/object.ts"
import { printPEM } from "../../../../apimachinery/pem.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  type RequestStep,
  type Scenario,
  strategicPatch,
} from "../scenario.ts"

const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

export function certificateRequestCases(): Scenario[] {
  return [
    { name: "certificates are requested for keys of many types", steps: Object.entries(ofTypes()).map(asked) },
    { name: "requests of certificates are signed by another", steps: Object.entries(ofTypes(spoilt)).map(asked) },
    { name: "requests of certificates have alternative names", steps: Object.entries(withNames()).map(asked) },
    { name: "bytes of a certificate's request are wrong", steps: Object.entries(broken()).map(asked) },
    { name: "certificates are requested of many signers", steps: signers.map(ofSigner) },
    { name: "usages of a certificate are wrong in two ways", steps: [wrongUsages()] },
    { name: "a certificate is approved and denied", steps: decisions() },
    { name: "a certificate is no bytes", steps: emptyCertificate() },
  ]
}

interface Pair {
  publicKey: KeyObject
  privateKey: KeyObject
}

interface Signing {
  pair: Pair
  hash: string | null
  algorithm: string
  parameters?: Buffer
  salt?: number
}

const nothing = Buffer.from([0x05, 0x00])
const subject = der.sequence(der.set(der.sequence(der.oid("2.5.4.3"), der.utf8("jane"))))
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 })
const curve = (namedCurve: string): Pair => generateKeyPairSync("ec", { namedCurve })
const p256 = curve("P-256")
const ed25519 = generateKeyPairSync("ed25519")
const [rsaSha256, ecdsaSha256, ofEd25519] = ["1.2.840.113549.1.1.11", "1.2.840.10045.4.3.2", "1.3.101.112"] as const

const pssParameters = (salt: number, maskHash = "2.16.840.1.101.3.4.2.1"): Buffer =>
  der.sequence(
    der.explicit(0, der.sequence(der.oid("2.16.840.1.101.3.4.2.1"), nothing)),
    der.explicit(1, der.sequence(der.oid("1.2.840.113549.1.1.8"), der.sequence(der.oid(maskHash), nothing))),
    der.explicit(2, der.integer(Buffer.from([salt]))),
  )

const signings: Readonly<Record<string, Signing>> = {
  "RSA, SHA-256": { pair: rsa, hash: "sha256", algorithm: rsaSha256, parameters: nothing },
  "RSA, SHA-1": { pair: rsa, hash: "sha1", algorithm: "1.2.840.113549.1.1.5", parameters: nothing },
  "RSA, MD5": { pair: rsa, hash: "md5", algorithm: "1.2.840.113549.1.1.4", parameters: nothing },
  "RSA, SHA-224": { pair: rsa, hash: "sha224", algorithm: "1.2.840.113549.1.1.14", parameters: nothing },
  "RSA of 1024 bits": {
    pair: generateKeyPairSync("rsa", { modulusLength: 1024 }),
    hash: "sha512",
    algorithm: "1.2.840.113549.1.1.13",
    parameters: nothing,
  },
  "RSA of 768 bits": {
    pair: generateKeyPairSync("rsa", { modulusLength: 768 }),
    hash: "sha256",
    algorithm: rsaSha256,
    parameters: nothing,
  },
  "RSA-PSS": {
    pair: rsa,
    hash: "sha256",
    algorithm: "1.2.840.113549.1.1.10",
    parameters: pssParameters(32),
    salt: 32,
  },
  "RSA-PSS with a short salt": {
    pair: rsa,
    hash: "sha256",
    algorithm: "1.2.840.113549.1.1.10",
    parameters: pssParameters(20),
    salt: 20,
  },
  "RSA-PSS with two hashes": {
    pair: rsa,
    hash: "sha256",
    algorithm: "1.2.840.113549.1.1.10",
    parameters: pssParameters(32, "2.16.840.1.101.3.4.2.2"),
    salt: 32,
  },
  "P-256": { pair: p256, hash: "sha256", algorithm: ecdsaSha256 },
  "P-256, SHA-1": { pair: p256, hash: "sha1", algorithm: "1.2.840.10045.4.1" },
  "P-224": { pair: curve("P-224"), hash: "sha256", algorithm: ecdsaSha256 },
  "P-521": { pair: curve("P-521"), hash: "sha512", algorithm: "1.2.840.10045.4.3.4" },
  secp256k1: { pair: curve("secp256k1"), hash: "sha256", algorithm: ecdsaSha256 },
  Ed25519: { pair: ed25519, hash: null, algorithm: ofEd25519 },
  "Ed25519 with parameters": { pair: ed25519, hash: null, algorithm: ofEd25519, parameters: nothing },
  Ed448: { pair: generateKeyPairSync("ed448"), hash: null, algorithm: "1.3.101.113" },
  "P-256, said to be RSA": { pair: p256, hash: "sha256", algorithm: rsaSha256, parameters: nothing },
  "RSA, said to be P-256": { pair: rsa, hash: "sha256", algorithm: ecdsaSha256 },
  "Ed25519, said to be P-256": { pair: ed25519, hash: null, algorithm: ecdsaSha256 },
}

/** DER of a request. `change` is applied to what was signed. */
function requestOf(signing: Signing, extensions?: Buffer, change = (info: Buffer): Buffer => info): Buffer {
  const { pair, hash, algorithm, parameters, salt } = signing
  const key = pair.publicKey.export({ type: "spki", format: "der" })
  const asking = extensions === undefined ? [] : [der.sequence(der.oid("1.2.840.113549.1.9.14"), der.set(extensions))]
  const attributes = der.explicit(0, Buffer.concat(asking))
  const info = der.sequence(der.integer(Buffer.from([0])), subject, key, attributes)
  const padding = salt === undefined ? {} : { padding: 6, saltLength: salt }
  const signature = sign(hash, info, { key: pair.privateKey, ...padding })
  const how = der.sequence(der.oid(algorithm), parameters ?? Buffer.alloc(0))
  return der.sequence(change(info), how, der.bitString(signature))
}

function spoilt(info: Buffer): Buffer {
  const changed = Buffer.from(info)
  changed.write("joan", changed.indexOf("jane"))
  return changed
}

const encoded = (request: Buffer): string => Buffer.from(printPEM("CERTIFICATE REQUEST", request)).toString("base64")

function ofTypes(change?: (info: Buffer) => Buffer): Record<string, string> {
  return Object.fromEntries(
    Object.entries(signings).map(([label, signing]) => [label, encoded(requestOf(signing, undefined, change))]),
  )
}

const object = (request: string, spec: object = {}): { metadata: object; spec: object } => ({
  metadata: { name: "r@{id}" },
  spec: { request, signerName: "example.com/a", usages: ["client auth"], ...spec },
})

const asked = ([label, request]: [string, string]): RequestStep =>
  post(`${requests}?dryRun=All`, object(request) as Json, { label })

const alternatives = (...names: readonly Buffer[]): Buffer =>
  der.sequence(der.oid("2.5.29.17"), der.octetString(der.sequence(...names)))

function withNames(): Record<string, string> {
  const signing: Signing = { pair: p256, hash: "sha256", algorithm: ecdsaSha256 }
  const text = (tag: number, value: string): Buffer => der.implicit(tag, Buffer.from(value))
  const urls = ["https://a.example/b", "https://a/%zz", "https://a..b/", "https://a./", "https://.a/", "a:b", ":"]
  const extensions: Readonly<Record<string, Buffer>> = {
    many: der.sequence(alternatives(text(2, "a.example"), text(1, "a@b"), der.implicit(7, Buffer.from([1, 2, 3, 4])))),
    "an odd domain": der.sequence(alternatives(text(2, "ä"))),
    "an odd address of mail": der.sequence(alternatives(text(1, "ä@b"))),
    "an odd URL": der.sequence(alternatives(text(6, "https://ä"))),
    "an address of five bytes": der.sequence(alternatives(der.implicit(7, Buffer.alloc(5)))),
    "names twice": der.sequence(alternatives(text(2, "a")), alternatives(text(2, "b"))),
    ...Object.fromEntries(urls.map((url) => [url, der.sequence(alternatives(text(6, url)))])),
  }
  return Object.fromEntries(
    Object.entries(extensions).map(([label, extension]) => [label, encoded(requestOf(signing, extension))]),
  )
}

function broken(): Record<string, string> {
  const request = requestOf({ pair: p256, hash: "sha256", algorithm: ecdsaSha256 })
  const line = Buffer.from(encoded(request), "base64").toString()
  return {
    "too many": encoded(Buffer.concat([request, Buffer.from("hello")])),
    "too few": encoded(request.subarray(0, 60)),
    none: encoded(Buffer.alloc(0)),
    "followed by an empty line": Buffer.from(line.replace("\n-----END", "\n\n-----END")).toString("base64"),
    "another request follows": Buffer.from(line + line.replace("\nM", "\nN")).toString("base64"),
  }
}

const signers = [
  "a/b",
  "a.b/c",
  "a..b/c",
  "A.b/c",
  "a.b/C",
  "a.b/c.d",
  "a.b/c..d",
  "a.b/",
  "/c",
  "a.b//c",
  "a",
  "/",
  "a_b/c",
  "-a.b/c_",
  "A/B",
  `${"a".repeat(64)}.b/c`,
  `${"a.".repeat(130)}b/c`,
  `a.b/${"a".repeat(254)}`,
  `${"a.".repeat(126)}b/${"a.".repeat(160)}b`,
]

const plain = encoded(requestOf({ pair: p256, hash: "sha256", algorithm: ecdsaSha256 }))

const ofSigner = (signerName: string, index: number): RequestStep =>
  post(`${requests}?dryRun=All`, object(plain, { signerName }) as Json, { label: `POST signer ${index}` })

function wrongUsages(): RequestStep {
  const usages = ["client auth", "client auth", "x", "x", ""]
  return post(`${requests}?dryRun=All`, object(plain, { usages }) as Json)
}

function decisions(): RequestStep[] {
  const [a, d] = ["Approved", "Denied"].map((type): Json => ({ type, status: "True", reason: "r" }))
  const orders: readonly Json[] = [[a, d], [d, a], [d, a, d, a], [a, a], [{ status: "True", type: "" }]] as Json[]
  const written = (subresource: string): RequestStep[] =>
    orders.map((conditions, index) =>
      put(`${requests}/r@{id}/${subresource}?dryRun=All`, { ...object(plain), status: { conditions } } as Json, {
        label: `PUT ${subresource} ${index}`,
      }),
    )
  return [post(requests, object(plain) as Json), ...written("approval"), ...written("status")]
}

/** No bytes are not the same as none: they are another revision, although no answer in JSON tells one from the other. */
function emptyCertificate(): RequestStep[] {
  const one = `${requests}/r@{id}`
  const label = (text: string): { label: string } => ({ label: text })
  const kind = { group: "certificates.k8s.io", version: "v1", kind: "CertificateSigningRequest" }
  const whole = (status: object): Json => ({ ...object(plain), status }) as Json
  const status = (certificate: Json): Json => ({ status: { certificate } })
  return [
    post(`${requests}?fieldManager=a`, object(plain) as Json),
    ...["b", "b", "c"].map((manager) =>
      put(`${one}/status?fieldManager=${manager}`, whole({ certificate: "" }), label(`PUT "" by ${manager}`)),
    ),
    put(`${one}?fieldManager=d`, object(plain) as Json, label("PUT the rest")),
    get(one, { headers: { accept: "application/vnd.kubernetes.protobuf" }, label: "GET in protobuf" }),
    put(`${one}/status?fieldManager=b`, whole({}), label("PUT nothing")),
    put(`${one}/status?fieldManager=b`, whole({}), label("PUT nothing again")),
    patch(`${one}/status?fieldManager=e`, mergePatch, status(""), label('MERGE ""')),
    patch(`${one}/status?fieldManager=e`, mergePatch, status(""), label('MERGE "" again')),
    patch(`${one}/status?fieldManager=e`, mergePatch, status(null), label("MERGE null")),
    patch(`${one}/status?fieldManager=f`, strategicPatch, status(""), label('STRATEGIC ""')),
    patch(`${one}/status?fieldManager=f`, strategicPatch, { metadata: { labels: { a: "b" } } }, label("STRATEGIC")),
    patch(
      `${one}/status?fieldManager=f`,
      jsonPatch,
      [{ op: "add", path: "/status/certificate", value: "" }],
      label('JSON ""'),
    ),
    ...["g", "g", "h"].map((manager) =>
      patch(
        `${one}/status?fieldManager=${manager}`,
        applyPatch,
        { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest", ...(status("") as object) },
        label(`APPLY by ${manager}`),
      ),
    ),
    patch(
      `${one}/status?fieldManager=g`,
      applyPatch,
      { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest" },
      label("APPLY nothing by g"),
    ),
    put(`${one}/status?fieldManager=i`, whole({ certificate: "" }), {
      protobuf: kind,
      contentType: "application/vnd.kubernetes.protobuf",
      ...label("PUT in protobuf"),
    }),
    put(`${one}/approval?fieldManager=i`, whole({ certificate: "" }), label("PUT approval")),
    get(one),
    patch(`${one}?fieldManager=j`, mergePatch, { metadata: { labels: { c: "d" } } }, label("LABEL")),
    get(one, { headers: { accept: "application/vnd.kubernetes.protobuf" }, label: "GET in protobuf at the end" }),
  ]
}
