import { createPublicKey, generateKeyPairSync } from "node:crypto"
import { compactVerify, SignJWT } from "jose"
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest"
import { Backends } from "../../backends/backends.ts"
import { localNetworks, NetworkRules } from "../../backends/networks.ts"
import { type WebhookReply, WebhookServer } from "../../testing/webhook-server.ts"
import { verifiedClaims } from "./id-token.ts"
import { IssuerKeys } from "./issuer-keys.ts"

const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" })
const { privateKey } = newKeys()
const other = newKeys()
const nobody = (): Promise<never> => Promise.reject(new Error("URLs need no objects"))
const backends = new Backends({
  reader: { get: nobody, list: nobody },
  nodes: { dial: nobody },
  networks: new NetworkRules(localNetworks),
})
const freshMs = 10 * 60_000
const cooldownMs = 10_000

let issuer: WebhookServer
let isDown = false

const answer = (path: string): WebhookReply => {
  if (isDown) return { code: 503, text: "" }
  const keys = [
    { ...other.publicKey.export({ format: "jwk" }), kid: "other", alg: "ES256" },
    { ...createPublicKey(privateKey).export({ format: "jwk" }), kid: "one", alg: "ES256" },
  ]
  return { body: path === "/keys" ? { keys } : { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` } }
}

beforeAll(async () => {
  issuer = await WebhookServer.start(({ path }) => answer(path))
})

afterEach(() => {
  vi.restoreAllMocks()
  isDown = false
  issuer.calls.length = 0
})

afterAll(async () => {
  backends[Symbol.dispose]()
  await issuer[Symbol.asyncDispose]()
})

/** Advances the clock. */
function wait(ms: number): void {
  const at = performance.now() + ms
  vi.spyOn(performance, "now").mockImplementation(() => at)
}

const keysOf = (): IssuerKeys =>
  new IssuerKeys({ url: issuer.url, certificateAuthority: issuer.certificateAuthority }, backends)

async function isGood({ keyOf }: IssuerKeys, kid: string): Promise<boolean> {
  const token = await new SignJWT({}).setProtectedHeader({ alg: "ES256", kid }).sign(privateKey)
  return compactVerify(token, keyOf).then(
    () => true,
    () => false,
  )
}

test("keys are fetched again after an interval", async () => {
  const keys = keysOf()
  expect(await isGood(keys, "one")).toBe(true)
  expect(await isGood(keys, "one")).toBe(true)
  expect(issuer.calls.length).toBe(2)
  wait(freshMs + 1)
  expect(await isGood(keys, "one")).toBe(true)
  expect(issuer.calls.length).toBe(4)
})

test("cached keys remain valid while the issuer is unavailable", async () => {
  const keys = keysOf()
  expect(await isGood(keys, "one")).toBe(true)
  isDown = true
  wait(freshMs + 1)
  expect(await isGood(keys, "one")).toBe(true)
  expect(await isGood(keys, "two")).toBe(false)
})

test("a token that names no key is valid while the issuer is unavailable, too", async () => {
  const keys = keysOf()
  const unnamed = new SignJWT({ aud: "a", exp: 4e9 }).setProtectedHeader({ alg: "ES256" })
  const token = await unnamed.sign(privateKey)
  const claims = () => verifiedClaims(token, { audiences: ["a"], keys, aside: (job) => job(), action: "verify" })
  expect(await claims()).toMatchObject({ aud: "a" })
  isDown = true
  wait(cooldownMs + 1)
  expect(await claims()).toMatchObject({ aud: "a" })
  expect(issuer.calls.length).toBe(2)
})

test("no token is accepted without keys", async () => {
  isDown = true
  expect(await isGood(keysOf(), "one")).toBe(false)
})
