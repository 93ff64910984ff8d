import { UnsecuredJWT } from "jose"
import { expect, test } from "vitest"
import { untrustedIssuer } from "./untrusted-issuer.ts"

test.each([
  ["https://accounts.google.com", "https://accounts.google.com"],
  ["accounts.google.com", "https://accounts.google.com"],
  ["issuer.example.com", "issuer.example.com"],
])("a token that claims %s is of %s", (claimed, url) => {
  expect(untrustedIssuer(new UnsecuredJWT().setIssuer(claimed).encode())).toBe(url)
})

test("what is no token is of nobody", () => {
  expect(untrustedIssuer("a.b.c")).toBeUndefined()
})
