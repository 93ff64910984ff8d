// A tenant that has configured an issuer of tokens, which is a server of the test.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto"
import { SignJWT } from "jose"
import { afterAll, beforeAll, beforeEach, expect } from "vitest"
import { localNetworks } from "../../../backends/networks.ts"
import type { Loose } from "../../../testing/kinds.ts"
import {
  type RawAnswer,
  type RawRequest,
  startTestGateway,
  type TestGateway,
  type TestTenant,
} from "../../../testing/start-gateway.ts"
import { type WebhookReply, WebhookServer } from "../../../testing/webhook-server.ts"

export let gateway: TestGateway
export let issuer: WebhookServer
/** That of the issuer; each test has another. */
export let key: KeyObject
export const keyId = "one"
/** Keys that the issuer publishes as well. */
export const otherKeys: Loose[] = []
/** Answers of the issuer besides its documents, by path. */
export const others = new Map<string, WebhookReply>()
let tenant: TestTenant
/** Gives each test its own issuer, so that no keys are cached. */
let mark = ""
let last = 0

/** All tests of the file share the tenant, and begin with the configuration of {@link configuration}. */
export function useIssuer(): void {
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
    otherKeys.length = 0
    others.clear()
    mark = `test-${++last}`
    const { code } = await configure(configuration())
    expect(code).toBe(201)
  })
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]()
    await issuer?.[Symbol.asyncDispose]()
  })
}

export const configMaps = "/api/v1/namespaces/kube-system/configmaps"

export const call = (path: string, options: RawRequest = {}): Promise<RawAnswer> =>
  gateway.request(`/tenants/a${path}`, { ...tenant, ...options })

export const publicOf = (secret: KeyObject, kid: string): Loose => ({
  ...createPublicKey(secret).export({ format: "jwk" }),
  kid,
  alg: "ES256",
})

export function newKey(): KeyObject {
  return createPrivateKey(
    generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }),
  )
}

export function configuration(more: Loose = {}): Loose {
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

export async function configure(content: unknown): Promise<RawAnswer> {
  await call(`${configMaps}/authentication-configuration`, { method: "DELETE" })
  const data = { "config.yaml": typeof content === "string" ? content : JSON.stringify(content) }
  return call(configMaps, { method: "POST", body: { metadata: { name: "authentication-configuration" }, data } })
}

export function token(
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
export async function userOf(bearer: string): Promise<unknown> {
  const path = "/tenants/a/apis/authentication.k8s.io/v1/selfsubjectreviews"
  const { code, json } = await gateway.request(path, { method: "POST", token: bearer, body: {} })
  return code === 201 ? (json() as Loose)["status"].userInfo : code
}
