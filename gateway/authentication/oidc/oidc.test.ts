// Tokens of an issuer that a tenant has configured, with a whole gateway.

import { generateKeyPairSync } from "node:crypto"
import { SignJWT } from "jose"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { ThreadPlaces } from "../../request/thread-places.ts"
import { Turns } from "../../request/turns.ts"
import type { Loose } from "../../testing/kinds.ts"
import {
  call,
  configMaps,
  configuration,
  configure,
  gateway,
  issuer,
  key,
  keyId,
  newKey,
  otherKeys,
  others,
  publicOf,
  token,
  useIssuer,
  userOf,
} from "./testing/issuer.ts"

useIssuer()

describe("a token of a configured issuer", () => {
  test("identifies the user and groups of its claims, with the prefixes", async () => {
    expect(await userOf(await token())).toEqual({
      username: "oidc:ann",
      groups: ["oidc:team", "system:authenticated"],
      extra: { "authentication.kubernetes.io/credential-id": ["JTI=j1"] },
    })
  })

  test("is verified with keys that are fetched once", async () => {
    for (let index = 0; index < 3; index++) await userOf(await token())
    expect(issuer.calls.map(({ path }) => path)).toEqual(["/.well-known/openid-configuration", "/keys"])
  })

  test.each<[string, () => Promise<string>]>([
    ["another audience", () => token({}, { audience: "other" })],
    ["another key", () => token({}, { with: newKey() })],
    ["no user", () => token({ sub: "" })],
    ["groups that are none", () => token({ groups: [1] })],
    ["an issuer that is not configured", () => token({}, { from: "https://other.example.com" })],
    ["an end in the past", () => token({ exp: 1 }).then((made) => made.replace(/\.[^.]*$/, ".AAAA"))],
  ])("with %s is rejected", async (_, make) => {
    expect(await userOf(await make())).toBe(401)
  })

  test.each<[string, Loose, string]>([
    ["no user", { sub: undefined }, 'oidc: parse username claims "sub": claim not present'],
    [
      "a number as user",
      { sub: 1 },
      "oidc: verify token: oidc: failed to unmarshal claims: json: cannot unmarshal number into Go struct field idToken.sub of type string",
    ],
    [
      "groups that are none",
      { groups: [1] },
      'oidc: parse groups claim "groups": json: cannot unmarshal array into Go value of type string',
    ],
    [
      "an end in the past",
      { exp: 1 },
      "oidc: verify token: oidc: token is expired (Token Expiry: 1970-01-01 00:00:01 +0000 UTC)",
    ],
    [
      "an end that no 64 bits hold",
      { exp: 1e30 },
      "oidc: verify token: oidc: token is expired (Token Expiry: 292277026596-12-04 15:30:08 +0000 UTC)",
    ],
    ["a start in the future", { nbf: 9e15 }, "before the nbf (not before) time: 9999-12-31 23:59:59 +0000 UTC"],
    ["another audience", { aud: ["x", "y"] }, `oidc: verify token: oidc: expected audience in ["polyplane" "test-`],
  ])("with %s is rejected with upstream's reason", async (_what, claims, reason) => {
    const payload = { iss: issuer.url, aud: "polyplane", sub: "ann", exp: 4e9, ...claims }
    const bearer = await new SignJWT(payload).setProtectedHeader({ alg: "ES256", kid: keyId }).sign(key)
    const body = { spec: { token: bearer } }
    const { json } = await call("/apis/authentication.k8s.io/v1/tokenreviews", { method: "POST", body })
    expect((json() as Loose)["status"].error).toContain(reason)
  })

  test("may begin in a minute, and may be signed with a key without a name", async () => {
    const now = Math.floor(Date.now() / 1000)
    expect(await userOf(await token({ nbf: now + 50 }))).toMatchObject({ username: "oidc:ann" })
    const unnamed = new SignJWT({ iss: issuer.url, aud: "polyplane", sub: "ann", exp: now + 60 })
    otherKeys.push(publicOf(newKey(), "two"))
    expect(await userOf(await unnamed.setProtectedHeader({ alg: "ES256" }).sign(key))).toMatchObject({
      username: "oidc:ann",
    })
  })

  test("grants no permissions by itself", async () => {
    const { code } = await gateway.request(`/tenants/a${configMaps}`, {
      token: await token({ groups: ["system:masters"] }),
    })
    expect(code).toBe(403)
  })

  test("is rejected by another tenant", async () => {
    await gateway.createTenant("b").catch(() => undefined)
    const path = "/tenants/b/apis/authentication.k8s.io/v1/selfsubjectreviews"
    expect((await gateway.request(path, { method: "POST", token: await token(), body: {} })).code).toBe(401)
  })

  test("must have the required claims", async () => {
    const rules = [{ claim: "hd", requiredValue: "example.com" }]
    await configure(configuration({ claimValidationRules: rules }))
    expect(await userOf(await token())).toBe(401)
    expect(await userOf(await token({ hd: "example.com" }))).toMatchObject({ username: "oidc:ann" })
  })

  test("is rejected with an unverified email address", async () => {
    await configure(configuration({ claimMappings: { username: { claim: "email", prefix: "" } } }))
    expect(await userOf(await token({ email: "a@b.c", email_verified: false }))).toBe(401)
    expect(await userOf(await token({ email: "a@b.c", email_verified: true }))).toMatchObject({ username: "a@b.c" })
  })

  test("identifies the user by expressions", async () => {
    await configure(
      configuration({
        claimMappings: {
          username: { expression: "'x:' + claims.sub" },
          groups: { expression: "dyn(claims.groups).map(g, g + '-' + claims.nested.a__dot__b)" },
          uid: { expression: "string(int(claims.number))" },
          extra: [{ key: "example.com/roles", valueExpression: "claims.?roles.orValue([])" }],
        },
        claimValidationRules: [{ expression: "claims.number > 6.0", message: "too few" }],
        userValidationRules: [{ expression: "!user.username.startsWith('x:system:')", message: "reserved" }],
      }),
    )
    const claims = { nested: { "a.b": "c" }, number: 7, roles: ["r", ""] }
    expect(await userOf(await token(claims))).toEqual({
      username: "x:ann",
      uid: "7",
      groups: ["team-c", "system:authenticated"],
      extra: { "authentication.kubernetes.io/credential-id": ["JTI=j1"], "example.com/roles": ["r"] },
    })
    expect(await userOf(await token({ ...claims, number: 6 }))).toBe(401)
    expect(await userOf(await token({ ...claims, sub: "system:ann" }))).toBe(401)
    expect(await userOf(await token({ number: 7 }))).toBe(401)
  })

  test("takes turns and places of the tenant for its expressions and for a key that takes long", async () => {
    await configure(configuration({ userValidationRules: [{ expression: "false", message: "m" }] }))
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-384" })
    otherKeys.push({ ...publicKey.export({ format: "jwk" }), kid: "long" })
    const signing = new SignJWT({ iss: issuer.url, aud: "polyplane", sub: "ann", exp: 4e9 })
    const bearer = await signing.setProtectedHeader({ alg: "ES384", kid: "long" }).sign(privateKey)
    const pausing = vi.spyOn(Turns.prototype, "pause")
    const running = vi.spyOn(ThreadPlaces.prototype, "run")
    onTestFinished(() => void vi.restoreAllMocks())
    expect(await userOf(bearer)).toBe(401)
    const { presence } = (await gateway.gateway.tenants.byName("a"))!
    // The configuration, two documents, two keys and the expression.
    expect(pausing.mock.calls.filter(([party]) => party === presence).length).toBe(6)
    expect(running.mock.calls.map(([party]) => party)).toEqual([presence])
  })

  test("may say where its groups are", async () => {
    const elsewhere = (path: string): Loose => ({
      groups: undefined,
      _claim_names: { groups: "s" },
      _claim_sources: { s: { endpoint: `${issuer.url}${path}`, access_token: "word" } },
    })
    others.set("/groups", { text: await token({ groups: ["x", "y"] }) })
    others.set("/moved", { code: 302, headers: { location: "/groups" }, body: {} })
    others.set("/none", { text: await token({ groups: undefined }) })
    expect(await userOf(await token(elsewhere("/groups")))).toMatchObject({
      groups: expect.arrayContaining(["oidc:x"]),
    })
    expect(issuer.calls.at(-1)?.headers.authorization).toBe("Bearer word")
    expect(await userOf(await token(elsewhere("/moved")))).toMatchObject({ groups: expect.arrayContaining(["oidc:y"]) })
    expect(await userOf(await token(elsewhere("/none")))).toBe(401)
    expect(await userOf(await token(elsewhere("/absent")))).toBe(401)
  })

  test("does not give away what reads its groups to where their address redirects", async () => {
    others.set("/theirs", { text: await token({ groups: ["x"] }) })
    others.set("/left", { code: 302, headers: { location: `https://localhost:${issuer.port}/theirs` }, body: {} })
    const source = { endpoint: `${issuer.url}/left`, access_token: "word" }
    const elsewhere = { groups: undefined, _claim_names: { groups: "s" }, _claim_sources: { s: source } }
    expect(await userOf(await token(elsewhere))).toMatchObject({ groups: expect.arrayContaining(["oidc:x"]) })
    const sent = issuer.calls.map(({ path, headers }) => [path, headers.authorization])
    expect(sent.filter(([path]) => path === "/left" || path === "/theirs")).toEqual([
      ["/left", "Bearer word"],
      ["/theirs", undefined],
    ])
  })

  test("is rejected after the configuration is deleted", async () => {
    const bearer = await token()
    expect(await userOf(bearer)).toMatchObject({ username: "oidc:ann" })
    await call(`${configMaps}/authentication-configuration`, { method: "DELETE" })
    expect(await userOf(bearer)).toBe(401)
  })
})
