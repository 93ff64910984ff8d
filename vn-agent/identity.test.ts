import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { SignJWT } from "jose"
import { afterEach, describe, expect, test, vi } from "vitest"
import { identityIssuer, signIdentity, verifyIdentity } from "./identity.ts"

const pair = () => generateKeyPairSync("ec", { namedCurve: "P-256" })
const [gateway, stranger] = [pair(), pair()]
const identity = { tenant: "a", clusterKey: "ns-123456-a" }
const keys = [gateway.publicKey]

afterEach(() => vi.useRealTimers())

/** A token that is valid except for `changes`. */
function forge(changes: {
  issuer?: string
  audience?: string
  subject?: string | null
  clusterKey?: unknown
  algorithm?: string
  key?: KeyObject | Uint8Array
  expires?: string | null
  notBefore?: string
}) {
  const token = new SignJWT(
    "clusterKey" in changes
      ? changes.clusterKey === undefined
        ? {}
        : { clusterKey: changes.clusterKey }
      : { clusterKey: identity.clusterKey },
  )
    .setProtectedHeader({ alg: changes.algorithm ?? "ES256" })
    .setIssuer(changes.issuer ?? identityIssuer)
    .setAudience(changes.audience ?? "vn-agent/node-1")
    .setIssuedAt()
  if (changes.subject !== null) token.setSubject(changes.subject ?? "a")
  if (changes.expires !== null) token.setExpirationTime(changes.expires ?? "1m")
  if (changes.notBefore !== undefined) token.setNotBefore(changes.notBefore)
  return token.sign(changes.key ?? gateway.privateKey)
}

describe("verifyIdentity()", () => {
  test("knows whom the gateway signed for", async () => {
    const token = await signIdentity(identity, "node-1", gateway.privateKey)
    expect(await verifyIdentity(token, "node-1", keys)).toEqual(identity)
    expect(await verifyIdentity(await forge({}), "node-1", keys)).toEqual(identity)
  })

  test("takes either key while one is replaced", async () => {
    const token = await signIdentity(identity, "node-1", gateway.privateKey)
    expect(await verifyIdentity(token, "node-1", [stranger.publicKey, gateway.publicKey])).toEqual(identity)
    expect(await verifyIdentity(token, "node-1", [])).toBeUndefined()
  })

  test("is good for a minute, and clocks may differ by seconds", async () => {
    const token = await signIdentity(identity, "node-1", gateway.privateKey)
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 65_000 })
    expect(await verifyIdentity(token, "node-1", keys)).toEqual(identity)
    vi.setSystemTime(Date.now() + 10_000)
    expect(await verifyIdentity(token, "node-1", keys)).toBeUndefined()
  })

  test.each<[string, () => Promise<string>]>([
    ["for another node", () => forge({ audience: "vn-agent/node-2" })],
    ["for a node whose name only begins alike", () => forge({ audience: "vn-agent/node-10" })],
    ["for something else", () => forge({ audience: "https://kubernetes.default.svc" })],
    ["of another issuer", () => forge({ issuer: "kubernetes/serviceaccount" })],
    ["signed by another key", () => forge({ key: stranger.privateKey })],
    [
      "signed with the public key as a secret",
      () => forge({ algorithm: "HS256", key: Buffer.from(gateway.publicKey.export({ type: "spki", format: "pem" })) }),
    ],
    ["expired", () => forge({ expires: "-1m" })],
    ["without an end", () => forge({ expires: null })],
    ["not valid yet", () => forge({ notBefore: "5m" })],
    ["of nobody", () => forge({ subject: null })],
    ["without a cluster key", () => forge({ clusterKey: undefined })],
    ["with an empty cluster key", () => forge({ clusterKey: "" })],
    ["with a cluster key that is no text", () => forge({ clusterKey: ["ns-123456-a"] })],
    [
      "not signed",
      async () => `${Buffer.from('{"alg":"none"}').toString("base64url")}.${(await forge({})).split(".")[1]}.`,
    ],
    ["cut off", async () => (await forge({})).slice(0, -4)],
    ["no token at all", () => Promise.resolve("x")],
  ])("a token %s is none", async (_what, token) => {
    expect(await verifyIdentity(await token(), "node-1", keys)).toBeUndefined()
  })
})
