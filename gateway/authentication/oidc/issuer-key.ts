// A key that an issuer publishes as a JSON Web Key (RFC 7517), ready to verify signatures.

import { createPublicKey, type KeyObject } from "node:crypto"
import type { Json } from "../../../apimachinery/object.ts"
import { isObject, type JsonObject } from "../../../apimachinery/schema/json-object.ts"

const curves = new Map<unknown, string>([
  ["P-256", "ES256"],
  ["P-384", "ES384"],
  ["P-521", "ES512"],
])
const rsaAlgorithms = ["PS256", "PS384", "PS512", "RS256", "RS384", "RS512"]

/** What tokens may be signed with. */
export const algorithms: readonly string[] = [...curves.values(), ...rsaAlgorithms]

/** As in Go, RSA exponents have less than 32 bits. OpenSSL takes longer ones, with which verifying takes 8 ms, and printing them minutes. */
const maxExponent = 2 ** 31 - 1
/** In base64. Leading zeros do not count, but there is no need for many. */
const maxExponentLength = 64

/** Estimated memory of one form of a key. */
const formBytes = 4 * 1024

/** Of RSA. With up to 4096 bits, and on the curve P-256, verifying takes 0.03 to 0.15 ms; on other curves 0.7 to 1.5 ms. */
const maxOrdinaryBits = 4096

export interface IssuerKey {
  /** As tokens name it. */
  id: string | undefined
  algorithms: readonly string[]
  object: KeyObject
  /** Whether verifying with it takes so long that only few may at once. */
  isDear: boolean
  /** Estimated memory: OpenSSL's key, and what is made of it for each algorithm that it is used with. */
  bytes: number
}

/** Undefined for what is no public key that verifies tokens: it is ignored, as RFC 7517 asks in section 5. kube-apiserver refuses all. */
export function readKey(jwk: Json): IssuerKey | undefined {
  if (!isObject(jwk)) return undefined
  const suitable = algorithmsOf(jwk)
  if (suitable.length === 0) return undefined
  try {
    const object = createPublicKey({ key: jwk, format: "jwk" })
    const id = typeof jwk["kid"] === "string" ? jwk["kid"] : undefined
    const bytes = formBytes * (1 + suitable.length) + textsIn(jwk)
    return { id, algorithms: suitable, object, isDear: isDear(object), bytes }
  } catch {
    return undefined
  }
}

/** Names and numbers may have any length. */
function textsIn(jwk: JsonObject): number {
  return Object.values(jwk).reduce<number>((sum, text) => sum + (typeof text === "string" ? text.length : 0), 0)
}

function algorithmsOf({ use = "sig", key_ops: operations = ["verify"], alg, d, ...of }: JsonObject): string[] {
  const isPublic = d === undefined
  if (!isPublic || use !== "sig" || !Array.isArray(operations) || !operations.includes("verify")) return []
  return algorithmsOfKind(of).filter((one) => alg === undefined || alg === one)
}

function algorithmsOfKind({ kty, crv, e }: JsonObject): string[] {
  if (kty === "RSA") return hasOrdinaryExponent(e) ? rsaAlgorithms : []
  const ofCurve = kty === "EC" ? curves.get(crv) : undefined
  return ofCurve === undefined ? [] : [ofCurve]
}

function hasOrdinaryExponent(e: Json | undefined): boolean {
  if (typeof e !== "string" || e.length > maxExponentLength) return false
  return BigInt(`0x0${Buffer.from(e, "base64url").toString("hex")}`) <= maxExponent
}

function isDear({ asymmetricKeyDetails: { modulusLength = 0, namedCurve } = {} }: KeyObject): boolean {
  return modulusLength > maxOrdinaryBits || (namedCurve !== undefined && namedCurve !== "prime256v1")
}
