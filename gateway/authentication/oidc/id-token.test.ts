import { createPublicKey, generateKeyPairSync } from "node:crypto"
import { setImmediate as nextTurn } from "node:timers/promises"
import { type CompactVerifyGetKey, createLocalJWKSet, SignJWT } from "jose"
import { expect, test } from "vitest"
import { FairPlaces } from "../../../apimachinery/fair-places.ts"
import { verifiedClaims } from "./id-token.ts"

const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" })
const { privateKey } = newKeys()
const good = createPublicKey(privateKey).export({ format: "jwk" })
const other = newKeys().publicKey.export({ format: "jwk" })

const unnamedToken = (): Promise<string> =>
  new SignJWT({ sub: "ann" })
    .setProtectedHeader({ alg: "ES256" })
    .setIssuer("https://issuer.example")
    .setAudience("a")
    .setExpirationTime("5m")
    .sign(privateKey)

test.each([
  [31, true],
  [32, false],
])(
  "a token that names no key is compared with the first: behind %d others it is valid: %s",
  async (others, isValid) => {
    const keyOf = createLocalJWKSet({ keys: [...Array.from({ length: others }, () => other), good] as never })
    const keys = { keyOf, refresh: () => Promise.resolve(false) }
    const claims = verifiedClaims(await unnamedToken(), {
      audiences: ["a"],
      keys,
      aside: (job) => job(),
      action: "verify",
    }).then(
      ({ sub }) => sub,
      () => "refused",
    )
    expect(await claims).toBe(isValid ? "ann" : "refused")
  },
)

test("each signature is verified in a place of its own, which is not taken before there is a key", async () => {
  const places = new FairPlaces<string>({ all: 1 })
  let taken = 0
  const aside = <T>(job: () => Promise<T>): Promise<T> => {
    taken++
    return places.run("a", job)
  }
  const fetched = Promise.withResolvers<void>()
  const known = createLocalJWKSet({ keys: [other, other, good] as never })
  const keyOf: CompactVerifyGetKey = (...of) => fetched.promise.then(() => known(...of))
  const keys = { keyOf, refresh: () => Promise.resolve(false) }
  const claims = verifiedClaims(await unnamedToken(), { audiences: ["a"], keys, aside, action: "verify" })
  await nextTurn()
  await places.run("b", () => Promise.resolve())
  expect(taken).toBe(0)
  fetched.resolve()
  expect(await claims).toMatchObject({ sub: "ann" })
  expect(taken).toBe(3)
  await places.run("b", () => Promise.resolve()) // it is free again
})
