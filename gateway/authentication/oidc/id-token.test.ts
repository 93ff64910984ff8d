import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { setImmediate as nextTurn } from "node:timers/promises"
import { type JWTHeaderParameters, SignJWT } from "jose"
import { expect, test } from "vitest"
import { FairPlaces } from "../../../apimachinery/fair-places.ts"
import type { JsonObject } from "../../../apimachinery/schema/json-object.ts"
import { verifiedClaims } from "./id-token.ts"
import { type IssuerKey, readKey } from "./issuer-key.ts"

const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" })
const { privateKey, publicKey } = newKeys()

function keyOf(object: KeyObject, more: Partial<IssuerKey> = {}): IssuerKey {
  const key = readKey(object.export({ format: "jwk" }) as JsonObject)
  if (key === undefined) throw new Error("is no key")
  return { ...key, ...more }
}

const good = keyOf(publicKey)
const other = keyOf(newKeys().publicKey)

const tokenWith = (header: JWTHeaderParameters, signer = privateKey): Promise<string> =>
  new SignJWT({ sub: "ann" })
    .setProtectedHeader(header)
    .setIssuer("https://issuer.example")
    .setAudience("a")
    .setExpirationTime("5m")
    .sign(signer)

const unnamedToken = (): Promise<string> => tokenWith({ alg: "ES256" })

const published = (keys: readonly IssuerKey[]) => ({
  current: () => Promise.resolve(keys),
  refresh: () => Promise.resolve(false),
})

/** Of keys that are not dear. */
const noPlaces = (): never => {
  throw new Error("there are no places")
}

function subjectOf(token: string, keys: readonly IssuerKey[]): Promise<unknown> {
  return verifiedClaims(token, { audiences: ["a"], keys: published(keys), aside: noPlaces, action: "verify" }).then(
    ({ sub }) => sub,
    (error: Error) => error.message,
  )
}

const refused = "verify: failed to verify signature: failed to verify id token signature"

test.each([
  [31, "ann"],
  [32, refused],
])("a token that names no key is compared with the first: behind %d others: %s", async (others, answer) => {
  expect(await subjectOf(await unnamedToken(), [...Array.from({ length: others }, () => other), good])).toBe(answer)
})

test("a token is compared with the keys of the name that it has", async () => {
  const keys = [keyOf(publicKey, { id: "one" }), keyOf(newKeys().publicKey, { id: "two" })]
  expect(await subjectOf(await tokenWith({ alg: "ES256", kid: "one" }), keys)).toBe("ann")
  expect(await subjectOf(await tokenWith({ alg: "ES256", kid: "two" }), keys)).toBe(refused)
  expect(await subjectOf(await tokenWith({ alg: "ES256", kid: "three" }), keys)).toBe(refused)
  expect(await subjectOf(await tokenWith({ alg: "ES256", kid: "" }), keys)).toBe("ann")
})

test("an unsuitable key does not prevent that the next one is tried", async () => {
  const rsa = (modulusLength: number) => generateKeyPairSync("rsa", { modulusLength })
  const signer = rsa(2048)
  const token = await tokenWith({ alg: "RS256" }, signer.privateKey)
  expect(await subjectOf(token, [keyOf(rsa(1024).publicKey), keyOf(signer.publicKey)])).toBe("ann")
})

test.each<[string, string]>([
  ["a.b.c", "verify: oidc: malformed jwt"],
  [`${Buffer.from("{}").toString("base64url")}.e30.AA`, "verify: oidc: malformed jwt"],
  [
    `${Buffer.from('{"alg":"HS256"}').toString("base64url")}.e30.AA`,
    "verify: oidc: id token signed with unsupported algorithm, expected [",
  ],
])("%s is refused: %s", async (token, reason) => {
  expect(await subjectOf(token, [good])).toContain(reason)
})

test("only verifying with a dear key takes a place, and not before the keys are known", async () => {
  const places = new FairPlaces<string>({ all: 1 })
  let taken = 0
  const aside = <T>(job: () => Promise<T>): Promise<T> => {
    taken++
    return places.run("a", job)
  }
  const fetched = Promise.withResolvers<IssuerKey[]>()
  const keys = { ...published([]), current: () => fetched.promise }
  const claims = verifiedClaims(await unnamedToken(), { audiences: ["a"], keys, aside, action: "verify" })
  await nextTurn()
  await places.run("b", () => Promise.resolve())
  expect(taken).toBe(0)
  fetched.resolve([other, { ...other, isDear: true }, { ...good, isDear: true }])
  expect(await claims).toMatchObject({ sub: "ann" })
  expect(taken).toBe(2)
  await places.run("b", () => Promise.resolve()) // it is free again
})
