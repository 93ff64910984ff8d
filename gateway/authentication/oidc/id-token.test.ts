import { createPublicKey, generateKeyPairSync } from "node:crypto"
import { createLocalJWKSet, SignJWT } from "jose"
import { expect, test } from "vitest"
import { verifiedClaims } from "./id-token.ts"
import type { IssuerKeys } from "./issuer-keys.ts"

const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" })
const { privateKey } = newKeys()
const good = createPublicKey(privateKey).export({ format: "jwk" })
const other = newKeys().publicKey.export({ format: "jwk" })

test.each([
  [31, true],
  [32, false],
])(
  "a token that names no key is compared with the first: behind %d others it is valid: %s",
  async (others, isValid) => {
    const keyOf = createLocalJWKSet({ keys: [...Array.from({ length: others }, () => other), good] as never })
    const keys = { keyOf, refresh: () => Promise.resolve(false) } as unknown as IssuerKeys
    const token = await new SignJWT({ sub: "ann" })
      .setProtectedHeader({ alg: "ES256" })
      .setIssuer("https://issuer.example")
      .setAudience("a")
      .setExpirationTime("5m")
      .sign(privateKey)
    const claims = verifiedClaims(token, { audiences: ["a"], keys, action: "verify" }).then(
      ({ sub }) => sub,
      () => "refused",
    )
    expect(await claims).toBe(isValid ? "ann" : "refused")
  },
)
