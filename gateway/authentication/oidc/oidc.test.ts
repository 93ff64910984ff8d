// Tokens of an issuer that a tenant has configured, with a whole gateway; the issuer is a server of the test.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto"
import { SignJWT } from "jose"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { localNetworks } from "../../backends/networks.ts"
import type { Loose } from "../../testing/kinds.ts"
import {
  type RawAnswer,
  type RawRequest,
  startTestGateway,
  type TestGateway,
  type TestTenant,
} from "../../testing/start-gateway.ts"
import { type WebhookReply, WebhookServer } from "../../testing/webhook-server.ts"
import { parseConfiguration } from "./configuration.ts"

let gateway: TestGateway
let tenant: TestTenant
let issuer: WebhookServer
let key: KeyObject
const keyId = "one"
/** Gives each test its own issuer, so that no keys are cached. */
let mark = ""
let last = 0
let otherKeys: Loose[] = []
/** Answers of the issuer besides its documents, by path. */
const others = new Map<string, WebhookReply>()

const configMaps = "/api/v1/namespaces/kube-system/configmaps"
const call = (path: string, options: RawRequest = {}): Promise<RawAnswer> =>
  gateway.request(`/tenants/a${path}`, { ...tenant, ...options })

const publicOf = (secret: KeyObject, kid: string): Loose => ({
  ...createPublicKey(secret).export({ format: "jwk" }),
  kid,
  alg: "ES256",
})

function newKey(): KeyObject {
  return createPrivateKey(
    generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }),
  )
}

function configuration(more: Loose = {}): Loose {
  return {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [
      {
        issuer: {
          url: issuer.url,
          certificateAuthority: issuer.certificateAuthority,
          audiences: ["polyplane", mark],
          audienceMatchPolicy: "MatchAny",
        },
        claimMappings: { username: { claim: "sub", prefix: "oidc:" }, groups: { claim: "groups", prefix: "oidc:" } },
        ...more,
      },
    ],
  }
}

async function configure(content: unknown): Promise<RawAnswer> {
  await call(`${configMaps}/authentication-configuration`, { method: "DELETE" })
  const data = { "config.yaml": typeof content === "string" ? content : JSON.stringify(content) }
  return call(configMaps, { method: "POST", body: { metadata: { name: "authentication-configuration" }, data } })
}

function token(
  claims: Loose = {},
  { audience = "polyplane", from = issuer.url, with: signer = key } = {},
): Promise<string> {
  return new SignJWT({ sub: "ann", groups: ["team"], ...claims })
    .setProtectedHeader({ alg: "ES256", kid: keyId })
    .setIssuer(from)
    .setAudience(audience)
    .setExpirationTime("5m")
    .setJti("j1")
    .sign(signer)
}

/** The authenticated user, or the HTTP code. */
async function userOf(bearer: string): Promise<unknown> {
  const path = "/tenants/a/apis/authentication.k8s.io/v1/selfsubjectreviews"
  const { code, json } = await gateway.request(path, { method: "POST", token: bearer, body: {} })
  return code === 201 ? (json() as Loose)["status"].userInfo : code
}

beforeAll(async () => {
  gateway = await startTestGateway({ allowedNetworks: localNetworks })
  tenant = await gateway.createTenant("a")
  issuer = await WebhookServer.start(
    ({ path }) => {
      if (path === "/keys") return { body: { keys: [...otherKeys, publicOf(key, keyId)] } }
      if (path.startsWith("/.well-known/")) return { body: { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` } }
      return others.get(path) ?? { code: 404, body: {} }
    },
    ["127.0.0.1", "localhost"],
  )
})

beforeEach(async () => {
  key = newKey()
  issuer.calls.length = 0
  otherKeys = []
  mark = `test-${++last}`
  const { code } = await configure(configuration())
  expect(code).toBe(201)
})

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await issuer?.[Symbol.asyncDispose]()
})

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
    otherKeys = [publicOf(newKey(), "two")]
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

describe("a configuration", () => {
  test("is validated on write", async () => {
    const { code, json } = await configure({ kind: "Other" })
    expect(code).toBe(422)
    expect((json() as Loose)["message"]).toContain('kind: Unsupported value: "Other"')
  })

  test("can be written only by cluster administrators", async () => {
    const rbac = "/apis/rbac.authorization.k8s.io/v1"
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }]
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "editor" }]
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "editor" }
    const metadata = { name: "editor" }
    await call(`${rbac}/clusterroles`, { method: "POST", body: { metadata, rules } })
    await call(`${rbac}/clusterrolebindings`, { method: "POST", body: { metadata, subjects, roleRef } })
    const { code, text } = await call(`${configMaps}/authentication-configuration`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json", "impersonate-user": "editor" },
      body: { data: { "config.yaml": JSON.stringify(configuration({ claimValidationRules: [] })) } },
    })
    expect([code, text]).toEqual([
      403,
      expect.stringContaining("is attempting to grant RBAC permissions not currently held"),
    ])
  })

  test.each<[string, unknown, string]>([
    ["no YAML", "a: b: c", "is no YAML"],
    ["no mapping", "[]", "must be an AuthenticationConfiguration"],
    [
      "another version",
      { apiVersion: "v1", kind: "AuthenticationConfiguration" },
      'apiVersion: Unsupported value: "v1"',
    ],
    ["an http issuer", { jwt: [{ issuer: { url: "http://a", audiences: ["a"] } }] }, "URL scheme must be https"],
    ["no audience", { jwt: [{ issuer: { url: "https://a" } }] }, "jwt[0].issuer.audiences: Required value"],
    [
      "no prefix",
      { jwt: [{ claimMappings: { username: { claim: "sub" } } }] },
      "jwt[0].claimMappings.username.prefix: Required value",
    ],
    [
      "an expression that is none",
      { jwt: [{ claimMappings: { username: { expression: "claims." } } }] },
      'jwt[0].claimMappings.username.expression: Invalid value: "claims.": compilation failed: ERROR: <input>:1:8',
    ],
    [
      "a condition that is none",
      { jwt: [{ userValidationRules: [{ expression: "user.username" }] }] },
      'jwt[0].userValidationRules[0].expression: Invalid value: "user.username": must evaluate to bool',
    ],
    [
      "another type",
      { jwt: [{ claimMappings: { username: { claim: 1 } } }] },
      "jwt[0].claimMappings.username.claim: Invalid value: must be a text",
    ],
    [
      "its own issuer",
      { jwt: [{ issuer: { url: "https://own.example.com" } }] },
      "URL must not overlap with disallowed issuers",
    ],
    ["anonymous", { anonymous: { enabled: true } }, "anonymous: Invalid value"],
    ["an unknown field", { jwt: [{ color: "red" }] }, "jwt[0].color: Invalid value: unknown field"],
  ])("with %s is rejected with a reason", (_, content, message) => {
    const whole = { apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthenticationConfiguration" }
    const text = typeof content === "string" ? content : JSON.stringify({ ...whole, ...(content as object) })
    const { authenticators, errors } = parseConfiguration(text, "https://own.example.com")
    expect(authenticators).toEqual([])
    expect(errors.map((error) => error.message()).join("\n")).toContain(message)
  })
})
