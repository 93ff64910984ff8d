import { generateKeyPairSync } from "node:crypto"
import { describe, expect, test } from "vitest"
import type { JsonObject } from "../../../apimachinery/schema/json-object.ts"
import { readKey } from "./issuer-key.ts"

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "jwk" }) as JsonObject
const newKeys = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve })
const pair = newKeys("P-384")
const ordinary = newKeys("P-256").publicKey.export({ format: "jwk" }) as JsonObject
const curve = pair.publicKey.export({ format: "jwk" }) as JsonObject
const numberOf = (bytes: number): string => Buffer.alloc(bytes, 0xff).toString("base64url")

describe("a key of an issuer", () => {
  test("verifies the algorithms of its kind, or the one that it names", () => {
    expect(readKey(rsa)?.algorithms).toEqual(["PS256", "PS384", "PS512", "RS256", "RS384", "RS512"])
    expect(readKey({ ...rsa, alg: "RS256", use: "sig" })?.algorithms).toEqual(["RS256"])
    expect(readKey({ ...curve, kid: "one", key_ops: ["verify"] })).toMatchObject({ id: "one", algorithms: ["ES384"] })
  })

  test("is of RSA with an exponent of up to 31 bits, whatever zeros are before it", () => {
    const withExponent = (...bytes: number[]): JsonObject => ({ ...rsa, e: Buffer.from(bytes).toString("base64url") })
    for (const zeros of [[], [0], [0, 0, 0, 0, 0]]) {
      expect(readKey(withExponent(...zeros, 1, 0, 1))?.algorithms).toContain("RS256")
      expect(readKey(withExponent(...zeros, 0x80, 0, 0, 1))).toBeUndefined()
    }
    expect(readKey({ ...rsa, e: "AQAB=" })?.algorithms).toContain("RS256")
  })

  test.each<[string, unknown]>([
    ["no object", 1],
    ["nothing", {}],
    ["a private key", pair.privateKey.export({ format: "jwk" })],
    ["one for encryption", { ...curve, use: "enc" }],
    ["one for other operations", { ...curve, key_ops: ["encrypt"] }],
    ["one for another algorithm", { ...curve, alg: "ES256" }],
    ["a point that is not on its curve", { ...curve, x: "AA", y: "AA" }],
    ["one without a part", { ...curve, y: undefined }],
    ["a secret", { kty: "oct", k: "AA" }],
    ["one of another curve", { ...curve, crv: "secp256k1" }],
    ["one with a long exponent", { ...rsa, e: numberOf(100_000) }],
  ])("that is %s is ignored", (_, jwk) => {
    expect(readKey(jwk as JsonObject)).toBeUndefined()
  })

  test.each<[string, JsonObject, boolean]>([
    ["of P-256", ordinary, false],
    ["of P-384", curve, true],
    ["of 2048 bits", rsa, false],
    ["of 4096 bits", { ...rsa, n: numberOf(512) }, false],
    ["of 8192 bits", { ...rsa, n: numberOf(1024) }, true],
  ])("%s is dear: %s", (_, jwk, isDear) => {
    expect(readKey(jwk)?.isDear).toBe(isDear)
  })
})
