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
function signToken(changes: {
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
  test("returns the identity that the gateway signed", async () => {
    const token = await signIdentity(identity, "node-1", gateway.privateKey)
    expect(await verifyIdentity(token, "node-1", keys)).toEqual(identity)
    expect(await verifyIdentity(await signToken({}), "node-1", keys)).toEqual(identity)
  })

  test("accepts both keys during a rotation", async () => {
    const token = await signIdentity(identity, "node-1", gateway.privateKey)
    expect(await verifyIdentity(token, "node-1", [stranger.publicKey, gateway.publicKey])).toEqual(identity)
    expect(await verifyIdentity(token, "node-1", [])).toBeUndefined()
  })

  test.each([
    ["like the gateway's", 0, true],
    ["five minutes ahead", 5 * 60_000, true],
    ["ten minutes ahead", 10 * 60_000, false],
    ["an hour behind", -60 * 60_000, true],
  ])("a new token is judged by a clock that is %s", async (_what, ahead, isAccepted) => {
    const token = await signIdentity(identity, "node-1", gateway.privateKey)
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ahead })
    expect(await verifyIdentity(token, "node-1", keys)).toEqual(isAccepted ? identity : undefined)
  })

  test.each<[string, () => Promise<string>]>([
    ["for another node", () => signToken({ audience: "vn-agent/node-2" })],
    ["for a node whose name has the same prefix", () => signToken({ audience: "vn-agent/node-10" })],
    ["for something else", () => signToken({ audience: "https://kubernetes.default.svc" })],
    ["of another issuer", () => signToken({ issuer: "kubernetes/serviceaccount" })],
    ["signed by another key", () => signToken({ key: stranger.privateKey })],
    [
      "signed with the public key as a secret",
      () =>
        signToken({ algorithm: "HS256", key: Buffer.from(gateway.publicKey.export({ type: "spki", format: "pem" })) }),
    ],
    ["expired", () => signToken({ expires: "-6m" })],
    ["without an expiry", () => signToken({ expires: null })],
    ["not valid yet", () => signToken({ notBefore: "6m" })],
    ["of nobody", () => signToken({ subject: null })],
    ["without a cluster key", () => signToken({ clusterKey: undefined })],
    ["with an empty cluster key", () => signToken({ clusterKey: "" })],
    ["with a cluster key that is not a string", () => signToken({ clusterKey: ["ns-123456-a"] })],
    [
      "not signed",
      async () => `${Buffer.from('{"alg":"none"}').toString("base64url")}.${(await signToken({})).split(".")[1]}.`,
    ],
    ["cut off", async () => (await signToken({})).slice(0, -4)],
    ["no token at all", () => Promise.resolve("x")],
  ])("a token %s is rejected", async (_what, token) => {
    expect(await verifyIdentity(await token(), "node-1", keys)).toBeUndefined()
  })
})
