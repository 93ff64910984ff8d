// The key of a PKCS#10 request and the signature that proves its possession. As in Go, only some keys and algorithms count, whatever
// else OpenSSL could verify. Source: Go's crypto/x509 (parsePublicKey, checkSignature).

import { constants, createPublicKey, type KeyObject, verify } from "node:crypto"
import { childrenOf, der, type Element, readElements } from "./der.ts"

/** In the words of Go's messages, with its types. */
const keyTypes = {
  RSA: "*rsa.PublicKey",
  DSA: "*dsa.PublicKey",
  ECDSA: "*ecdsa.PublicKey",
  Ed25519: "ed25519.PublicKey",
} as const
type KeyType = keyof typeof keyTypes

const keyIds: readonly [KeyType, Buffer][] = [
  ["RSA", der.oid("1.2.840.113549.1.1.1")],
  ["DSA", der.oid("1.2.840.10040.4.1")],
  ["ECDSA", der.oid("1.2.840.10045.2.1")],
  ["Ed25519", der.oid("1.3.101.112")],
]

/** P-224, P-256, P-384 and P-521. */
const curves = ["1.3.132.0.33", "1.2.840.10045.3.1.7", "1.3.132.0.34", "1.3.132.0.35"].map((id) => der.oid(id))

interface Algorithm {
  key: KeyType
  /** null: it has none of its own. */
  hash: string | null
  /** Length of the salt, for RSA-PSS. */
  salt?: number
}

const pss = der.oid("1.2.840.113549.1.1.10")
const algorithms: readonly [string, Algorithm][] = [
  ["1.2.840.113549.1.1.4", { key: "RSA", hash: "md5" }],
  ["1.2.840.113549.1.1.5", { key: "RSA", hash: "sha1" }],
  ["1.3.14.3.2.29", { key: "RSA", hash: "sha1" }],
  ["1.2.840.113549.1.1.11", { key: "RSA", hash: "sha256" }],
  ["1.2.840.113549.1.1.12", { key: "RSA", hash: "sha384" }],
  ["1.2.840.113549.1.1.13", { key: "RSA", hash: "sha512" }],
  ["1.2.840.10040.4.3", { key: "DSA", hash: "sha1" }],
  ["2.16.840.1.101.3.4.3.2", { key: "DSA", hash: "sha256" }],
  ["1.2.840.10045.4.1", { key: "ECDSA", hash: "sha1" }],
  ["1.2.840.10045.4.3.2", { key: "ECDSA", hash: "sha256" }],
  ["1.2.840.10045.4.3.3", { key: "ECDSA", hash: "sha384" }],
  ["1.2.840.10045.4.3.4", { key: "ECDSA", hash: "sha512" }],
  ["1.3.101.112", { key: "Ed25519", hash: null }],
]
const algorithmIds = algorithms.map(([id, algorithm]) => [der.oid(id), algorithm] as const)

/** The hashes of RSA-PSS, which have a salt of their own length. */
const pssHashes: readonly [Buffer, string, number][] = [
  [der.oid("2.16.840.1.101.3.4.2.1"), "sha256", 32],
  [der.oid("2.16.840.1.101.3.4.2.2"), "sha384", 48],
  [der.oid("2.16.840.1.101.3.4.2.3"), "sha512", 64],
]
const maskFunction = der.oid("1.2.840.113549.1.1.8")
const nothing = Buffer.from([0x05, 0x00])
const fewestBits = 1024
const unimplemented = "x509: cannot verify signature: algorithm unimplemented"

interface RequestKey {
  type: KeyType
  key: KeyObject | undefined
}

/** `info`: the element SubjectPublicKeyInfo. A fault, or the key, which is undefined if it is of an unknown type. */
export function readRequestKey(info: Element): RequestKey | string | undefined {
  const [algorithm, bits] = childrenOf(info)
  const [id, parameters] = childrenOf(algorithm)
  const type = keyIds.find(([, known]) => id?.whole.equals(known) === true)?.[0]
  if (type === undefined) return undefined
  if (type === "RSA" && parameters?.whole.equals(nothing) !== true) return "x509: RSA key missing NULL parameters"
  if (type === "Ed25519" && parameters !== undefined) return "x509: Ed25519 key encoded with illegal parameters"
  if (type === "ECDSA") {
    if (!curves.some((curve) => parameters?.whole.equals(curve) === true)) return "x509: unsupported elliptic curve"
    if (bits?.content[1] !== 4) return "ecdsa: invalid uncompressed public key"
  }
  try {
    return { type, key: createPublicKey({ key: info.whole, format: "der", type: "spki" }) }
  } catch {
    return `x509: invalid ${type} public key` // OpenSSL cannot parse it
  }
}

/** A fault of the signature of `signed`; undefined if it is right. */
export function signatureFault(
  signed: Buffer,
  algorithm: Element | undefined,
  signature: Element | undefined,
  from: RequestKey | undefined,
): string | undefined {
  const how = readAlgorithm(algorithm)
  if (how === undefined) return unimplemented
  if (how.hash === "md5") return "x509: cannot verify signature: insecure algorithm MD5-RSA"
  if (from?.key === undefined || from.type === "DSA") return unimplemented
  const { type, key } = from
  if (type !== how.key)
    return `x509: signature algorithm specifies an ${how.key} public key, but have public key of type ${keyTypes[type]}`
  const bits = type === "RSA" ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : fewestBits
  if (bits < fewestBits)
    return `crypto/rsa: ${bits}-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)`
  if (isSigned(signed, how, key, signature?.content.subarray(1) ?? Buffer.alloc(0))) return undefined
  return type === "RSA" ? "crypto/rsa: verification error" : `x509: ${type} verification failure`
}

function isSigned(signed: Buffer, { hash, salt }: Algorithm, key: KeyObject, signature: Buffer): boolean {
  if (salt === undefined) return verify(hash, signed, key, signature)
  return verify(hash, signed, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: salt }, signature)
}

function readAlgorithm(element: Element | undefined): Algorithm | undefined {
  const [id, parameters] = childrenOf(element)
  if (id?.whole.equals(pss) === true) return readPss(parameters)
  const found = algorithmIds.find(([known]) => id?.whole.equals(known) === true)?.[1]
  return found?.key === "Ed25519" && parameters !== undefined ? undefined : found
}

/** Both hashes must be the same, and the salt as long as they are. */
function readPss(parameters: Element | undefined): Algorithm | undefined {
  const [hash, mask, salt, ...more] = childrenOf(parameters)
  const [maskId, maskHash] = childrenOf(childrenOf(mask)[0])
  const [hashId] = childrenOf(childrenOf(hash)[0])
  const isRight = maskId?.whole.equals(maskFunction) === true && more.length === 0
  if (!isRight || hashId === undefined || childrenOf(maskHash)[0]?.whole.equals(hashId.whole) !== true) return undefined
  const length = readElements(salt?.content ?? Buffer.alloc(0))[0]?.content.at(-1)
  const known = pssHashes.find(([id, , size]) => hashId.whole.equals(id) && size === length)
  return known === undefined ? undefined : { key: "RSA", hash: known[1], salt: known[2] }
}
