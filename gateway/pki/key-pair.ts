// ECDSA P-256 key pairs as the bytes that certificates and files have (RFC 5915, RFC 5480). Every new tenant has four made: the
// point and the number are put between bytes that never differ, which costs a tenth of what OpenSSL's encoders take.

import { createECDH, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto"
import { parsePEM, printPEM } from "./pem.ts"

export interface KeyPair {
  /** Read when it is first asked for: many are only written down. */
  readonly key: KeyObject
  /** PKCS #8, PEM. */
  pem: string
  /** DER SubjectPublicKeyInfo. */
  publicKey: Buffer
}

const coordinateBytes = 32
/** Both coordinates, after a byte that says so. */
const pointBytes = 1 + 2 * coordinateBytes
/** SubjectPublicKeyInfo { id-ecPublicKey, prime256v1 }, up to the point. */
const publicKeyHead = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex")
/** PrivateKeyInfo { id-ecPublicKey, prime256v1, ECPrivateKey }, up to the number, and from there to the point. */
const privateKeyHead = Buffer.from("308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420", "hex")
const privateKeyPoint = Buffer.from("a144034200", "hex")

export function createKeyPair(): KeyPair {
  const made = createECDH("prime256v1")
  const point = made.generateKeys()
  const number = made.getPrivateKey()
  const zeros = Buffer.alloc(coordinateBytes - number.length)
  const pem = printPEM("PRIVATE KEY", Buffer.concat([privateKeyHead, zeros, number, privateKeyPoint, point]))
  let key: KeyObject | undefined
  return {
    get key() {
      return (key ??= createPrivateKey(pem))
    },
    pem,
    publicKey: Buffer.concat([publicKeyHead, point]),
  }
}

/** DER SubjectPublicKeyInfo of a private key (PEM), cut out of it where it lies as we write it. */
export function publicKeyOf(pem: string): Buffer {
  const key = parsePEM(pem)
  const pointAt = privateKeyHead.length + coordinateBytes
  const isOurs =
    key.length === pointAt + privateKeyPoint.length + pointBytes &&
    key.subarray(0, privateKeyHead.length).equals(privateKeyHead) &&
    key.subarray(pointAt, pointAt + privateKeyPoint.length).equals(privateKeyPoint)
  if (isOurs) return Buffer.concat([publicKeyHead, key.subarray(pointAt + privateKeyPoint.length)])
  return createPublicKey(pem).export({ type: "spki", format: "der" })
}
