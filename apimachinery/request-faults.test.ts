import { generateKeyPairSync, sign } from "node:crypto"
import { expect, test } from "vitest"
import { der } from "./der.ts"
import { requestFault } from "./request-faults.ts"

const { publicKey, privateKey } = generateKeyPairSync("ed25519")

function requestFor(name: string, signedName: string): Buffer {
  const infoFor = (text: string): Buffer =>
    der.sequence(
      der.integer(Buffer.from([0])),
      der.sequence(der.set(der.sequence(der.oid("2.5.4.3"), der.utf8(text)))),
      publicKey.export({ type: "spki", format: "der" }),
      der.explicit(0, Buffer.alloc(0)),
    )
  const signature = der.bitString(sign(null, infoFor(signedName), privateKey))
  return der.sequence(infoFor(name), der.sequence(der.oid("1.3.101.112")), signature)
}

test("a request must be signed by its own key", () => {
  expect(requestFault(requestFor("jane", "jane"))).toBeUndefined()
  expect(requestFault(requestFor("jane", "joan"))).toBe("x509: Ed25519 verification failure")
})

test("a request is one whole element", () => {
  const request = requestFor("jane", "jane")
  expect(requestFault(Buffer.alloc(0))).toBe("asn1: syntax error: sequence truncated")
  expect(requestFault(request.subarray(0, -1))).toBe("asn1: syntax error: data truncated")
  expect(requestFault(Buffer.concat([request, request]))).toBe("asn1: syntax error: trailing data")
  expect(requestFault(Buffer.from("hello"))).toContain("malformed")
})
