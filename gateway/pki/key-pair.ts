// ECDSA P-256 key pairs as the bytes of certificates and files (RFC 5915, RFC 5480). Every new tenant needs four: point and number
// are inserted into constant bytes, which costs a tenth of OpenSSL's encoders. Private keys are written as client-go writes them
// (keyutil): "EC PRIVATE KEY" tells clients the algorithm, without which the Java client fabric8 takes a key for one of RSA.

import { createECDH, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto"
import { parsePEM, printPEM } from "../../apimachinery/pem.ts"

interface KeyPair {
  /** Parsed on first use: many are only stored. */
  readonly key: KeyObject
  /** ECPrivateKey, PEM. */
  pem: string
  /** DER SubjectPublicKeyInfo. */
  publicKey: Buffer
}

const coordinateBytes = 32
/** Both coordinates, after a byte for their format. */
const pointBytes = 1 + 2 * coordinateBytes
/** SubjectPublicKeyInfo { id-ecPublicKey, prime256v1 }, up to the point. */
const publicKeyHead = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex")
/** ECPrivateKey { number, prime256v1, point }, up to the number, and from there to the point. */
const privateKeyHead = Buffer.from("30770201010420", "hex")
const privateKeyPoint = Buffer.from("a00a06082a8648ce3d030107a144034200", "hex")

/** One for all pairs: each has memory of OpenSSL's own, which is freed during a pause for garbage collection. */
const curve = createECDH("prime256v1")

export function createKeyPair(): KeyPair {
  const point = curve.generateKeys()
  const number = curve.getPrivateKey()
  const zeros = Buffer.alloc(coordinateBytes - number.length)
  const pem = printPEM("EC PRIVATE KEY", Buffer.concat([privateKeyHead, zeros, number, privateKeyPoint, point]))
  let key: KeyObject | undefined
  return {
    get key() {
      return (key ??= createPrivateKey(pem))
    },
    pem,
    publicKey: Buffer.concat([publicKeyHead, point]),
  }
}

/** DER SubjectPublicKeyInfo of a private key (PEM), extracted without parsing if the key has the format written here. */
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
